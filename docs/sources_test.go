package docs

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// sources parses every Go file of the module that is no test.
func sources(t *testing.T, f func(name string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, e os.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case e.IsDir() && (base == "testdata" || base[0] == '.' && base != ".."):
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") ||
			strings.HasSuffix(name, ".pb.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		f(name, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCodesAreReported checks that code other than tests uses every diagnostic code. A page about a code that nothing
// reports would be useless.
func TestCodesAreReported(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	used := map[string]bool{}
	sources(t, func(name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "diag" {
					used[s.Sel.Name] = true
				}
			}
			return true
		})
	})
	for name, code := range constants(t) {
		if !used[name] {
			t.Errorf("diag.%s (%s) is reported nowhere", name, code)
		}
	}
}

// constants gives the codes by the names of their constants, and checks that these are the codes of diag.CodeMeanings.
func constants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/diag/codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "Code" {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names[v.Names[0].Name] = code
		}
		return true
	})
	for name, code := range names {
		if _, ok := diag.CodeMeanings[diag.Code(code)]; !ok {
			t.Errorf("diag.%s (%s) is not in diag.Codes", name, code)
		}
	}
	if len(names) != len(diag.CodeMeanings) {
		t.Errorf("%d constants, %d codes", len(names), len(diag.CodeMeanings))
	}
	return names
}

// TestPackages checks that ARCHITECTURE.md names every package except layers, which `hlsgen layers` lists, and
// back ends and device families, which are rows of tables, too.
func TestPackages(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	sources(t, func(name string, _ *ast.File) {
		dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(name), ".."+string(filepath.Separator)))
		kernels, _ := filepath.Glob(filepath.Join("..", dir, "*.hpp"))
		row := path.Dir(dir) == "hlslib" && len(kernels) > 0 ||
			path.Dir(dir) == "internal/backend" || path.Dir(dir) == "boards/family"
		if !named[dir] && !row && !bytes.Contains(page, []byte("`"+dir+"`")) {
			t.Errorf("ARCHITECTURE.md does not name %s", dir)
		}
		named[dir] = true
	})
}
