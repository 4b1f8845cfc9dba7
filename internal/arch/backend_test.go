package arch

import (
	"go/ast"
	"go/token"
	"testing"
)

// asksBackend limits the production files that compare stall rules or ask whether a back end is RTL. What depends on
// the back end is a field of its row.
const asksBackend = 2

// TestBackendsAsked counts the production files that compare a rule by which layers wait, or that call a function that
// is named after a back end.
func TestBackendsAsked(t *testing.T) {
	t.Parallel()
	rules := map[string]bool{"StallByCredit": true, "StallFreezesPipeline": true, "Stalls": true}
	calls := map[string]bool{"IncludesRTL": true, "RTL": true, "IsRTL": true}
	var asking []string
	for dir, files := range packages(t, false) {
		if addresses[dir] == support {
			continue
		}
		for _, s := range files {
			if !s.test() && asks(s.file, rules, calls) {
				asking = append(asking, s.name)
			}
		}
	}
	if len(asking) > asksBackend {
		t.Errorf("%v compare stall rules or ask for RTL, %d files may: read a field of dataflow.Backend", asking,
			asksBackend)
	}
}

// asks reports whether a file compares one of the rules, or calls a method with one of the names.
func asks(file *ast.File, rules, calls map[string]bool) (found bool) {
	names := func(e ast.Expr, list map[string]bool) bool {
		switch e := e.(type) {
		case *ast.SelectorExpr:
			return list[e.Sel.Name]
		case *ast.Ident:
			return list[e.Name]
		}
		return false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			found = found || (n.Op == token.EQL || n.Op == token.NEQ) && (names(n.X, rules) || names(n.Y, rules))
		case *ast.CaseClause:
			for _, e := range n.List {
				found = found || names(e, rules)
			}
		case *ast.SwitchStmt:
			found = found || names(n.Tag, rules)
		case *ast.CallExpr:
			if method, ok := n.Fun.(*ast.SelectorExpr); ok {
				found = found || calls[method.Sel.Name]
			}
		}
		return !found
	})
	return found
}
