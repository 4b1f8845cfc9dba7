package doctest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/operators"
)

// A domain is an ONNX operator domain, with the operators that its authors list.
type domain struct {
	name, what string
	ops        []string
}

// domains reads testdata/operators.txt: per domain a line with its name and description, then indented lines with
// the names of its operators.
func domains(t *testing.T) (list []domain) {
	t.Helper()
	text, err := os.ReadFile("testdata/operators.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, " ") {
			last := &list[len(list)-1]
			last.ops = append(last.ops, strings.Fields(line)...)
			continue
		}
		name, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		list = append(list, domain{name: name, what: what})
	}
	return list
}

// TestOperators checks that the code either supports or refuses with a reason each operator that ONNX, onnxruntime,
// QONNX and PULP list, that it supports none that is missing from the list, and that docs/operators.md shows this;
// -update writes the page.
func TestOperators(t *testing.T) {
	t.Parallel()
	const page, begin, end = "../../docs/operators.md", "<!-- list -->\n", "<!-- end -->\n"
	var b strings.Builder
	for _, d := range domains(t) {
		name := d.name
		if name == "ai.onnx" {
			name = ""
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n| operators | computed by |\n|---|---|\n", d.name, d.what)
		list, unknown := operators.SupportEntriesOf(name, d.ops)
		if unknown != nil {
			t.Errorf("%s: nothing is said of %v", d.name, unknown)
		}
		for _, op := range operators.SupportedOperators(name) {
			if !slices.Contains(d.ops, op) && (op != "RequantShift" || name != "") {
				t.Errorf("%s: %s is computed, and not listed", d.name, op)
			}
		}
		refused := false
		for _, s := range list {
			if !s.Computes && !refused {
				refused = true
				b.WriteString("\n| operators | not supported |\n|---|---|\n")
			}
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(s.Ops, ", "), s.How)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no list", page)
	}
	switch want := before + begin + b.String() + "\n" + end + after; {
	case want == string(text):
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has another list than the code (-update to accept)", page)
	}
}
