// Package pagetest adds to a copy of the module what a page of the documents says: new files, and rows of tables. Tests
// of the copy show that nothing else is needed.
package pagetest

import (
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// A part is a block of a page: a new file, or rows for a table in an existing file, above the line with a text.
type part struct{ what, file, above, text string }

var (
	partOf    = regexp.MustCompile("(?ms)^```(?:go|cpp) (file|row) (\\S+)(?: above (.*?))?\n(.*?)^```$")
	qualifier = regexp.MustCompile(`\b([a-z]\w*)\.[A-Z]`)
	ownImport = regexp.MustCompile(`"(hlsgen/[\w/]+)"`)
)

// A Module is a copy of the module in a temporary folder.
type Module struct {
	Dir string
	t   testing.TB
}

// CopyModule copies the module.
func CopyModule(t testing.TB) *Module {
	t.Helper()
	m := &Module{t.TempDir(), t}
	m.copy(tier.Root(t))
	return m
}

// AddPage adds the blocks of a page in docs to the copy. All new files must lie in one folder. It returns that folder
// and the number of blocks that are rows.
func (m *Module) AddPage(name string) (folder string, rows int) {
	m.t.Helper()
	page, err := os.ReadFile(filepath.Join(m.Dir, "docs", name))
	if err != nil {
		m.t.Fatal(err)
	}
	paths := map[string]string{} // what the page imports, by the package's name
	for _, found := range ownImport.FindAllStringSubmatch(string(page), -1) {
		paths[path.Base(found[1])] = found[1]
	}
	for _, found := range partOf.FindAllStringSubmatch(string(page), -1) {
		p := part{found[1], filepath.Join(m.Dir, filepath.FromSlash(found[2])), found[3], found[4]}
		if p.what == "row" {
			rows++
			p.insert(m.t, paths)
			continue
		}
		if folder == "" {
			folder = path.Dir(found[2])
		}
		if path.Dir(found[2]) != folder {
			m.t.Fatalf("%s is not a file of %s", found[2], folder)
		}
		m.AddFile(found[2], []byte(p.text))
	}
	return folder, rows
}

// AddFile adds a file that the module does not have.
func (m *Module) AddFile(name string, data []byte) {
	m.t.Helper()
	if _, err := os.Stat(filepath.Join(m.Dir, filepath.FromSlash(name))); err == nil {
		m.t.Fatalf("%s is not a new file", name)
	}
	if err := (templates.ProjectFiles{{Path: name, Data: data}}).WriteBelow(m.Dir); err != nil {
		m.t.Fatal(err)
	}
}

// AddRow adds a row to the first table of a file, with the import of a package that it needs.
func (m *Module) AddRow(file, text, imported string) {
	m.t.Helper()
	part{what: "row", file: filepath.Join(m.Dir, filepath.FromSlash(file)), text: text}.insert(m.t,
		map[string]string{path.Base(imported): imported})
}

// Go runs the go command in the copy, and returns what it prints. It adds the flag -trimpath, which lets the copy share
// the cache.
func (m *Module) Go(args ...string) string {
	m.t.Helper()
	args = append([]string{args[0], "-trimpath"}, args[1:]...)
	cmd := exec.Command("go", args...)
	cmd.Dir = m.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Errorf("go %s: %v\n%.8000s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// insert adds a row to the first table of its file, or above a line, with the imports that it needs.
func (p part) insert(t testing.TB, paths map[string]string) {
	t.Helper()
	data, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	end := p.above
	if end == "" {
		end = "\n}\n"
	}
	at := strings.Index(text, end)
	if at < 0 {
		t.Fatalf("%s has no %q", p.file, end)
	}
	at = strings.LastIndexByte(text[:at+1], '\n') + 1
	text = text[:at] + p.text + text[at:]
	for _, m := range qualifier.FindAllStringSubmatch(p.text, -1) {
		if path, ok := paths[m[1]]; ok && !strings.Contains(text, `"`+path+`"`) {
			text = strings.Replace(text, "import (\n", "import (\n\t\""+path+"\"\n", 1)
		}
	}
	source, err := format.Source([]byte(text))
	if err != nil {
		t.Fatalf("%s with its row: %v", p.file, err)
	}
	if err := os.WriteFile(p.file, source, 0o666); err != nil {
		t.Fatal(err)
	}
}

// copy copies the files that may be part of a build or of a test.
func (m *Module) copy(from string) {
	m.t.Helper()
	err := filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		if err != nil || file == from {
			return err
		}
		name := strings.TrimPrefix(file, from+string(filepath.Separator))
		switch {
		case e.IsDir() && (name == ".git" || name == "bin"):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(m.Dir, name), 0o777)
		case !e.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(m.Dir, name), data, 0o666)
	})
	if err != nil {
		m.t.Fatal(err)
	}
}
