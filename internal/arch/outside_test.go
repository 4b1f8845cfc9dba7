package arch

import (
	"go/types"
	"slices"
	"strings"
	"testing"
)

// doorways are the packages that programs of other modules may import.
var doorways = []string{"boards", "folding", "frontend", "rtlsim", "templates"}

// TestNamedOutside checks that programs of other modules can name what the functions of the doorways take and give:
// types of packages under internal have another name in a doorway.
func TestNamedOutside(t *testing.T) {
	t.Parallel()
	named, needed := map[string]bool{}, map[string][]string{} // by type; needed lists functions
	for _, p := range typed(t) {
		if !slices.Contains(doorways, p.dir) {
			continue
		}
		scope := p.pkg.Scope()
		for _, name := range scope.Names() {
			o := scope.Lookup(name)
			if !o.Exported() {
				continue
			}
			switch o := o.(type) {
			case *types.Func:
				need(needed, p.dir+"."+name, o.Type())
			case *types.TypeName:
				if o.IsAlias() {
					if n, ok := types.Unalias(o.Type()).(*types.Named); ok {
						named[full(n)] = true
					}
					continue
				}
				n := o.Type().(*types.Named)
				for i := range n.NumMethods() {
					if m := n.Method(i); m.Exported() {
						need(needed, p.dir+"."+name+"."+m.Name(), m.Type())
					}
				}
				if s, ok := n.Underlying().(*types.Struct); ok {
					for i := range s.NumFields() {
						if f := s.Field(i); f.Exported() {
							need(needed, p.dir+"."+name+"."+f.Name(), f.Type())
						}
					}
				}
			}
		}
	}
	for _, name := range sorted(needed) {
		if !named[name] {
			t.Errorf("no package of %s has a name for %s: %s need it", strings.Join(doorways, ", "), name,
				strings.Join(needed[name], ", "))
		}
	}
}

func full(n *types.Named) string { return n.Obj().Pkg().Path() + "." + n.Obj().Name() }

// need records the types of internal packages of which a type is made.
func need(needed map[string][]string, by string, typ types.Type) {
	switch t := types.Unalias(typ).(type) {
	case *types.Signature:
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for i := range list.Len() {
				need(needed, by, list.At(i).Type())
			}
		}
	case *types.Pointer:
		need(needed, by, t.Elem())
	case *types.Slice:
		need(needed, by, t.Elem())
	case *types.Array:
		need(needed, by, t.Elem())
	case *types.Map:
		need(needed, by, t.Key())
		need(needed, by, t.Elem())
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && strings.HasPrefix(p.Path(), module+"/internal/") &&
			!slices.Contains(needed[full(t)], by) {
			needed[full(t)] = append(needed[full(t)], by)
		}
	}
}
