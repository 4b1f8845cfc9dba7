package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
)

const (
	layers        = "internal/dataflow" // the package of layers' interfaces
	mostAbilities = 10
)

// TestAbilities holds the list of optional interfaces of layers: production code asserts each of them on a layer, and
// no other.
func TestAbilities(t *testing.T) {
	t.Parallel()
	list := map[string]bool{} // whether it is asserted
	for _, a := range dataflow.Abilities {
		if _, twice := list[a.Name]; twice || a.Reason == "" || a.Without == "" {
			t.Errorf("%s is listed twice, or without a reason or what happens without it", a.Name)
		}
		list[a.Name] = false
	}
	if len(list) > mostAbilities {
		t.Errorf("%d abilities, at most %d may be: make a field of dataflow.LayerDescription", len(list), mostAbilities)
	}
	for _, p := range typed(t) {
		for _, s := range p.files {
			for _, a := range assertions(p.info, s.file) {
				if _, ok := list[a.name]; ok {
					list[a.name] = true
				} else {
					t.Errorf("%s: asserts %s on a layer, which dataflow.Abilities does not list",
						fileSet.Position(a.at), a.name)
				}
			}
		}
	}
	for name, asserted := range list {
		if !asserted {
			t.Errorf("%s is no interface that is asserted on a layer: leave it out of dataflow.Abilities", name)
		}
	}
}

// An assertion is one of an interface on a layer, or on something else of dataflow that a layer may be.
type assertion struct {
	at   token.Pos
	name string // of an interface of dataflow; of another one, with its package or as text
}

// assertions returns the assertions of a file to interfaces of dataflow, and those of values of such an interface to
// any interface. The cases of type switches are assertions.
func assertions(info *types.Info, file *ast.File) (list []assertion) {
	add := func(x, to ast.Expr) {
		name, of, ok := interfaceOf(info, to)
		if ok && (of == layers || isOfLayers(typeOf(info, x))) {
			list = append(list, assertion{to.Pos(), name})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				add(n.X, n.Type)
			}
		case *ast.TypeSwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					add(switched(n), e)
				}
			}
		}
		return true
	})
	return list
}

// switched returns the expression whose type a switch asks for.
func switched(s *ast.TypeSwitchStmt) ast.Expr {
	e := ast.Expr(nil)
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		e = a.Rhs[0]
	case *ast.ExprStmt:
		e = a.X
	}
	return ast.Unparen(e).(*ast.TypeAssertExpr).X
}

// interfaceOf returns the name and the package's folder of the interface that an expression denotes. A type parameter
// counts as an interface. The name has the package in front, except in package dataflow.
func interfaceOf(info *types.Info, e ast.Expr) (name, of string, ok bool) {
	e = ast.Unparen(e)
	if _, literal := e.(*ast.InterfaceType); literal {
		return "an interface without a name", "", true
	}
	o := used(info, e)
	if o == nil || !types.IsInterface(o.Type()) {
		return "", "", false
	}
	if o.Pkg() == nil { // error, any
		return o.Name(), "", true
	}
	if of = strings.TrimPrefix(o.Pkg().Path(), module+"/"); of == layers {
		return o.Name(), of, true
	}
	return of + "." + o.Name(), of, true
}

// used returns what a name, or the name of an instance of a generic type, stands for; nil for other expressions.
func used(info *types.Info, e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		return info.Uses[e]
	case *ast.SelectorExpr:
		return info.Uses[e.Sel]
	case *ast.IndexExpr:
		return used(info, e.X)
	}
	return nil
}

// typeOf returns the type of an operand, as far as names tell it, or nil.
func typeOf(info *types.Info, e ast.Expr) types.Type {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		if o := used(info, e); o != nil {
			return o.Type()
		}
	case *ast.CallExpr:
		if f, ok := typeOf(info, e.Fun).(*types.Signature); ok && f.Results().Len() == 1 {
			return f.Results().At(0).Type()
		}
		if o, ok := used(info, ast.Unparen(e.Fun)).(*types.TypeName); ok { // a conversion
			return o.Type()
		}
	case *ast.IndexExpr:
		switch list := typeOf(info, e.X); {
		case list == nil:
		default:
			switch list := list.Underlying().(type) {
			case *types.Slice:
				return list.Elem()
			case *types.Array:
				return list.Elem()
			case *types.Map:
				return list.Elem()
			}
		}
	case *ast.TypeAssertExpr:
		if o := used(info, ast.Unparen(e.Type)); o != nil {
			return o.Type()
		}
	}
	return nil
}

// isOfLayers reports whether a type is an interface of dataflow.
func isOfLayers(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && types.IsInterface(n) && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == module+"/"+layers
}

// TestAssertions finds what may be asserted on a layer, and leaves alone what is no interface or no layer.
func TestAssertions(t *testing.T) {
	t.Parallel()
	const head = `package dataflow
type Op interface{ Kind() string }
type HasX interface{ X() int }
type hidden interface{ Y() }
type made struct{}
func (made) Kind() string { return "" }
type node struct{ op Op }
func find() Op { return nil }
func f(o Op, list []Op, of map[string]node, v any) {
`
	for _, c := range []struct {
		code string
		want []string
	}{
		{"_, _ = o.(HasX)", []string{"HasX"}},
		{"_ = (o).(hidden)", []string{"hidden"}},
		{"_ = v.(HasX)", []string{"HasX"}},
		{"_ = list[0].(interface{ Z() })", []string{"an interface without a name"}},
		{"_ = of[\"a\"].op.(error)", []string{"error"}},
		{"_ = find().(any)", []string{"any"}},
		{"_ = Op(o).(HasX).(hidden)", []string{"hidden", "HasX"}},
		{"switch o.(type) { case made, HasX: case hidden: }", []string{"HasX", "hidden"}},
		{"switch x := v.(type) { case hidden: _ = x; case error: }", []string{"hidden"}},
		{"_ = o.(made); _ = v.(error); _ = v.(interface{ Z() })", nil},
		{"as[HasX](o)", []string{"T"}},
	} {
		text := head + c.code + "\n}\nfunc as[T any](o Op) (T, bool) { x, ok := o.(T); return x, ok }\n"
		if !strings.HasPrefix(c.code, "as[") {
			text = head + c.code + "\n}\n"
		}
		file, err := parser.ParseFile(fileSet, "x.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		info := newInfo()
		if _, err := new(types.Config).Check(module+"/"+layers, fileSet, []*ast.File{file}, info); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range assertions(info, file) {
			got = append(got, a.name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.code, got, c.want)
		}
	}
}
