// Package golden keeps test cases with their expected results in txtar files. The flag -update writes the actual
// results. Figures that change with every price lie in one file, figures.csv. The flag -figures writes it, and prints
// a table of the differences.
//
// In comes what a test got; out comes a failure where the file has something else.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"
)

// Update is the flag -update: tests write what they got into their golden files.
var Update = flag.Bool("update", false, "write what the tests got into their golden files")

// A Folder is a folder of golden files. Each file NAME.txtar is one case.
type Folder struct {
	t       testing.TB
	dir     string
	update  bool
	figures bool // -figures
	mu      sync.Mutex
	claimed map[string]bool
}

// Dir opens the golden files in dir. When t ends, every file that no test has claimed with Case fails t, for its
// test no longer exists. This check is left out if -run or -skip select subtests, or if a subtest has failed. A
// test that may skip must claim its case first.
func Dir(t testing.TB, dir string) *Folder {
	f := &Folder{t: t, dir: dir, update: *Update, figures: *Figures, claimed: map[string]bool{}}
	t.Cleanup(func() {
		if !filtered() && !t.Failed() && !t.Skipped() {
			for _, name := range f.Cases() {
				if !f.claimed[name] {
					t.Errorf("%s: no test claims it", f.path(name))
				}
			}
			f.orphans()
		}
	})
	return f
}

// orphans fails the test if figures.csv has figures of a golden file that no test claims.
func (f *Folder) orphans() {
	root, key := place(f.t, f.path("x"))
	file, err := readFigures(root)
	if err != nil {
		f.t.Fatal(err)
	}
	for name := range file {
		golden, _, _ := strings.Cut(name, " ")
		if path.Dir(golden) == path.Dir(key) && !f.claimed[path.Base(golden)] {
			f.t.Errorf("%s: no test claims %s", figuresFile, golden)
		}
	}
}

// filtered reports whether flags of go test exclude subtests.
func filtered() bool {
	value := func(name string) string {
		if f := flag.Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return strings.Contains(value("test.run"), "/") || value("test.skip") != ""
}

// Cases returns the names of all files, sorted. It serves tests whose input is in the golden files.
func (f *Folder) Cases() []string {
	paths, err := filepath.Glob(filepath.Join(f.dir, "*.txtar"))
	if err != nil {
		f.t.Fatal(err)
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(p), ".txtar")
	}
	slices.Sort(paths)
	return paths
}

// path returns the path of the golden file with this name.
func (f *Folder) path(name string) string { return filepath.Join(f.dir, name+".txtar") }

// A Case is one golden file. It has sections that a test reads, and sections with expected results.
type Case struct {
	t       testing.TB
	path    string
	update  bool
	archive *txtar.Archive
	used    map[string]bool
	changed bool

	root, key  string // the module, and the file's name from there
	figures    bool   // -figures
	newFigures map[string][]Figure

	withFigures map[string]bool // the sections whose figures lie in figures.csv
}

// Case claims the file with the given name for t. When t ends, a section that t neither read nor compared fails t.
// With -update, t writes the file anew without such sections. A missing file counts as empty.
func (f *Folder) Case(t testing.TB, name string) *Case {
	t.Helper()
	f.mu.Lock()
	twice := f.claimed[name]
	f.claimed[name] = true
	f.mu.Unlock()
	if twice {
		t.Fatalf("%s: two tests claim it", f.path(name))
	}
	c := &Case{t: t, path: f.path(name), update: f.update, archive: &txtar.Archive{}, used: map[string]bool{},
		figures: f.figures}
	c.root, c.key = place(t, c.path)
	switch data, err := os.ReadFile(c.path); {
	case err == nil:
		c.archive = txtar.Parse(data)
	case !os.IsNotExist(err):
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

// Input returns the content of a section that people write.
func (c *Case) Input(section string) []byte {
	c.t.Helper()
	i := c.find(section)
	if i < 0 {
		c.t.Fatalf("%s: no section %s", c.path, section)
		return nil
	}
	c.used[section] = true
	return c.archive.Files[i].Data
}

// Want compares got with a section. With -update it makes got the section's content. It adds a missing newline at
// the end, as in every txtar file. got must not contain a line like a section's head.
func (c *Case) Want(section string, got []byte) {
	c.t.Helper()
	got = c.take(section, got)
	i := c.find(section)
	switch {
	case i >= 0 && bytes.Equal(c.archive.Files[i].Data, got):
	case !c.update && i < 0:
		c.t.Errorf("%s: no section %s (run the test with -update to write it):\n%s", c.path, section, got)
	case !c.update:
		c.t.Errorf("%s: section %s (-update to accept)\ngot:\n%swant:\n%s", c.path, section, got,
			c.archive.Files[i].Data)
	case i < 0:
		c.archive.Files = append(c.archive.Files, txtar.File{Name: section, Data: got})
		c.changed = true
	default:
		c.archive.Files[i].Data = got
		c.changed = true
	}
}

// take marks a section as used, and returns got with a newline at its end.
func (c *Case) take(section string, got []byte) []byte {
	c.t.Helper()
	if c.used[section] {
		c.t.Fatalf("%s: section %s is used twice", c.path, section)
	}
	c.used[section] = true
	if len(got) > 0 && got[len(got)-1] != '\n' {
		got = append(slices.Clone(got), '\n')
	}
	if a := txtar.Parse(got); len(a.Files) > 0 {
		c.t.Fatalf("%s: what section %s shall hold has a line like a section's head: %s", c.path, section,
			a.Files[0].Name)
	}
	return got
}

// replace makes got the content of section number i. It is written with -figures.
func (c *Case) replace(section string, i int, got string) {
	c.t.Helper()
	c.archive.Files[i].Data = c.take(section, []byte(got))
	c.changed = true
}

// find returns the index of a section in the file, or -1 if there is none.
func (c *Case) find(section string) int {
	return slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == section })
}

// close reports sections that the test did not use, and writes the file if it changed.
func (c *Case) close() {
	if c.t.Failed() || c.t.Skipped() {
		return
	}
	for _, key := range c.unclaimed() {
		if !c.update && !c.figures {
			c.t.Errorf("%s: no test claims the figures of %s", figuresFile, key)
			continue
		}
		if c.newFigures == nil {
			c.newFigures = map[string][]Figure{}
		}
		c.newFigures[key] = nil
	}
	if c.newFigures != nil {
		if err := writeFigures(c.root, c.newFigures); err != nil {
			c.t.Fatal(err)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(c.archive.Files), func(f txtar.File) bool { return !c.used[f.Name] })
	if !c.update {
		for _, f := range c.archive.Files {
			if !c.used[f.Name] {
				c.t.Errorf("%s: no test uses section %s", c.path, f.Name)
			}
		}
		kept = c.archive.Files
	}
	if c.t.Failed() || !c.changed && len(kept) == len(c.archive.Files) {
		return
	}
	c.archive.Files = kept
	if err := os.MkdirAll(filepath.Dir(c.path), 0o777); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o666); err != nil {
		c.t.Fatal(err)
	}
}
