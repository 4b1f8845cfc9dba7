package arch

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// mostMethods limits the methods of a type. A type that needs more is several values.
const mostMethods = 25

// manyMethods are types that have more, with how many they may have until they are split.
var manyMethods = map[string]int{}

// TestMethods counts the methods of each type, those of embedded types apart.
func TestMethods(t *testing.T) {
	t.Parallel()
	methods := map[string]int{}
	for dir, files := range packages(t, true) {
		for _, s := range files {
			for _, d := range s.file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
					methods[dir+"."+receiver(f.Recv.List[0].Type)]++
				}
			}
		}
	}
	hold(t, "methods", methods, mostMethods, manyMethods)
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	if name, ok := innermost(e, nil).(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// innermost goes from an expression to the operand that it selects from, indexes or dereferences, again and again. It
// ends where done reports true, or at an expression without such an operand.
func innermost(e ast.Expr, done func(ast.Expr) bool) ast.Expr {
	for done == nil || !done(e) {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		default:
			return e
		}
	}
	return e
}

// hold compares counts with a limit. The list of debts has the exceptions: their counts may not grow, and a paid debt
// must leave the list.
func hold(t *testing.T, what string, counts map[string]int, most int, debts map[string]int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n, limit := counts[name], max(most, debts[name]); n > limit {
			t.Errorf("%s has %d %s, the most is %d", name, n, what, limit)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(debts)) {
		if counts[name] <= most {
			t.Errorf("%s has %d %s: leave it out of the list of debts", name, counts[name], what)
		}
	}
}

// Lines of code end by this column, a tab being so wide.
const (
	columns  = 120
	tabWidth = 4
)

// longLines limits the number of longer lines: texts that are kept whole, of JSON, SVG and commands.
const longLines = 38

// TestLines counts the lines that are too long.
func TestLines(t *testing.T) {
	t.Parallel()
	n, worst := 0, map[string]int{}
	for _, files := range packages(t, false) {
		for _, s := range files {
			if s.generated() {
				continue
			}
			for line := range strings.Lines(s.text) {
				if width(strings.TrimRight(line, "\r\n")) > columns {
					n++
					worst[s.name]++
				}
			}
		}
	}
	if n > longLines {
		t.Errorf("%d lines go beyond column %d, the most is %d: %v", n, columns, longLines, worst)
	}
	if n < longLines {
		t.Errorf("only %d lines are too long: set longLines to that", n)
	}
}

// width is the columns that a line takes.
func width(line string) (n int) {
	for _, r := range line {
		if r == '\t' {
			n += tabWidth - n%tabWidth
		} else {
			n++
		}
	}
	return n
}

// clocks lists the test files that look at the time, with the reason. None compares a time with a limit, because such a
// test fails on a busy machine.
var clocks = map[string]string{
	"folding/space_test.go":                  "to log it",
	"internal/build/finn_comparison_test.go": "to log it",
	"internal/fast/slopes_test.go":           "to measure, in a benchmark",
}

// TestClocks checks that no other test looks at the time.
func TestClocks(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, files := range packages(t, false) {
		for _, s := range files {
			uses := false
			ast.Inspect(s.file, func(n ast.Node) bool {
				x, ok := n.(*ast.SelectorExpr)
				if ok && receiver(x.X) == "time" && slices.Contains([]string{"Now", "Since", "Until"}, x.Sel.Name) {
					uses = true
				}
				return true
			})
			if seen[s.name] = uses; uses && s.test() && clocks[s.name] == "" {
				t.Errorf("%s looks at the time", s.name)
			}
		}
	}
	for name := range clocks {
		if !seen[name] {
			t.Errorf("%s does not look at the time: leave it out of the list", name)
		}
	}
}
