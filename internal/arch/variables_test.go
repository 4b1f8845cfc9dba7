package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// written are package variables that something writes after initialisation, each with its reason.
var written = map[string]string{
	"github.com/flosch/pongo2/v6.SetAutoescape": "one switch for all templates, which the library has",
	"hlslib/price/cost.fitted":                  "formulas read the array by its address",
	"internal/outputdir.claims":                 "a process that ends at once gives up the places that it has claimed",
}

// TestVariables checks that no package variable is written after initialisation. It may not be assigned to, not even an
// element, a field or through its address. No method with a pointer receiver, and no function that sorts or fills its
// argument, may take it. So earlier work of a process cannot change later results, and tables need no locks.
func TestVariables(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range typed(t) {
		for _, s := range p.files {
			for _, w := range writes(p.info, s.file) {
				seen[w.name] = true
				if written[w.name] == "" {
					t.Errorf("%s: %s %s", fileSet.Position(w.at), w.how, w.name)
				}
			}
		}
	}
	for name := range written {
		if !seen[name] {
			t.Errorf("nothing writes %s: leave it out of the list", name)
		}
	}
}

// A write is one of a package variable.
type write struct {
	at   token.Pos
	how  string
	name string
}

// writes returns the writes of a file, outside of functions called init.
func writes(info *types.Info, file *ast.File) (list []write) {
	add := func(e ast.Expr, how string) {
		if v := root(info, e); v != nil {
			list = append(list, write{e.Pos(), how, strings.TrimPrefix(v.Pkg().Path(), module+"/") + "." + v.Name()})
		}
	}
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					add(e, "assigns to")
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				add(n.Key, "assigns to")
				if n.Value != nil {
					add(n.Value, "assigns to")
				}
			}
		case *ast.IncDecStmt:
			add(n.X, "counts in")
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X, "takes the address of")
			}
		case *ast.CallExpr:
			for _, e := range filled(info, n) {
				add(e, "lets a function write to")
			}
		case *ast.SelectorExpr:
			if s := info.Selections[n]; s != nil && s.Kind() == types.MethodVal && takesAddress(s) {
				add(n.X, fmt.Sprintf("calls %s, which may write, of", n.Sel.Name))
			}
			if f, ok := info.Uses[n.Sel].(*types.Func); ok && f.Pkg() != nil {
				if name := f.Pkg().Path() + "." + f.Name(); written[name] != "" {
					list = append(list, write{n.Pos(), "calls", name})
				}
			}
		}
		return true
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); !ok || f.Recv != nil || f.Name.Name != "init" {
			ast.Inspect(d, look)
		}
	}
	return list
}

// takesAddress reports whether a method is called by the address of a value that is not one itself.
func takesAddress(s *types.Selection) bool {
	f := s.Obj().(*types.Func)
	recv := f.Signature().Recv()
	if recv == nil {
		return false
	}
	_, byAddress := recv.Type().Underlying().(*types.Pointer)
	_, address := s.Recv().Underlying().(*types.Pointer)
	return byAddress && !address && !s.Indirect()
}

// fills are the functions that write to their first argument.
var fills = regexp.MustCompile(`^(copy|delete|clear|maps\.(Copy|Delete|Insert).*|slices\.(Sort|Reverse|Delete).*` +
	`|sort\.(Sort|Stable|Slice|Ints|Strings|Float64s).*)$`)

// filled are the arguments of a call that it writes to.
func filled(info *types.Info, n *ast.CallExpr) []ast.Expr {
	name := ""
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		if b, ok := info.Uses[f].(*types.Builtin); ok {
			name = b.Name()
		}
	case *ast.SelectorExpr:
		if f, ok := info.Uses[f.Sel].(*types.Func); ok && f.Pkg() != nil {
			name = f.Pkg().Path() + "." + f.Name()
		}
	}
	if len(n.Args) > 0 && fills.MatchString(name) {
		return n.Args[:1]
	}
	return nil
}

// root is the package variable that an expression is a part of; nil where it is of none.
func root(info *types.Info, e ast.Expr) (v *types.Var) {
	innermost(e, func(e ast.Expr) bool {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			v = packageVar(info.Uses[x.Sel])
		case *ast.Ident:
			v = packageVar(info.Uses[x])
		}
		return v != nil
	})
	return v
}

func packageVar(o types.Object) *types.Var {
	if v, ok := o.(*types.Var); ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return v
	}
	return nil
}

// TestWrites checks which code counts as a write.
func TestWrites(t *testing.T) {
	t.Parallel()
	const around = `package p
type value struct { f int; all [2]int }
func (v *value) set() { v.f = 1 }
func (v value) get() int { return v.f }
var (
	n int
	v value
	at *value
	table map[string]int
	list []value
)
func %s {
%s
}
`
	for _, c := range []struct{ in, body, want string }{
		{"f()", "n = 1", "assigns to p.n"},
		{"f()", "n++", "counts in p.n"},
		{"f()", "v.all[0] += 2", "assigns to p.v"},
		{"f()", "at.f = 2", "assigns to p.at"},
		{"f()", "table[``] = 1", "assigns to p.table"},
		{"f()", "(*(&list[0])).f = 1", "takes the address of p.list"},
		{"f()", "for n = range 3 {}", "assigns to p.n"},
		{"f()", "for _, list[0].f = range []int{1} {}", "assigns to p.list"},
		{"f()", "delete(table, ``)", "lets a function write to p.table"},
		{"f()", "copy(list[1:], list)", "lets a function write to p.list"},
		{"f()", "v.set()", "calls set, which may write, of p.v"},
		{"f()", "list[0].set()", "calls set, which may write, of p.list"},
		{"f()", "g := func() { n = 3 }; g()", "assigns to p.n"},
		{"f()", "at.set()", ""}, // of what it points to, which may be anyone's
		{"f()", "_ = v.get() + n + table[``] + len(list)", ""},
		{"f()", "n := 1; n = 2; _ = n", ""},
		{"f(v *value)", "v.f = 1", ""},
		{"init()", "n = 1", ""},
	} {
		file, err := parser.ParseFile(fileSet, "", fmt.Sprintf(around, c.in, c.body), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		info := newInfo()
		if _, err := new(types.Config).Check("p", fileSet, []*ast.File{file}, info); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range writes(info, file) {
			got += w.how + " " + w.name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}
