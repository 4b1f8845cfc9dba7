package tier

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// variables lists the variables of the tiers, as they appear in source text.
var variables = []string{`"HLSGEN_FULL"`, `"HLSGEN_CI"`, `"HLSGEN_LONG"`, `"HLSGEN_SHARED"`}

// breaches returns the calls in a Go file, each with its place, that only this package may make. It examines files
// that import testing.
func breaches(t *testing.T, path string, source []byte) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := callee.X.(*ast.Ident)
		if !ok {
			return true
		}
		ours := false
		switch of.Name + "." + callee.Sel.Name {
		case "exec.LookPath", "testing.Short":
			ours = true
		case "os.Getenv", "os.LookupEnv":
			name, ok := call.Args[0].(*ast.BasicLit)
			ours = ok && slices.Contains(variables, name.Value)
		}
		if ours {
			at := files.Position(n.Pos())
			found = append(found, fmt.Sprintf("%s: %s.%s is for internal/testsupport/tier", at, of.Name,
				callee.Sel.Name))
		}
		return true
	})
	return found
}

// TestOnlyHere checks that no other test or helper of tests looks for programs, reads the variables of the tiers,
// or asks for -short.
func TestOnlyHere(t *testing.T) {
	t.Parallel()
	NotQuick(t)
	root := Root(t)
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && path == filepath.Join(root, "internal", "testsupport", "tier"):
			return filepath.SkipDir
		case e.IsDir() && path != root && (name == "testdata" || name[0] == '.'):
			return filepath.SkipDir
		case filepath.Ext(name) == ".go":
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, b := range breaches(t, path, source) {
				t.Error(strings.TrimPrefix(b, root+string(filepath.Separator)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBreaches(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`exec.LookPath("g++")`:                              1,
		`os.Getenv("HLSGEN_SHARED")`:                        1,
		`os.LookupEnv("HLSGEN_LONG")`:                       1,
		`os.Getenv("HLSGEN_PICTURES"); os.Getenv("HOME")`:   0,
		`testing.Short(); testing.Verbose()`:                1,
		`_ = map[string]string{"HLSGEN_SHARED": "../shar"}`: 0,
		`if os.Getenv("HLSGEN_FULL") == "" { t.Skip("") }`:  1,
	} {
		source := "package p\n\nimport \"testing\"\n\nfunc f() { " + body + " }\n"
		if got := breaches(t, "a.go", []byte(source)); len(got) != want {
			t.Errorf("%s: %q, want %d", body, got, want)
		}
		source = strings.Replace(source, `"testing"`, `"time"`, 1)
		if got := breaches(t, "a.go", []byte(source)); len(got) != 0 {
			t.Errorf("%s in no test: %q", body, got)
		}
	}
}
