package boards_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"hlsgen/boards"
)

// TestDocs compares docs/boards.md with the boards: the file that it shows, the keys, and its two tables of boards.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, unread := os.ReadFile("../docs/boards.md")
	file, err := os.ReadFile("zcu104.json")
	if err = errors.Join(unread, err); err != nil {
		t.Fatal(err)
	}
	doc := string(page)
	if !strings.Contains(doc, "```json board\n"+string(file)+"```\n") {
		t.Error("the page does not show zcu104.json as it is")
	}
	explained := strings.Join(rows(section(t, doc, "The file")), "\n")
	for _, key := range keysOf(boards.Board{}) {
		if !strings.Contains(explained, "`"+key+"`") {
			t.Errorf("the table of keys has no %s", key)
		}
	}
	clocks, bandwidth, plls := map[string]string{}, map[string]string{}, map[string]string{}
	for _, b := range boards.AllBoards() {
		clocks[b.Name] = fmt.Sprint(b.ClockMHz)
		if mhz, verified := b.PSPLLMHz(); verified {
			plls[b.Name] = fmt.Sprintf("%d MHz", mhz)
		}
		if b.HostPortBits > 0 {
			port := float64(b.HostPortBits) / 8 * b.ClockMHz / 1000
			bandwidth[b.Name] = fmt.Sprintf("%d bits | %g MHz | %g GB/s | %g GB/s", b.HostPortBits, b.ClockMHz, port,
				b.MemoryGBps)
		}
	}
	compare(t, "Default clocks", rows(section(t, doc, "Default clocks")), clocks)
	compare(t, "The way to the board", rows(section(t, doc, "The way to the board")), plls)
	compare(t, "Bandwidth", rows(section(t, doc, "Bandwidth")), bandwidth)
}

// section returns the text below a heading of the second level.
func section(t *testing.T, doc, heading string) string {
	_, text, found := strings.Cut(doc, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// rows returns the rows of a section's table, without its head.
func rows(section string) (rows []string) {
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	return rows[1:]
}

var code = regexp.MustCompile("`([^`]+)`")

// compare checks a table in which each row names boards in a cell, and facts about them in the others. Every board
// in want is named once, and its facts are those in want.
func compare(t *testing.T, heading string, rows []string, want map[string]string) {
	named := map[string]bool{}
	for _, row := range rows {
		for _, cell := range strings.Split(row, " | ") {
			for _, m := range code.FindAllStringSubmatch(cell, -1) {
				name := m[1]
				says, known := want[name]
				if !known {
					continue
				}
				if named[name] || !strings.HasSuffix(row, cell+" | "+says+" |") {
					t.Errorf("%s: %s, want %q for %s", heading, row, says, name)
				}
				named[name] = true
			}
		}
	}
	if len(named) != len(want) {
		t.Errorf("%s: %d boards are named, want %d", heading, len(named), len(want))
	}
}
