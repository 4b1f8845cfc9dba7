package layertest

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

// A part is a block of the page: a new file, or rows for a table in an existing file, above the line with a text.
type part struct{ what, file, above, text string }

var (
	partOf    = regexp.MustCompile("(?ms)^```(?:go|cpp) (file|row) (\\S+)(?: above (.*?))?\n(.*?)^```$")
	qualifier = regexp.MustCompile(`\b([a-z]\w*)\.[A-Z]`)
	ownImport = regexp.MustCompile(`"(hlsgen/[\w/]+)"`)
)

// TestPage adds the layer of docs/adding-a-layer.md. The page's blocks go into a copy of the module, in which the
// layer's tests must pass. In the full tier the tests of packages that list layers must pass, too, and in the long tier
// all tests.
func TestPage(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "g++")
	dir := t.TempDir()
	copyModule(t, tier.Root(t), dir)
	page, err := os.ReadFile(filepath.Join(dir, "docs", "adding-a-layer.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder := ""
	paths := map[string]string{} // what the page imports, by the package's name
	for _, m := range ownImport.FindAllStringSubmatch(string(page), -1) {
		paths[path.Base(m[1])] = m[1]
	}
	rows := 0
	for _, m := range partOf.FindAllStringSubmatch(string(page), -1) {
		p := part{m[1], filepath.Join(dir, filepath.FromSlash(m[2])), m[3], m[4]}
		if p.what == "row" {
			rows++
			p.insert(t, paths)
			continue
		}
		if folder == "" {
			folder = path.Dir(m[2])
		}
		if _, err := os.Stat(p.file); err == nil || path.Dir(m[2]) != folder {
			t.Fatalf("%s is not a new file of %s", m[2], folder)
		}
		if err := (templates.ProjectFiles{{Path: m[2], Data: []byte(p.text)}}).WriteBelow(dir); err != nil {
			t.Fatal(err)
		}
	}
	if folder == "" || rows != tables {
		t.Fatalf("the page has %d rows for tables and a folder %q, want %d and one", rows, folder, tables)
	}
	test := func(args ...string) {
		// -trimpath lets the copy share the cache.
		cmd := exec.Command("go", append([]string{"test", "-trimpath"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go test %s: %v\n%.8000s", strings.Join(args, " "), err, out)
		}
	}
	test("./" + folder)
	switch {
	case tier.Long():
		test("-short", "./...")
	case tier.Full():
		test("-short", "./hlslib", "./frontend/lower/choose", "./internal/arch", "./docs", "./cmd/hlsgen")
	}
}

// tables counts the tables of the repository to which a new layer adds a row.
const tables = 3

// insert adds a row to the first table of its file, or above a line, with the imports that it needs.
func (p part) insert(t *testing.T, paths map[string]string) {
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

// copyModule copies the files that may be part of a build or of a test.
func copyModule(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		if err != nil || file == from {
			return err
		}
		name := strings.TrimPrefix(file, from+string(filepath.Separator))
		switch {
		case e.IsDir() && (name == ".git" || name == "bin"):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		case !e.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}
