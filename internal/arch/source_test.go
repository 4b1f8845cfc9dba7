package arch

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// A source is a file of the module.
type source struct {
	name string // below the root
	text string
	file *ast.File
}

// dir is the folder of its package.
func (s *source) dir() string { return path.Dir(s.name) }

func (s *source) test() bool { return strings.HasSuffix(s.name, "_test.go") }

func (s *source) generated() bool { return ast.IsGenerated(s.file) }

var fileSet = token.NewFileSet()

// sources are all Go files of the module, in order.
var sources = sync.OnceValues(func() (list []*source, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(name string, e os.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case e.IsDir() && name != root && (base == "testdata" || base[0] == '.' || base[0] == '_'):
			return filepath.SkipDir
		case e.IsDir() && name != root && isModule(os.DirFS(name), "."):
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fileSet, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		list = append(list, &source{filepath.ToSlash(rel), string(text), file})
		return err
	})
	return list, err
})

// packages returns the module's files by folder. production leaves out tests, and packages that only tests import.
func packages(t *testing.T, production bool) map[string][]*source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	return byFolder(all, production)
}

// byFolder is packages for the given files.
func byFolder(all []*source, production bool) map[string][]*source {
	folders := map[string][]*source{}
	for _, s := range all {
		p, _ := addressOf(s.dir())
		if production && (s.test() || s.generated() || p == support) {
			continue
		}
		folders[s.dir()] = append(folders[s.dir()], s)
	}
	return folders
}

// checked is a package of the module with its types.
type checked struct {
	dir   string
	files []*source
	info  *types.Info
	pkg   *types.Package
}

// typed returns the production packages with their types. They are read once for all tests.
func typed(t *testing.T) []checked {
	t.Helper()
	tier.NotQuick(t)
	list, err := readTypes()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// readTypes reads the production packages with their types. What they import comes from the compiler's own files.
var readTypes = sync.OnceValues(func() (list []checked, err error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,GoFiles", "./...")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	exports, built := map[string]string{}, map[string]bool{} // the latter by path of a file, on this system
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Export string
			GoFiles            []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		for _, file := range p.GoFiles {
			built[p.ImportPath+"/"+file] = true
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	from := importer.ForCompiler(fileSet, "gc", open)
	all, err := sources()
	if err != nil {
		return nil, err
	}
	folders := byFolder(all, true)
	for _, dir := range sorted(folders) {
		c := checked{dir: dir, info: newInfo()}
		var files []*ast.File
		for _, s := range folders[dir] {
			if built[module+"/"+s.name] {
				c.files, files = append(c.files, s), append(files, s.file)
			}
		}
		if c.pkg, err = (&types.Config{Importer: from}).Check(module+"/"+dir, fileSet, files, c.info); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
})

func newInfo() *types.Info {
	return &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
}

func sorted[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
