package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// commands are the packages whose options are held to mostFields: those of the verbs, and the parts that they share.
var commands = []string{"internal/build", "internal/check", "internal/options", "internal/simulate", "internal/weights"}

// mostFields is the largest number of fields of options. An embedded struct counts as one.
const mostFields = 15

// TestOptions counts the fields of the commands' options, and of the parts of which they are composed.
func TestOptions(t *testing.T) {
	t.Parallel()
	all := packages(t, true)
	structs := map[string]*ast.StructType{} // by package and name: options.Source
	var open []string
	for _, dir := range commands {
		base := dir[strings.LastIndex(dir, "/")+1:]
		for _, s := range all[dir] {
			ast.Inspect(s.file, func(n ast.Node) bool {
				d, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				if of, ok := d.Type.(*ast.StructType); ok {
					structs[base+"."+d.Name.Name] = of
					if ast.IsExported(d.Name.Name) && strings.HasSuffix(d.Name.Name, "Options") {
						open = append(open, base+"."+d.Name.Name)
					}
				}
				return true
			})
		}
	}
	seen := map[string]bool{}
	for len(open) > 0 {
		name := open[0]
		if open = open[1:]; seen[name] {
			continue
		}
		seen[name] = true
		n := 0
		for _, f := range structs[name].Fields.List {
			n += max(1, len(f.Names))
			if part := partOf(f.Type, name[:strings.Index(name, ".")]); structs[part] != nil {
				open = append(open, part)
			}
		}
		if n > mostFields {
			t.Errorf("%s has %d fields, the most is %d: make a part of those that belong together", name, n, mostFields)
		}
	}
	for _, name := range []string{"build.Options", "check.Options", "simulate.Options", "weights.Options",
		"options.Source", "options.Goal"} {
		if !seen[name] {
			t.Errorf("%s was not looked at", name)
		}
	}
}

// partOf returns the package and the name of a field's type, as in options.Goal, or "". pkg is the package that
// declares the field.
func partOf(of ast.Expr, pkg string) string {
	switch x := of.(type) {
	case *ast.StarExpr:
		return partOf(x.X, pkg)
	case *ast.Ident:
		return pkg + "." + x.Name
	case *ast.SelectorExpr:
		if from, ok := x.X.(*ast.Ident); ok {
			return from.Name + "." + x.Sel.Name
		}
	}
	return ""
}
