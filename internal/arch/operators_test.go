package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"hlsgen/frontend/operators"
)

// namesOperators reports whether a file may name operators of ONNX: the table's files may, code that writes ONNX, and
// test support. Layers have names of their own, some of which are the same words.
func namesOperators(file string) bool {
	for _, may := range []string{"hlslib/", "frontend/operators/", "internal/arch/", "templates/deploy/",
		"frontend/convert/"} {
		if strings.HasPrefix(file, may) {
			return true
		}
	}
	home, _ := addressOf(path.Dir(file))
	return home == support
}

// literals finds the string literals of production code that are one of the given names.
func literals(root fs.FS, names []string) (found []string, err error) {
	err = fs.WalkDir(root, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || namesOperators(file) {
			return err
		}
		src, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, file, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && slices.Contains(names, s) {
					found = append(found, files.Position(l.Pos()).String()+" names the operator "+s)
				}
			}
			return true
		})
		return nil
	})
	return found, err
}

// TestOneTableOfOperators checks that only the table of operators knows operators by name. All other code asks for
// traits, reads the forms of steps, or writes the constants of the table.
func TestOneTableOfOperators(t *testing.T) {
	t.Parallel()
	found, err := literals(os.DirFS("../.."), operators.KnownOperatorNames())
	none(t, found, err)
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, says, want string }{
		{"frontend/canon/a.go", `"Gemm"`, "frontend/canon/a.go:3:16 names the operator Gemm"},
		{"cmd/hlsgen/a.go", "`LSTM`", "cmd/hlsgen/a.go:3:16 names the operator LSTM"},
		{"frontend/canon/a.go", `"a Gemm"`, ""},
		{"frontend/canon/a.go", `"gemm"`, ""},
		{"frontend/canon/a_test.go", `"Gemm"`, ""},
		{"frontend/execution/exec.go", `"QLinearConv"`,
			"frontend/execution/exec.go:3:16 names the operator QLinearConv"},
		{"frontend/operators/conv.go", `"Conv"`, ""},
		{"hlslib/rnn/rnn.go", `"RNN"`, ""},
	} {
		root := fstest.MapFS{c.file: {Data: []byte("package p\n\nvar a string = " + c.says + "\n")}}
		found, err := literals(root, operators.KnownOperatorNames())
		if err != nil || strings.Join(found, "\n") != c.want {
			t.Errorf("%s in %s: %q and %v, want %q", c.says, c.file, found, err, c.want)
		}
	}
}
