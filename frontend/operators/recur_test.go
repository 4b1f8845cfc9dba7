package operators_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/tier"
)

// TestScan walks through axes in both directions.
func TestScan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		attrs graphtest.Attrs
		state []int
		out   string // "y" is gathered, "last" the state
		shape []int
		want  []float64
	}{
		{"the first axis", graphtest.Attrs{}, []int{2}, "y", []int{3, 2}, []float64{0, 2, 4, 8, 12, 18}},
		{"backwards", graphtest.Attrs{"scan_input_directions": []int64{1}}, []int{2}, "y", []int{3, 2},
			[]float64{8, 10, 12, 16, 12, 18}},
		{"backwards, gathered backwards", graphtest.Attrs{"scan_input_directions": []int64{1},
			"scan_output_directions": []int64{1}}, []int{2}, "y", []int{3, 2}, []float64{12, 18, 12, 16, 8, 10}},
		{"gathered along another axis", graphtest.Attrs{"scan_output_axes": []int64{1}}, []int{2}, "y", []int{2, 3},
			[]float64{0, 4, 12, 2, 8, 18}},
		{"the last axis", graphtest.Attrs{"scan_input_axes": []int64{-1}, "scan_output_axes": []int64{-1}}, []int{3},
			"y",
			[]int{3, 2}, []float64{0, 2, 4, 10, 8, 18}},
		{"the last state", graphtest.Attrs{"scan_input_axes": []int64{1}}, []int{3}, "last", []int{3}, []float64{1, 5,
			9}},
	} {
		init := map[string]*graph.ConstantTensor{"zero": graphtest.Reals(c.state, make([]float64,
			graph.ElementCount(c.state))...)}
		g := graphtest.Network([]int{3, 2}, init, graphtest.ScanNode(c.attrs, graphtest.Running(), []string{"zero",
			"x"}, []string{"last", "all"}),
			graphtest.Node("Identity", nil, "y", map[string]string{"y": "all", "last": "last"}[c.out]))
		p := graphtest.Prepare(t, g)
		got, err := graphtest.Execute(p, graphtest.Count(6))
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(p.Known["y"].Shape, c.shape) {
			t.Errorf("%s: %v of shape %v (%v), want %v of shape %v", c.name, got, p.Known["y"].Shape, err, c.want,
				c.shape)
		}
	}
}

// TestScanAround reads a constant around the body, computes one beside it and needs no state.
func TestScanAround(t *testing.T) {
	t.Parallel()
	b := graphtest.Body([]string{"e"}, []string{"f"}, nil, graphtest.Node("Mul", nil, "f", "e", "six"))
	g := graphtest.Network([]int{2}, map[string]*graph.ConstantTensor{"two": graphtest.Scalar(2),
		"three": graphtest.Scalar(3)},
		graphtest.Node("Mul", nil, "six", "two", "three"), graphtest.ScanNode(graphtest.Attrs{}, b, []string{"x"},
			[]string{"y"}))
	if got, err := graphtest.Execute(graphtest.Prepare(t, g), []float64{1, 5}); err != nil || !slices.Equal(got,
		[]float64{6, 30}) {
		t.Error(got, err)
	}
}

// TestScanRefusals gives loops that contradict themselves or that cannot be built.
func TestScanRefusals(t *testing.T) {
	t.Parallel()
	in, out := []string{"zero", "x"}, []string{"last", "y"}
	zero := func() map[string]*graph.ConstantTensor {
		return map[string]*graph.ConstantTensor{"zero": graphtest.Reals([]int{2}, 0, 0),
			"two":   graphtest.Reals([]int{2}, 0, 0),
			"whole": graphtest.Int64s(0, 0)}
	}
	nested := graphtest.Body([]string{"s", "e"}, []string{"t", "z"}, nil, graphtest.Node("Add", nil, "t", "s", "e"),
		graphtest.ScanNode(graphtest.Attrs{}, graphtest.Body([]string{"v"}, []string{"w"}, nil, graphtest.Node("Neg",
			nil, "w", "v")), []string{"e"},
			[]string{"z"}))
	for _, c := range []struct {
		name  string
		nodes []*graph.Node
		code  diag.Code
		says  string
	}{
		{"no body", []*graph.Node{{Op: "Scan", Inputs: in, Outputs: out,
			Attrs: graphtest.Attrs{"num_scan_inputs": 1}.Graph()}},
			diag.OpInvalid, "no body"},
		{"nothing scanned", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{"num_scan_inputs": 0},
			graphtest.Running(), in, out)}, diag.OpInvalid,
			"num_scan_inputs is 0"},
		{"more scanned than there is", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{"num_scan_inputs": 3},
			graphtest.Running(), in, out)},
			diag.OpInvalid, "num_scan_inputs is 3"},
		{"states alone", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(), []string{"zero",
			"two", "x"}, out)}, diag.OpInvalid,
			"the body has 2 inputs"},
		{"an output too many", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(), in,
			[]string{"last", "y", "more"})},
			diag.OpInvalid, "the body has 2 inputs and 2 outputs"},
		{"an input is omitted", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(), []string{"",
			"x"}, out)}, diag.OpInvalid,
			"input 0 is missing"},
		{"an axis that is not there", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{"scan_input_axes": []int64{2}},
			graphtest.Running(), in, out)},
			diag.OpInvalid, "axis 2"},
		{"a wild axis", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{"scan_input_axes": []int64{math.MinInt64}},
			graphtest.Running(), in, out)},
			diag.OpInvalid, "scan_input_axes"},
		{"an output axis that is not there",
			[]*graph.Node{graphtest.ScanNode(graphtest.Attrs{"scan_output_axes": []int64{-3}}, graphtest.Running(),
				in, out)}, diag.OpInvalid, "axis -3"},
		{"a direction", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{"scan_output_directions": []int64{2}},
			graphtest.Running(), in, out)},
			diag.OpInvalid, "scan_output_directions holds 2"},
		{"two directions for one tensor",
			[]*graph.Node{graphtest.ScanNode(graphtest.Attrs{"scan_input_directions": []int64{0, 1}},
				graphtest.Running(), in, out)}, diag.OpInvalid, "0 and 2 entries for 1 tensors"},
		{"lengths that differ", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{"num_scan_inputs": 2},
			graphtest.Running(), in, out)},
			diag.OpInvalid, "has 2 elements to scan"},
		{"a state that grows", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{},
			graphtest.Body([]string{"s", "e"}, []string{"t", "e"}, nil, graphtest.Node("Concat",
				graphtest.Attrs{"axis": 0}, "t", "s", "e")), in,
			out)}, diag.OpInvalid, "state 0"},
		{"a state of another type", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(),
			[]string{"whole", "x"}, out)},
			diag.OpInvalid, "the body takes float32"},
		{"data around the body", []*graph.Node{graphtest.Node("Neg", nil, "data", "x"),
			graphtest.ScanNode(graphtest.Attrs{}, graphtest.Body([]string{"s", "e"}, []string{"s", "t"}, nil,
				graphtest.Node("MatMul", nil, "t", "data", "e")),
				in, out)}, diag.OpUnsupported, `reads "data"`},
		{"a tensor that nobody writes", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{},
			graphtest.Body([]string{"s", "e"}, []string{"s", "t"}, nil, graphtest.Node("Add", nil, "t", "e", "ghost")),
			in, out)},
			diag.ModelMalformed, "ghost"},
		{"a fault in the body", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{},
			graphtest.Body([]string{"s", "e"}, []string{"s", "t"}, nil, graphtest.Node("Reshape", nil, "t", "e", "e")),
			in, out)},
			diag.ShapeUnknown, "depends on the data"},
		{"a loop in the body", []*graph.Node{graphtest.ScanNode(graphtest.Attrs{}, nested, in, out)},
			diag.OpUnsupported,
			"inside the body"},
	} {
		g := graphtest.Network([]int{3, 2}, zero(), c.nodes...)
		graphtest.Refused(t, c.name, g, c.code, c.says)
	}
}

// TestScanLimits asks for too much: many runs, or long ones.
func TestScanLimits(t *testing.T) {
	t.Parallel()
	one := map[string]*graph.ConstantTensor{"zero": graphtest.Scalar(0), "big": graphtest.Reals([]int{1 << 12, 1},
		make([]float64, 1<<12)...),
		"wide": graphtest.Reals([]int{1, 1 << 12}, make([]float64, 1<<12)...)}
	in, out := []string{"zero", "x"}, []string{"last", "y"}
	costly := graphtest.Body([]string{"s", "e"}, []string{"s", "u"}, nil, graphtest.Node("Mul", nil, "v", "e", "big"),
		graphtest.Node("MatMul", nil, "u", "v", "wide"))
	for _, c := range []struct {
		name   string
		length int
		body   graph.Attr
	}{
		{"runs", 1<<20 + 1, graphtest.Body([]string{"s", "e"}, []string{"s", "e"}, nil)},
		{"work", 1 << 10, costly},
		{"steps", 1 << 20, graphtest.Body([]string{"s", "e"}, []string{"s", "t"}, nil, func() (nodes []*graph.Node) {
			last := "e"
			for i := range 100 {
				name := fmt.Sprint("n", i)
				nodes, last = append(nodes, graphtest.Node("Neg", nil, name, last)), name
			}
			return append(nodes, graphtest.Node("Neg", nil, "t", last))
		}()...)},
	} {
		g := graphtest.Network([]int{c.length}, one, graphtest.ScanNode(graphtest.Attrs{}, c.body, in, out))
		var d diag.List
		if operators.Prepare(g, "m", operators.Options{}, &d) != nil || len(d.Diags) != 1 ||
			d.Diags[0].Code != diag.ModelTooLarge {
			t.Errorf("%s: %v", c.name, d.Diags)
		}
	}
}

// TestDecisionsThroughLoops rounds a sum of thirds: each run leaves an interval, and only the exact history knows that
// three of them are a whole number.
func TestDecisionsThroughLoops(t *testing.T) {
	t.Parallel()
	third := graphtest.Body([]string{"s", "e"}, []string{"t", "t"},
		map[string]*graph.ConstantTensor{"three": graphtest.Scalar(3)},
		graphtest.Node("Div", nil, "d", "e", "three"), graphtest.Node("Add", nil, "t", "s", "d"))
	g := graphtest.Network([]int{6}, map[string]*graph.ConstantTensor{"zero": graphtest.Scalar(0)},
		graphtest.ScanNode(graphtest.Attrs{}, third, []string{"zero", "x"}, []string{"last", "all"}),
		graphtest.Node("Floor", nil, "y", "all"))
	got, err := graphtest.Execute(graphtest.Prepare(t, g), []float64{1, 1, 1, 1, 1, 1})
	if want := []float64{0, 0, 1, 1, 1, 2}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	// Inside the body, from the state; and the rounding of an output that stays real.
	floors := graphtest.Body([]string{"s", "e"}, []string{"t", "f"},
		map[string]*graph.ConstantTensor{"three": graphtest.Scalar(3)},
		graphtest.Node("Div", nil, "d", "e", "three"), graphtest.Node("Add", nil, "t", "s", "d"),
		graphtest.Node("Floor", nil, "f", "t"))
	g = graphtest.Network([]int{3}, map[string]*graph.ConstantTensor{"zero": graphtest.Scalar(0)},
		graphtest.ScanNode(graphtest.Attrs{}, floors, []string{"zero", "x"}, []string{"last", "all"}),
		graphtest.Node("Add", nil, "y", "last", "all"))
	if got, err := graphtest.Execute(graphtest.Prepare(t, g), []float64{1, 1, 1}); err != nil || !slices.Equal(got,
		[]float64{1, 1, 2}) {
		t.Errorf("%v %v, want 1, 1, 2", got, err)
	}
	// Truths that are no float64 pass through.
	all := graphtest.Body([]string{"s", "e"}, []string{"e", "s"}, nil)
	g = graphtest.Network([]int{2}, map[string]*graph.ConstantTensor{"zero": graphtest.Scalar(0)},
		graphtest.ScanNode(graphtest.Attrs{}, all, []string{"zero", "x"}, []string{"last", "all"}),
		graphtest.Node("Floor", nil, "y", "last"))
	part, err := execution.NewProgramPart(graphtest.Prepare(t, g), []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	near := big.NewRat(1, 1)
	near.Sub(near, new(big.Rat).SetFrac64(1, math.MaxInt64)) // float64 has nothing between this and 1
	x := &program.Reals{Shape: []int{2}, Lo: []float64{0, math.Nextafter(1, 0)}, Hi: []float64{0, 1},
		Truth: func(i int) *big.Rat {
			if i == 0 {
				return new(big.Rat)
			}
			return near
		}}
	if out, _, err := part.Run([]*program.Reals{x}); err != nil || out[0].Lo[0] != 0 || out[0].Hi[0] != 0 {
		t.Errorf("%v %v, want 0", out, err)
	}
}

// TestLongHistories holds that a rounding that depends on too much is reported, and soon.
func TestLongHistories(t *testing.T) {
	tier.NeedsLong(t)
	t.Parallel()
	const units = 40
	var mix []float64
	for i := range units * units {
		mix = append(mix, float64(i%7-3)/8)
	}
	b := graphtest.Body([]string{"s", "e"}, []string{"t", "t"},
		map[string]*graph.ConstantTensor{"mix": graphtest.Reals([]int{units, units},
			mix...)}, graphtest.Node("MatMul", nil, "m", "s", "mix"), graphtest.Node("Add", nil, "a", "m", "e"),
		graphtest.Node("Tanh", nil, "t", "a"))
	g := graphtest.Network([]int{4000, 1}, map[string]*graph.ConstantTensor{"zero": graphtest.Reals([]int{1, units},
		make([]float64, units)...)},
		graphtest.ScanNode(graphtest.Attrs{}, b, []string{"zero", "x"}, []string{"last", "all"}),
		graphtest.Node("Floor", nil, "y", "last"))
	x := make([]float64, 4000)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	if _, err := graphtest.Execute(graphtest.Prepare(t, g), x); err == nil || !strings.Contains(err.Error(),
		"too many runs") {
		t.Errorf("%v, want an error about too many runs", err)
	}
}

// TestLoopsInParallel runs forks of one part with a loop at the same time.
func TestLoopsInParallel(t *testing.T) {
	t.Parallel()
	g := graphtest.Network([]int{3, 2}, map[string]*graph.ConstantTensor{"zero": graphtest.Reals([]int{2}, 0, 0)},
		graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(), []string{"zero", "x"}, []string{"last", "y"}))
	part, err := execution.NewProgramPart(graphtest.Prepare(t, g), []string{"x"}, []string{"y", "last"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []float64)
	for k := range 8 {
		go func() {
			x := graphtest.Count(6)
			x[5] = float64(k)
			out, _, err := part.Fork().Run([]*program.Reals{program.NewExactReals([]int{3, 2}, x)})
			if err != nil {
				done <- nil
				return
			}
			done <- []float64{float64(k), out[0].Lo[5], out[1].Lo[1]}
		}()
	}
	for range 8 {
		if v := <-done; v == nil || v[1] != 2*(4+v[0]) || v[2] != 4+v[0] {
			t.Errorf("%v", v)
		}
	}
}

// TestLoopsInFloat32 compares a loop with its runs written one after the other, in every arithmetic.
func TestLoopsInFloat32(t *testing.T) {
	t.Parallel()
	quant := map[string]*graph.ConstantTensor{"w": graphtest.Reals([]int{2, 2}, 0.3, -0.7, 0.9, 0.1),
		"q": graphtest.Scalar(0.05), "z": graphtest.Scalar(0)}
	code := func(out, in string) *graph.Node {
		return graphtest.Node("Code", graphtest.Attrs{"lo": -20.0, "hi": 20.0, "mode": int(real.RoundingModeHalfEven),
			"zero_first": 1}, out, in, "q",
			"z")
	}
	cell := func(state, x, suffix string) []*graph.Node {
		return []*graph.Node{graphtest.Node("MatMul", nil, "m"+suffix, state, "w"), graphtest.Node("Add", nil,
			"a"+suffix, "m"+suffix, x),
			graphtest.Node("Tanh", nil, "h"+suffix, "a"+suffix), code("c"+suffix, "h"+suffix),
			graphtest.Node("Mul", nil, "v"+suffix, "c"+suffix, "q")}
	}
	b := graphtest.Body([]string{"s", "e"}, []string{"v", "v"}, nil, cell("s", "e", "")...)
	init := map[string]*graph.ConstantTensor{"zero": graphtest.Reals([]int{1, 2}, 0, 0), "axes": graphtest.Int64s(0)}
	for name, v := range quant {
		init[name] = v
	}
	loop := graphtest.Network([]int{3, 1, 2}, init, graphtest.ScanNode(graphtest.Attrs{}, b, []string{"zero", "x"},
		[]string{"y", "all"}))
	nodes, state := []*graph.Node{}, "zero"
	for k := range 3 {
		at := fmt.Sprint(k)
		init["at"+at] = &graph.ConstantTensor{DType: graph.DTypeInt64, I: []int64{int64(k)}}
		nodes = append(nodes, graphtest.Node("Gather", graphtest.Attrs{"axis": 0}, "x"+at, "x", "at"+at))
		nodes = append(nodes, cell(state, "x"+at, at)...)
		state = "v" + at
	}
	flat := graphtest.Network([]int{3, 1, 2}, init, append(nodes, graphtest.Node("Identity", nil, "y", state))...)
	x := []*program.Reals{program.NewExactReals([]int{3, 1, 2}, []float64{0.1, 0.7, -0.3, 0.25, 0.6, -0.9})}
	parts := map[string]*execution.ProgramPart{}
	for name, g := range map[string]*graph.Graph{"loop": loop, "flat": flat} {
		part, err := execution.NewProgramPart(graphtest.Prepare(t, g), []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		part.Watch = true
		parts[name] = part
	}
	if codes := parts["loop"].QuantiserTensorNames(); !slices.Equal(codes, []string{"y[0].c", "y[1].c", "y[2].c"}) {
		t.Errorf("codes %v", codes)
	}
	same := func(what string, a, b map[string]*program.Reals) {
		for k := range 3 {
			u, v := a[fmt.Sprintf("y[%d].c", k)], b[fmt.Sprintf("c%d", k)]
			if !slices.Equal(u.Lo, v.Lo) || !slices.Equal(u.Hi, v.Hi) {
				t.Errorf("%s, run %d: %v, want %v", what, k, u, v)
			}
		}
		if !slices.Equal(a["y"].Lo, b["y"].Lo) || !slices.Equal(a["y"].Hi, b["y"].Hi) {
			t.Errorf("%s: %v, want %v", what, a["y"], b["y"])
		}
	}
	_, exactLoop, err := parts["loop"].Run(x)
	if err != nil {
		t.Fatal(err)
	}
	_, exactFlat, err := parts["flat"].Run(x)
	if err != nil {
		t.Fatal(err)
	}
	same("exactly", exactLoop, exactFlat)
	for _, v := range execution.Float32Variants {
		same(fmt.Sprint(v), parts["loop"].RunFloat32(x, v), parts["flat"].RunFloat32(x, v))
	}
	boundsLoop, openLoop := parts["loop"].BoundFloat32Values(x, exactLoop)
	boundsFlat, openFlat := parts["flat"].BoundFloat32Values(x, exactFlat)
	same("bounds", boundsLoop, boundsFlat)
	for k := range 3 {
		if a, b := openLoop[fmt.Sprintf("y[%d].c", k)], openFlat[fmt.Sprintf("c%d", k)]; !slices.Equal(a, b) ||
			len(a) != 2 {
			t.Errorf("open in run %d: %v, want %v", k, a, b)
		}
	}
}
