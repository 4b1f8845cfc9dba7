package execution_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

// TestTiesWithoutDigits puts values in order that no digits prove equal, behind functions whose values are irrational:
// they are equal where their arguments are.
func TestTiesWithoutDigits(t *testing.T) {
	t.Parallel()
	x := []float64{1, 2, 1, 0.5, 2, 1}
	node := func(op string, a graphtest.Attrs, in []string, out ...string) *graph.Node {
		return &graph.Node{Name: op, Op: op, Inputs: in, Outputs: out, Attrs: a.Graph()}
	}
	for _, c := range []struct {
		name  string
		nodes []*graph.Node
		want  []float64 // the places
	}{
		{"softmax", []*graph.Node{node("Softmax", nil, []string{"x"}, "s"), node("Identity", nil, []string{"s"}, "v")},
			[]float64{1, 4, 0, 2, 5, 3}},
		{"logarithm", []*graph.Node{node("LogSoftmax", nil, []string{"x"}, "s"),
			node("Reshape", nil, []string{"s", "shape"}, "v")}, []float64{1, 4, 0, 2, 5, 3}},
		{"two functions", []*graph.Node{node("Neg", nil, []string{"x"}, "n"), node("Sigmoid", nil, []string{"n"}, "s"),
			node("Tanh", nil, []string{"s"}, "h"), node("Mul", nil, []string{"h", "s"}, "v")},
			[]float64{3, 0, 2, 5, 1, 4}},
		{"factors that are equal", []*graph.Node{node("Mul", nil, []string{"x", "factors"}, "m"),
			node("Sigmoid", nil, []string{"m"}, "v")}, []float64{1, 4, 0, 2, 5, 3}},
	} {
		g := &graph.Graph{
			Inputs: []graph.ValueInfo{{Name: "x", DType: graph.DTypeFloat32, Known: true,
				Dims: []graph.Dim{{Size: 1}, {Size: 6}}}},
			Outputs: []graph.ValueInfo{{Name: "values"}, {Name: "y"}},
			Init: map[string]*graph.ConstantTensor{"k": graphtest.Int64s(6), "shape": graphtest.Int64s(1, 6),
				"factors": graphtest.Reals([]int{6}, 3, 3, 3, 3, 3, 3)},
			Opsets: map[string]int64{"": 13},
			Nodes:  append(slices.Clone(c.nodes), node("TopK", nil, []string{"v", "k"}, "values", "y")),
		}
		var d diag.List
		p := operators.Prepare(g, "model.onnx", operators.Options{}, &d)
		if p == nil {
			t.Fatalf("%s: %v", c.name, d.Diags)
		}
		part, err := execution.NewProgramPart(p, []string{"x"}, []string{"values", "y"})
		if err != nil {
			t.Fatal(err)
		}
		_, all, err := part.Run([]*program.Reals{program.NewExactReals([]int{1, 6}, x)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		y, err := part.RoundedOutput("y", all)
		if err != nil || !slices.Equal(y, c.want) {
			t.Errorf("%s: places %v, %v, want %v", c.name, y, err, c.want)
		}
		values, err := part.RoundedOutput("values", all)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i := 1; i < len(values); i++ { // equal inputs, and no others, have equal values
			if a, b := x[int(y[i-1])], x[int(y[i])]; a == b && values[i-1] != values[i] || a != b &&
				values[i-1] <= values[i] {
				t.Errorf("%s: values %s", c.name, fmt.Sprint(values))
			}
		}
	}
}

// Functions that rise with every change keep the order of what they are of, however far out that is: real numbers do
// not saturate. What does saturate makes equal ones, of which the lower index comes first.
func TestOrderIsOfArguments(t *testing.T) {
	t.Parallel()
	x := []float64{5000, 5001, -8000, 5000, 0x1p100, -0x1p120, -8001, 40}
	self := func(v float64) float64 { return v }
	for _, c := range []struct {
		ops     []string
		decides func(v float64) float64 // of each argument: what is equal to what, and greater
	}{
		{[]string{"Sigmoid"}, self},
		{[]string{"Tanh"}, self},
		{[]string{"Softmax"}, self},
		{[]string{"LogSoftmax"}, self},
		{[]string{"Softsign"}, self},
		{[]string{"Elu"}, self},
		{[]string{"LeakyRelu"}, self},
		{[]string{"Neg", "Sigmoid"}, func(v float64) float64 { return -v }},
		{[]string{"Neg", "Tanh", "Neg", "Sigmoid"}, self},
		{[]string{"Sigmoid", "Softmax", "Tanh"}, self},
		{[]string{"Relu"}, func(v float64) float64 { return max(v, 0) }},
		{[]string{"Relu", "Softplus"}, func(v float64) float64 { return max(v, 0) }},
		{[]string{"HardSigmoid", "Neg"}, func(v float64) float64 { return -min(max(v, -3), 3) }},
		{[]string{"Sign"}, func(v float64) float64 { return float64(cmp.Compare(v, 0)) }},
	} {
		g := &graph.Graph{
			Inputs: []graph.ValueInfo{{Name: "x", DType: graph.DTypeFloat32, Known: true,
				Dims: []graph.Dim{{Size: 1}, {Size: len(x)}}}},
			Outputs: []graph.ValueInfo{{Name: "y"}, {Name: "again"}},
			Init:    map[string]*graph.ConstantTensor{"k": graphtest.Int64s(int64(len(x)))},
			Opsets:  map[string]int64{"": 13},
		}
		last := "x"
		for i, op := range c.ops {
			next := fmt.Sprint("v", i)
			g.Nodes = append(g.Nodes, &graph.Node{Op: op, Inputs: []string{last}, Outputs: []string{next}})
			last = next
		}
		g.Nodes = append(g.Nodes,
			&graph.Node{Op: "TopK", Inputs: []string{last, "k"}, Outputs: []string{"values", "y"}},
			&graph.Node{Op: "Cast", Inputs: []string{"y"}, Outputs: []string{"again"},
				Attrs: graphtest.Attrs{"to": int(graph.DTypeFloat32)}.Graph()})
		want := make([]float64, len(x))
		for i := range want {
			want[i] = float64(i)
		}
		slices.SortStableFunc(want, func(a, b float64) int {
			return cmp.Compare(c.decides(x[int(b)]), c.decides(x[int(a)]))
		})
		part, err := execution.NewProgramPart(prepared(t, g), []string{"x"}, []string{"y", "again"})
		if err != nil {
			t.Fatal(err)
		}
		_, all, err := part.Run([]*program.Reals{program.NewExactReals([]int{1, len(x)}, x)})
		if err != nil {
			t.Errorf("%v: %v", c.ops, err)
			continue
		}
		if y, err := part.RoundedOutput("again", all); err != nil || !slices.Equal(y, want) {
			t.Errorf("%v: places %v, %v, want %v", c.ops, y, err, want)
		}
	}
}

func prepared(t *testing.T, g *graph.Graph) *program.Program {
	t.Helper()
	var d diag.List
	p := operators.Prepare(g, "model.onnx", operators.Options{}, &d)
	if p == nil {
		t.Fatal(d.Diags)
	}
	return p
}
