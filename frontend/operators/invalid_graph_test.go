package operators_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/tier"
)

func TestInputs(t *testing.T) {
	t.Parallel()
	named := graphtest.Dims(1, -1)
	named.Dims[1].Param = "n"
	text := graphtest.Dims(2)
	text.DType = graph.DTypeString
	untyped := graphtest.Dims(2)
	untyped.DType = graph.DTypeUndefined
	for _, c := range []struct {
		name string
		in   graph.ValueInfo
		opt  operators.Options
		want string // the shape, or the code
	}{
		{"fixed", graphtest.Dims(1, 4), operators.Options{}, "[1 4]"},
		{"scalar", graphtest.Dims(), operators.Options{}, "[]"},
		{"leading axis open", graphtest.Dims(-1, 4), operators.Options{}, "[1 4]"},
		{"named axis bound", named, operators.Options{Dims: map[string]int{"n": 3}}, "[1 3]"},
		{"named axis read off data", named, operators.Options{Data: map[string][]int{"": {10, 3}}}, "[1 3]"},
		{"named axis read off data with samples", named, operators.Options{Data: map[string][]int{"x": {10, 1, 3}}},
			"[1 3]"},
		{"data of another rank", named, operators.Options{Data: map[string][]int{"x": {3}}}, "shape-unknown"},
		{"named axis open", named, operators.Options{}, "shape-unknown"},
		{"another name bound", named, operators.Options{Dims: map[string]int{"m": 3}}, "shape-unknown"},
		{"bound to 0", named, operators.Options{Dims: map[string]int{"n": 0}}, "shape-unknown"},
		{"bound below 0", named, operators.Options{Dims: map[string]int{"n": -5}}, "shape-unknown"},
		{"bound to 2^62", named, operators.Options{Dims: map[string]int{"n": 1 << 62}}, "shape-unknown"},
		{"unnamed axis open", graphtest.Dims(1, -1), operators.Options{Dims: map[string]int{"": 3}}, "shape-unknown"},
		{"an axis of 0", graphtest.Dims(1, 0), operators.Options{}, "shape-unknown"},
		{"too large", graphtest.Dims(1<<20, 1<<20), operators.Options{}, "shape-unknown"},
		{"product overflows", graphtest.Dims(1<<32, 1<<32, 1<<32), operators.Options{}, "shape-unknown"},
		{"no shape", graph.ValueInfo{Name: "x", DType: graph.DTypeFloat32}, operators.Options{}, "shape-unknown"},
		{"text", text, operators.Options{}, "op-unsupported"},
		{"no type", untyped, operators.Options{}, "op-unsupported"},
	} {
		g := &graph.Graph{Inputs: []graph.ValueInfo{c.in}, Outputs: []graph.ValueInfo{{Name: "y"}},
			Nodes:  []*graph.Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}},
			Opsets: map[string]int64{"": 13}}
		var d diag.List
		got := ""
		if p := operators.Prepare(g, "m", c.opt, &d); p != nil {
			got = fmt.Sprint(p.Known["y"].Shape)
		} else if len(d.Diags) == 1 {
			got = string(d.Diags[0].Code)
		}
		if got != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, got, d.Diags, c.want)
		}
	}
}

// TestMalformedGraphs breaks the order of writing and reading.
func TestMalformedGraphs(t *testing.T) {
	t.Parallel()
	relu := func(in, out string) *graph.Node {
		return &graph.Node{Op: "Relu", Inputs: []string{in}, Outputs: []string{out}}
	}
	for name, g := range map[string]*graph.Graph{
		"a tensor from nowhere":   {Nodes: []*graph.Node{relu("z", "y")}},
		"a cycle":                 {Nodes: []*graph.Node{relu("b", "a"), relu("a", "b"), relu("x", "y")}},
		"a tensor written twice":  {Nodes: []*graph.Node{relu("x", "y"), relu("x", "y")}},
		"an input written":        {Nodes: []*graph.Node{relu("x", "x"), relu("x", "y")}},
		"an output never written": {Nodes: []*graph.Node{relu("x", "z")}},
		"a node before its own":   {Nodes: []*graph.Node{relu("a", "y"), relu("x", "a")}},
		"an initializer overwrites": {Nodes: []*graph.Node{relu("x", "y")},
			Init: map[string]*graph.ConstantTensor{"x": graphtest.Scalar(1)}},
	} {
		g.Inputs, g.Outputs, g.Opsets = []graph.ValueInfo{graphtest.Dims(2)}, []graph.ValueInfo{{Name: "y"}},
			map[string]int64{"": 13}
		var d diag.List
		if p := operators.Prepare(g, "m", operators.Options{}, &d); p != nil || len(d.Diags) != 1 ||
			d.Diags[0].Code != diag.ModelMalformed {
			t.Errorf("%s: %v, want %s", name, d.Diags, diag.ModelMalformed)
		}
	}
}

// chain applies an operator to its own result n times.
func chain(n int, node func(i int, in, out string) *graph.Node) *graph.Graph {
	g := &graph.Graph{Inputs: []graph.ValueInfo{graphtest.Dims(1, 1)}, Outputs: []graph.ValueInfo{{Name: "y"}},
		Init: map[string]*graph.ConstantTensor{}, Opsets: map[string]int64{"": 13}}
	in := "x"
	for i := range n {
		out := fmt.Sprintf("t%d", i)
		if i == n-1 {
			out = "y"
		}
		g.Nodes = append(g.Nodes, node(i, in, out))
		in = out
	}
	return g
}

// TestGrowth lets small files ask for a lot.
func TestGrowth(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	concat := func(_ int, in, out string) *graph.Node {
		return &graph.Node{Op: "Concat", Inputs: []string{in, in}, Outputs: []string{out},
			Attrs: graphtest.Attrs{"axis": 1}.Graph()}
	}
	unsqueeze := func(_ int, in, out string) *graph.Node {
		return &graph.Node{Op: "Unsqueeze", Inputs: []string{in, "axes"}, Outputs: []string{out}}
	}
	outer := func(_ int, in, out string) *graph.Node {
		return &graph.Node{Op: "MatMul", Inputs: []string{"column", "row"}, Outputs: []string{out}}
	}
	square := func(_ int, in, out string) *graph.Node {
		return &graph.Node{Op: "MatMul", Inputs: []string{"square", "square"}, Outputs: []string{out}}
	}
	wide := chain(3, outer)
	wide.Init["column"], wide.Init["row"] = graphtest.Reals([]int{1 << 14, 1}, make([]float64, 1<<14)...),
		graphtest.Reals([]int{1, 1 << 14}, make([]float64, 1<<14)...)
	work := chain(2, square)
	side := graphtest.Dims(1<<12, 1<<12)
	side.Name = "square"
	work.Inputs = []graph.ValueInfo{side}
	deep := chain(100, unsqueeze)
	deep.Init["axes"] = graphtest.Int64s(0)
	many := chain(70, func(_ int, in, out string) *graph.Node {
		return &graph.Node{Op: "Relu", Inputs: []string{in}, Outputs: []string{out}}
	})
	many.Inputs = []graph.ValueInfo{graphtest.Dims(1, 1<<22)}
	for name, g := range map[string]*graph.Graph{"doubling": chain(60, concat), "outer products": wide,
		"multiplications": work, "axes": deep, "many large ones": many} {
		var d diag.List
		if p := operators.Prepare(g, "m", operators.Options{}, &d); p != nil || d.Diags[0].Code != diag.ModelTooLarge {
			t.Errorf("%s: %v, want %s", name, d.Diags, diag.ModelTooLarge)
		}
	}
}

// TestNothingPanics builds random nodes of every operator, mostly nonsense: each is refused with one diagnostic, or
// runs, or fails with an error.
func TestNothingPanics(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	names := []string{"axis", "axes", "perm", "to", "alpha", "beta", "transA", "transB", "epsilon", "min", "max",
		"start", "end", "signed", "narrow", "rounding_mode", "lo", "hi", "mode", "zero_first", "value", "keepdims",
		"select_last_index", "k", "largest", "split", "starts", "ends", "data_layout", "out_scale", "gamma",
		"value_ints", "value_floats", "block_size", "output_dtype", "allowzero"}
	ops := map[string]string{"Shape": "", "Constant": "", "ConstantOfShape": "", "LogSoftmax": "", "Elu": "",
		"Selu": "", "HardSigmoid": "", "LeakyRelu": "", "Log": "", "Exp": "",
		"Sqrt": "", "Softplus": "", "Reciprocal": "", "Sign": "", "Count": operators.InternalDomain,
		"Trunc": operators.InternalDomain}
	for _, c := range opCases {
		ops[c.op] = c.domain
	}
	sorted := slices.Sorted(maps.Keys(ops))
	r := rand.New(rand.NewPCG(1, 2))
	number := func() float64 {
		return []float64{0, 1, -1, 0.5, 2, 4, 8, math.NaN(), math.Inf(1), math.Inf(-1), 1e38, -1e38, 1e-41,
			math.MaxFloat64}[r.IntN(14)]
	}
	integer := func() int64 {
		return []int64{0, 1, -1, 2, 3, 4, 8, 26, math.MaxInt64, math.MinInt64, 1 << 31, 1<<32 + 1}[r.IntN(12)]
	}
	tensor := func() *graph.ConstantTensor {
		shape := []int{}
		for range r.IntN(4) {
			shape = append(shape, r.IntN(4))
		}
		t := &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: shape}
		if r.IntN(3) == 0 {
			t.DType = []graph.DType{graph.DTypeInt64, graph.DTypeUInt8, graph.DTypeInt8, graph.DTypeInt32}[r.IntN(4)]
			for range t.Len() {
				if t.I = append(t.I, r.Int64N(5)-1); t.DType == graph.DTypeInt64 {
					t.I[len(t.I)-1] = integer()
				}
			}
			return t
		}
		for range t.Len() {
			t.F = append(t.F, number())
		}
		return t
	}
	ran := 0
	for range 20000 {
		op := sorted[r.IntN(len(sorted))]
		a := graphtest.Attrs{}
		for range r.IntN(4) {
			a[names[r.IntN(len(names))]] = []any{int(r.IntN(5)) - 2, integer(), number(), "FLOOR",
				[]int64{0, integer()}, []float64{number()}, tensor()}[r.IntN(7)]
		}
		var args []*graph.ConstantTensor
		for range r.IntN(6) {
			if args = append(args, tensor()); r.IntN(12) == 0 {
				args[len(args)-1] = nil
			}
		}
		if r.IntN(3) > 0 { // the shapes and values of a case of this operator, to get beyond the first checks
			if i := slices.IndexFunc(opCases, func(c opCase) bool { return c.op == op }); i >= 0 {
				args = slices.Clone(opCases[i].args)
				args[r.IntN(len(args))] = tensor()
			}
		}
		g := graphtest.Single(ops[op], op, int64(1+r.IntN(21)), a, func(i int) bool {
			return i == 0 &&
				r.IntN(2) == 0
		}, args...)
		operators.DecomposeOperators(g)
		var d diag.List
		p := operators.Prepare(g, "m", operators.Options{}, &d)
		if p == nil {
			if len(d.Diags) == 0 {
				t.Fatalf("%s %v: %v", op, a, d.Diags)
			}
			continue
		}
		var in [][]float64
		for _, v := range g.Inputs {
			in = append(in, make([]float64, graph.ElementCount(p.Known[v.Name].Shape)))
		}
		if got, err := graphtest.Execute(p, in...); err == nil {
			ran++
			for i, v := range got {
				if math.IsNaN(v) {
					t.Fatalf("%s %v %v: element %d is no number", op, a, args, i)
				}
			}
		}
	}
	if ran < 1000 {
		t.Errorf("only %d nodes ran", ran)
	}
}
