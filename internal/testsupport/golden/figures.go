package golden

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// Figures is the flag -figures: tests write the figures that they got if everything else is as before. They print a
// table of those that differ.
var Figures = flag.Bool("figures", false,
	"write the figures that the tests got into "+figuresFile+" and pages, and print those that differ")

// figuresFile holds the figures of all golden files that have some, from the root of the module.
const figuresFile = "internal/testsupport/golden/figures.csv"

// hole stands for a figure in a golden file.
const hole = "#"

// A Figure is a number of a text: 1,234 or 0.5.
type Figure struct {
	Label string // the words around it, with a hole for each figure
	Value string
}

// number matches a figure in a text.
var number = regexp.MustCompile(`-?[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?`)

// split takes the figures out of a text. Numbers that are parts of names, such as MVAU_0 and 8x8, stay.
func split(text string) (holed string, figures []Figure) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		at, from := 0, b.Len()
		var values []string
		for _, m := range number.FindAllStringIndex(line, -1) {
			if name(line, m[0]-1, m[0]) || name(line, m[1], m[1]) {
				continue
			}
			b.WriteString(line[at:m[0]] + hole)
			values, at = append(values, line[m[0]:m[1]]), m[1]
		}
		b.WriteString(line[at:])
		parts := strings.Split(strings.TrimRight(b.String()[from:], "\n"), hole)
		for i, v := range values {
			figures = append(figures, Figure{label(parts, i), v})
		}
	}
	return b.String(), figures
}

// name reports whether the character of a line at i makes a name of the number beside it, which begins or ends at edge.
func name(line string, i, edge int) bool {
	if i < 0 || i >= len(line) {
		return false
	}
	c := line[i]
	switch {
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '-', c >= 0x80:
		return true
	case (c == '.' || c == ',') && i < edge: // within a path, or behind what is no number
		return i > 0 && line[i-1] != ' '
	case c == '.' || c == ',' || c == ':':
		return i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9'
	}
	return false
}

// label returns the first word of a line, and the words around its figure number i.
func label(parts []string, i int) string {
	first, _, _ := strings.Cut(strings.TrimSpace(parts[0]), " ")
	words := func(s string) []string { return strings.Fields(s) }
	before, after := words(parts[i]), words(parts[i+1])
	text := strings.Join(before[max(0, len(before)-2):], " ") + " " + hole + " " +
		strings.Join(after[:min(2, len(after))], " ")
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, first) {
		text = first + " ... " + text
	}
	if first == "" {
		first = "row"
	}
	if len(before)+len(after) == 0 { // a cell of a table
		text = fmt.Sprintf("%s, number %d", first, i+1)
	}
	return text
}

// filled puts figures back into a text with holes.
func filled(holed string, figures []Figure) (string, error) {
	parts := strings.Split(holed, hole)
	if len(parts) != len(figures)+1 {
		return "", fmt.Errorf("%d figures for %d holes", len(figures), len(parts)-1)
	}
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		if i < len(figures) {
			b.WriteString(figures[i].Value)
		}
	}
	return b.String(), nil
}

// WantFigures compares got with a section as Want does, but for its figures, which it compares with those of
// internal/testsupport/golden/figures.csv. The flag -figures writes these, and -update both.
func (c *Case) WantFigures(section string, got []byte) {
	c.t.Helper()
	c.WantScreen(section, string(got), string(got))
}

// WantScreen compares a screen as WantFigures does, with all its spaces and line breaks. These depend on the digits of
// its figures. So -figures accepts other spaces and line breaks, too, but only together with other figures. flat is
// the screen with each of its fields and rows on a line of its own, which gives the figures their labels.
func (c *Case) WantScreen(section, screen, flat string) {
	c.t.Helper()
	if strings.Contains(screen, hole) {
		c.t.Fatalf("%s: section %s has a %s of its own, which stands for a figure", c.path, section, hole)
	}
	holed, _ := split(screen)
	_, figures := split(flat)
	if whole, err := filled(holed, figures); err != nil || whole != screen {
		c.t.Fatalf("%s: section %s has other figures where it is flat (%v)", c.path, section, err)
	}
	key := c.key + " " + section
	file, err := readFigures(c.root)
	if err != nil {
		c.t.Fatal(err)
	}
	old := file[key]
	same := slices.Equal(old, figures)
	i := c.find(section)
	words := i >= 0 && slices.Equal(strings.Fields(string(c.archive.Files[i].Data)), strings.Fields(holed))
	if !same && !c.update && words {
		c.replace(section, i, holed)
	} else {
		c.Want(section, []byte(holed))
	}
	if c.withFigures == nil {
		c.withFigures = map[string]bool{}
	}
	c.withFigures[section] = true
	if same {
		return
	}
	table := Difference(key, old, figures)
	if c.figures || c.update {
		if c.newFigures == nil {
			c.newFigures = map[string][]Figure{}
		}
		c.newFigures[key] = figures
		fmt.Print(table)
		return
	}
	c.t.Errorf("%s: other figures (-figures to accept)\n%s", c.path, table)
}

// unclaimed returns the sections of a case of which there are figures that no test wants.
func (c *Case) unclaimed() (keys []string) {
	file, err := readFigures(c.root)
	if err != nil {
		c.t.Fatal(err)
	}
	for key := range file {
		if section, own := strings.CutPrefix(key, c.key+" "); own && !c.withFigures[section] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Text returns a section of a golden file, with its figures.
func Text(t testing.TB, path, section string) string {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	root, key := place(t, path)
	file, err := readFigures(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name != section {
			continue
		}
		figures, has := file[key+" "+section]
		if !has {
			return string(f.Data)
		}
		text, err := filled(string(f.Data), figures)
		if err != nil {
			t.Fatalf("%s: section %s: %v", path, section, err)
		}
		return text
	}
	t.Fatalf("%s has no section %s", path, section)
	return ""
}

// place returns the root of the module, and the path of a golden file relative to it.
func place(t testing.TB, path string) (root, key string) {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	for root = filepath.Dir(abs); ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil || root == filepath.Dir(root) {
			break
		}
	}
	rel, err := filepath.Rel(root, strings.TrimSuffix(abs, ".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return root, filepath.ToSlash(rel)
}

// Difference returns a Markdown table of the figures that differ between old and now, with both values and the growth
// in per cent. Figures correspond if the words around them are the same.
func Difference(golden string, old, now []Figure) string {
	var b strings.Builder
	row := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	row("golden", "figure", "old", "new", "per cent")
	row("---", "---", "--:", "--:", "--:")
	rest := slices.Clone(old)
	for _, f := range now {
		i := slices.IndexFunc(rest, func(x Figure) bool { return x.Label == f.Label })
		if i < 0 {
			row(golden, f.Label, "-", f.Value, "")
			continue
		}
		if was := rest[i].Value; was != f.Value {
			row(golden, f.Label, was, f.Value, growth(was, f.Value))
		}
		rest = slices.Delete(rest, i, i+1)
	}
	for _, f := range rest {
		row(golden, f.Label, f.Value, "-", "")
	}
	return b.String()
}

// Accept reports whether a text in a page becomes another one: with -update, and with -figures where only figures and
// spaces differ. It prints a table of the figures that do.
func Accept(page, old, now string) bool {
	before, was := split(old)
	after, is := split(now)
	same := slices.Equal(strings.Fields(before), strings.Fields(after))
	if !*Update && (!*Figures || !same) {
		return false
	}
	if !slices.Equal(was, is) {
		fmt.Print(Difference(page, was, is))
	}
	return true
}

// growth returns by how many per cent a figure has grown.
func growth(old, now string) string {
	parse := func(s string) float64 {
		f, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
		if err != nil {
			return 0
		}
		return f
	}
	if parse(old) == 0 {
		return ""
	}
	return fmt.Sprintf("%+.2f", 100*(parse(now)/parse(old)-1))
}

// readFigures reads the figures of all golden files, each section by its name behind the file's.
func readFigures(root string) (map[string][]Figure, error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(figuresFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string][]Figure{}, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", figuresFile, err)
	}
	all := map[string][]Figure{}
	for i, r := range rows {
		if i > 0 && len(r) == len(head) {
			all[r[0]] = append(all[r[0]], Figure{r[1], r[2]})
		}
	}
	return all, nil
}

// head is the first row of figures.csv.
var head = []string{"golden", "figure", "value"}

// within ensures that only one test of this process at a time writes figures.csv.
var within sync.Mutex

// writeFigures replaces the figures of some sections. Tests of several packages may do so at the same time.
func writeFigures(root string, some map[string][]Figure) error {
	within.Lock()
	defer within.Unlock()
	path := filepath.Join(root, filepath.FromSlash(figuresFile))
	lock := path + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		err := os.Mkdir(lock, 0o777)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || tries == 1000 {
			return fmt.Errorf("%w (if no test runs, remove it)", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	defer os.Remove(lock)
	all, err := readFigures(root)
	if err != nil {
		return err
	}
	for key, figures := range some {
		if all[key] = figures; len(figures) == 0 {
			delete(all, key)
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(head)
	var keys []string
	for key := range all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		for _, f := range all[key] {
			w.Write([]string{key, f.Label, f.Value})
		}
	}
	w.Flush()
	if err := os.WriteFile(path+".new", b.Bytes(), 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
