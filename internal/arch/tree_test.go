package arch

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
)

var update = flag.Bool("update", false, "write the tree and the floors into docs/ARCHITECTURE.md")

// TestPage compares docs/ARCHITECTURE.md with the code: a row per package, with the first sentence of its comment, and
// a drawing of the floors.
func TestPage(t *testing.T) {
	t.Parallel()
	const file = "../../docs/ARCHITECTURE.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, part := range []struct{ begins, ends, want string }{
		{"| folder | what |\n|---|---|\n", "\n\n", tree(t)},
		{"| ability | why an interface | without it |\n|---|---|---|\n", "\n\n", abilities()},
		{"<!-- floors -->\n```text drawing\n", "\n```", drawing()},
	} {
		head, rest, ok := strings.Cut(text, part.begins)
		got, tail, ends := strings.Cut(rest, part.ends)
		if !ok || !ends {
			t.Fatalf("%s has no %q", file, part.begins)
		}
		if got != part.want && !*update {
			t.Errorf("%s (-update to accept) has\n%s\nthe code is\n%s", file, got, part.want)
		}
		text = head + part.begins + part.want + part.ends + tail
	}
	if *update && text != string(page) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// abilities is a row per ability of layers.
func abilities() string {
	var rows []string
	for _, a := range dataflow.Abilities {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", a.Name, a.Reason, a.Without))
	}
	return strings.Join(rows, "\n")
}

// tree is a row per package, by its path.
func tree(t *testing.T) string {
	t.Helper()
	folders := map[string][]*source{}
	for dir, files := range packages(t, false) {
		row := rowOf(dir)
		folders[row] = append(folders[row], files...)
	}
	for row := range addresses {
		if folders[row] == nil {
			t.Errorf("internal/arch/policy.go has a row for %s, which has no Go", row)
		}
	}
	dirs := sorted(folders)
	var rows []string
	for _, dir := range dirs {
		what := synopsis(folders[dir])
		if each, ok := eachFolder[dir]; ok {
			what = each
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", dir, what))
	}
	return strings.Join(rows, "\n")
}

// eachFolder says what the folders of a row with a star are.
var eachFolder = map[string]string{
	"boards/family/*":    "one family of devices each: [Families](boards.md#families)",
	"hlslib/*":           "one layer each, Go and C++ side by side: [A layer](#a-layer)",
	"internal/backend/*": "one back end each, with its row: [Back ends](#back-ends)",
}

// rowOf is the row of the policy that a folder belongs to: its own, or one with a star.
func rowOf(dir string) string {
	if _, own := addresses[dir]; !own {
		return path.Join(path.Dir(dir), "*")
	}
	return dir
}

// mostSynopsis limits the length of a cell of the table. A longer one ends at the sentence's first colon.
const mostSynopsis = 170

// synopsis is the first sentence of a package's comment, without its name.
func synopsis(files []*source) string {
	for _, s := range files {
		text := strings.Join(strings.Fields(s.file.Doc.Text()), " ")
		if text == "" {
			continue
		}
		text, _, _ = strings.Cut(text, ". ")
		words := strings.SplitN(text, " ", 3) // Package NAME ...
		text = strings.TrimSuffix(words[len(words)-1], ".")
		if head, _, ok := strings.Cut(text, ": "); ok && len(text) > mostSynopsis {
			text = head
		}
		return strings.TrimSuffix(strings.ReplaceAll(text, "|", `\|`), ":")
	}
	return ""
}

// drawing returns the floors with their rooms. Within a room, a package in front of > may import those behind it.
func drawing() string {
	rooms := map[int]map[string]map[int][]string{} // by floor, room, level
	for _, dir := range sorted(addresses) {
		a := addresses[dir]
		if a == support {
			continue
		}
		if rooms[a.floor] == nil {
			rooms[a.floor] = map[string]map[int][]string{}
		}
		if rooms[a.floor][a.room] == nil {
			rooms[a.floor][a.room] = map[int][]string{}
		}
		rooms[a.floor][a.room][a.level] = append(rooms[a.floor][a.room][a.level], dir)
	}
	var lines []string
	floors := slices.SortedFunc(maps.Keys(rooms), func(a, b int) int { return b - a })
	for _, floor := range floors {
		var alone []string
		head := fmt.Sprintf("%2d  ", floor)
		line := func(text string) {
			for _, l := range wrapped(text) {
				lines = append(lines, head+l)
				head = "    "
			}
		}
		for _, room := range sorted(rooms[floor]) {
			levels := rooms[floor][room]
			if len(levels) == 1 {
				for _, dirs := range levels {
					alone = append(alone, dirs...)
				}
				continue
			}
			var parts []string
			for _, level := range slices.SortedFunc(maps.Keys(levels), func(a, b int) int { return b - a }) {
				parts = append(parts, strings.Join(levels[level], ", "))
			}
			line(strings.Join(parts, " > "))
		}
		if alone != nil {
			line(strings.Join(alone, " . "))
		}
	}
	return strings.Join(lines, "\n")
}

// wrapped breaks a line of the drawing where it is too wide.
func wrapped(text string) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > columns-4 {
			lines, line = append(lines, line), " "
		}
		line += " " + word
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], " ")
	}
	return lines
}
