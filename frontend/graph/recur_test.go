package graph_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// body is a graph attribute: inputs and outputs by name, without shapes, as a file may have them.
func body(inputs, outputs []string, init map[string]*graph.Tensor, nodes ...*graph.Node) graph.Attr {
	g := &graph.Graph{Init: init, Nodes: nodes, Opsets: map[string]int64{"": 13, qonnx: 2}}
	for _, in := range inputs {
		g.Inputs = append(g.Inputs, graph.ValueInfo{Name: in, DType: graph.Float32})
	}
	for _, out := range outputs {
		g.Outputs = append(g.Outputs, graph.ValueInfo{Name: out, DType: graph.Float32})
	}
	for i, n := range nodes {
		n.Index = i
	}
	return graph.Attr{Kind: graph.AttrGraph, G: g}
}

func scanNode(a attrs, body graph.Attr, inputs, outputs []string) *graph.Node {
	if _, ok := a["num_scan_inputs"]; !ok {
		a["num_scan_inputs"] = 1
	}
	a["body"] = body
	return &graph.Node{Name: "loop", Op: "Scan", Inputs: inputs, Outputs: outputs, Attrs: a.graph()}
}

// running is a body that adds up: s' = s + x, y = 2s'.
func running() graph.Attr {
	return body([]string{"s", "e"}, []string{"t", "twice"}, nil, node("Add", nil, "t", "s", "e"),
		node("Add", nil, "twice", "t", "t"))
}

// TestScan walks through axes in both directions.
func TestScan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		attrs attrs
		state []int
		out   string // "y" is gathered, "last" the state
		shape []int
		want  []float64
	}{
		{"the first axis", attrs{}, []int{2}, "y", []int{3, 2}, []float64{0, 2, 4, 8, 12, 18}},
		{"backwards", attrs{"scan_input_directions": []int64{1}}, []int{2}, "y", []int{3, 2},
			[]float64{8, 10, 12, 16, 12, 18}},
		{"backwards, gathered backwards", attrs{"scan_input_directions": []int64{1},
			"scan_output_directions": []int64{1}}, []int{2}, "y", []int{3, 2}, []float64{12, 18, 12, 16, 8, 10}},
		{"gathered along another axis", attrs{"scan_output_axes": []int64{1}}, []int{2}, "y", []int{2, 3},
			[]float64{0, 4, 12, 2, 8, 18}},
		{"the last axis", attrs{"scan_input_axes": []int64{-1}, "scan_output_axes": []int64{-1}}, []int{3}, "y",
			[]int{3, 2}, []float64{0, 2, 4, 10, 8, 18}},
		{"the last state", attrs{"scan_input_axes": []int64{1}}, []int{3}, "last", []int{3}, []float64{1, 5, 9}},
	} {
		init := map[string]*graph.Tensor{"zero": reals(c.state, make([]float64, graph.Size(c.state))...)}
		g := network([]int{3, 2}, init, scanNode(c.attrs, running(), []string{"zero", "x"}, []string{"last", "all"}),
			node("Identity", nil, "y", map[string]string{"y": "all", "last": "last"}[c.out]))
		p := prepare(t, g)
		got, err := execute(p, count(6))
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(p.Known["y"].Shape, c.shape) {
			t.Errorf("%s: %v of shape %v (%v), want %v of shape %v", c.name, got, p.Known["y"].Shape, err, c.want,
				c.shape)
		}
	}
}

// TestScanAround reads a constant around the body, computes one beside it and needs no state.
func TestScanAround(t *testing.T) {
	t.Parallel()
	b := body([]string{"e"}, []string{"f"}, nil, node("Mul", nil, "f", "e", "six"))
	g := network([]int{2}, map[string]*graph.Tensor{"two": scalar(2), "three": scalar(3)},
		node("Mul", nil, "six", "two", "three"), scanNode(attrs{}, b, []string{"x"}, []string{"y"}))
	if got, err := execute(prepare(t, g), []float64{1, 5}); err != nil || !slices.Equal(got, []float64{6, 30}) {
		t.Error(got, err)
	}
}

// TestScanRefusals gives loops that contradict themselves or that cannot be built.
func TestScanRefusals(t *testing.T) {
	t.Parallel()
	in, out := []string{"zero", "x"}, []string{"last", "y"}
	zero := func() map[string]*graph.Tensor {
		return map[string]*graph.Tensor{"zero": reals([]int{2}, 0, 0), "two": reals([]int{2}, 0, 0),
			"whole": int64s(0, 0)}
	}
	nested := body([]string{"s", "e"}, []string{"t", "z"}, nil, node("Add", nil, "t", "s", "e"),
		scanNode(attrs{}, body([]string{"v"}, []string{"w"}, nil, node("Neg", nil, "w", "v")), []string{"e"},
			[]string{"z"}))
	for _, c := range []struct {
		name  string
		nodes []*graph.Node
		code  diag.Code
		says  string
	}{
		{"no body", []*graph.Node{{Op: "Scan", Inputs: in, Outputs: out, Attrs: attrs{"num_scan_inputs": 1}.graph()}},
			diag.OpInvalid, "no body"},
		{"nothing scanned", []*graph.Node{scanNode(attrs{"num_scan_inputs": 0}, running(), in, out)}, diag.OpInvalid,
			"num_scan_inputs is 0"},
		{"more scanned than there is", []*graph.Node{scanNode(attrs{"num_scan_inputs": 3}, running(), in, out)},
			diag.OpInvalid, "num_scan_inputs is 3"},
		{"states alone", []*graph.Node{scanNode(attrs{}, running(), []string{"zero", "two", "x"}, out)}, diag.OpInvalid,
			"the body has 2 inputs"},
		{"an output too many", []*graph.Node{scanNode(attrs{}, running(), in, []string{"last", "y", "more"})},
			diag.OpInvalid, "the body has 2 inputs and 2 outputs"},
		{"an input is omitted", []*graph.Node{scanNode(attrs{}, running(), []string{"", "x"}, out)}, diag.OpInvalid,
			"input 0 is missing"},
		{"an axis that is not there", []*graph.Node{scanNode(attrs{"scan_input_axes": []int64{2}}, running(), in, out)},
			diag.OpInvalid, "axis 2"},
		{"a wild axis", []*graph.Node{scanNode(attrs{"scan_input_axes": []int64{math.MinInt64}}, running(), in, out)},
			diag.OpInvalid, "scan_input_axes"},
		{"an output axis that is not there", []*graph.Node{scanNode(attrs{"scan_output_axes": []int64{-3}}, running(),
			in, out)}, diag.OpInvalid, "axis -3"},
		{"a direction", []*graph.Node{scanNode(attrs{"scan_output_directions": []int64{2}}, running(), in, out)},
			diag.OpInvalid, "scan_output_directions holds 2"},
		{"two directions for one tensor", []*graph.Node{scanNode(attrs{"scan_input_directions": []int64{0, 1}},
			running(), in, out)}, diag.OpInvalid, "0 and 2 entries for 1 tensors"},
		{"lengths that differ", []*graph.Node{scanNode(attrs{"num_scan_inputs": 2}, running(), in, out)},
			diag.OpInvalid, "has 2 elements to scan"},
		{"a state that grows", []*graph.Node{scanNode(attrs{},
			body([]string{"s", "e"}, []string{"t", "e"}, nil, node("Concat", attrs{"axis": 0}, "t", "s", "e")), in,
			out)}, diag.OpInvalid, "state 0"},
		{"a state of another type", []*graph.Node{scanNode(attrs{}, running(), []string{"whole", "x"}, out)},
			diag.OpInvalid, "the body takes float32"},
		{"data around the body", []*graph.Node{node("Neg", nil, "data", "x"),
			scanNode(attrs{}, body([]string{"s", "e"}, []string{"s", "t"}, nil, node("MatMul", nil, "t", "data", "e")),
				in, out)}, diag.OpUnsupported, `reads "data"`},
		{"a tensor that nobody writes", []*graph.Node{scanNode(attrs{},
			body([]string{"s", "e"}, []string{"s", "t"}, nil, node("Add", nil, "t", "e", "ghost")), in, out)},
			diag.ModelMalformed, "ghost"},
		{"a fault in the body", []*graph.Node{scanNode(attrs{},
			body([]string{"s", "e"}, []string{"s", "t"}, nil, node("Reshape", nil, "t", "e", "e")), in, out)},
			diag.ShapeUnknown, "depends on the data"},
		{"a loop in the body", []*graph.Node{scanNode(attrs{}, nested, in, out)}, diag.OpUnsupported,
			"inside the body"},
	} {
		g := network([]int{3, 2}, zero(), c.nodes...)
		refused(t, c.name, g, c.code, c.says)
	}
}

// TestScanLimits asks for too much: many runs, or long ones.
func TestScanLimits(t *testing.T) {
	t.Parallel()
	one := map[string]*graph.Tensor{"zero": scalar(0), "big": reals([]int{1 << 12, 1}, make([]float64, 1<<12)...),
		"wide": reals([]int{1, 1 << 12}, make([]float64, 1<<12)...)}
	in, out := []string{"zero", "x"}, []string{"last", "y"}
	costly := body([]string{"s", "e"}, []string{"s", "u"}, nil, node("Mul", nil, "v", "e", "big"),
		node("MatMul", nil, "u", "v", "wide"))
	for _, c := range []struct {
		name   string
		length int
		body   graph.Attr
	}{
		{"runs", 1<<20 + 1, body([]string{"s", "e"}, []string{"s", "e"}, nil)},
		{"work", 1 << 10, costly},
		{"steps", 1 << 20, body([]string{"s", "e"}, []string{"s", "t"}, nil, func() (nodes []*graph.Node) {
			last := "e"
			for i := range 100 {
				name := fmt.Sprint("n", i)
				nodes, last = append(nodes, node("Neg", nil, name, last)), name
			}
			return append(nodes, node("Neg", nil, "t", last))
		}()...)},
	} {
		g := network([]int{c.length}, one, scanNode(attrs{}, c.body, in, out))
		var d diag.List
		if graph.Prepare(g, "m", graph.Options{}, &d) != nil || len(d.Diags) != 1 ||
			d.Diags[0].Code != diag.ModelTooLarge {
			t.Errorf("%s: %v", c.name, d.Diags)
		}
	}
}

// TestDecisionsThroughLoops rounds a sum of thirds: each run leaves an interval, and only the exact history knows that
// three of them are a whole number.
func TestDecisionsThroughLoops(t *testing.T) {
	t.Parallel()
	third := body([]string{"s", "e"}, []string{"t", "t"}, map[string]*graph.Tensor{"three": scalar(3)},
		node("Div", nil, "d", "e", "three"), node("Add", nil, "t", "s", "d"))
	g := network([]int{6}, map[string]*graph.Tensor{"zero": scalar(0)},
		scanNode(attrs{}, third, []string{"zero", "x"}, []string{"last", "all"}), node("Floor", nil, "y", "all"))
	got, err := execute(prepare(t, g), []float64{1, 1, 1, 1, 1, 1})
	if want := []float64{0, 0, 1, 1, 1, 2}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	// Inside the body, from the state; and the rounding of an output that stays real.
	floors := body([]string{"s", "e"}, []string{"t", "f"}, map[string]*graph.Tensor{"three": scalar(3)},
		node("Div", nil, "d", "e", "three"), node("Add", nil, "t", "s", "d"), node("Floor", nil, "f", "t"))
	g = network([]int{3}, map[string]*graph.Tensor{"zero": scalar(0)},
		scanNode(attrs{}, floors, []string{"zero", "x"}, []string{"last", "all"}), node("Add", nil, "y", "last", "all"))
	if got, err := execute(prepare(t, g), []float64{1, 1, 1}); err != nil || !slices.Equal(got, []float64{1, 1, 2}) {
		t.Errorf("%v %v, want 1, 1, 2", got, err)
	}
	// Truths that are no float64 pass through.
	all := body([]string{"s", "e"}, []string{"e", "s"}, nil)
	g = network([]int{2}, map[string]*graph.Tensor{"zero": scalar(0)},
		scanNode(attrs{}, all, []string{"zero", "x"}, []string{"last", "all"}), node("Floor", nil, "y", "last"))
	part, err := graph.NewPart(prepare(t, g), []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	near := big.NewRat(1, 1)
	near.Sub(near, new(big.Rat).SetFrac64(1, math.MaxInt64)) // float64 has nothing between this and 1
	x := &graph.Reals{Shape: []int{2}, Lo: []float64{0, math.Nextafter(1, 0)}, Hi: []float64{0, 1},
		Truth: func(i int) *big.Rat {
			if i == 0 {
				return new(big.Rat)
			}
			return near
		}}
	if out, _, err := part.Run([]*graph.Reals{x}); err != nil || out[0].Lo[0] != 0 || out[0].Hi[0] != 0 {
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
	b := body([]string{"s", "e"}, []string{"t", "t"}, map[string]*graph.Tensor{"mix": reals([]int{units, units},
		mix...)}, node("MatMul", nil, "m", "s", "mix"), node("Add", nil, "a", "m", "e"), node("Tanh", nil, "t", "a"))
	g := network([]int{4000, 1}, map[string]*graph.Tensor{"zero": reals([]int{1, units}, make([]float64, units)...)},
		scanNode(attrs{}, b, []string{"zero", "x"}, []string{"last", "all"}), node("Floor", nil, "y", "last"))
	x := make([]float64, 4000)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	if _, err := execute(prepare(t, g), x); err == nil || !strings.Contains(err.Error(), "too many runs") {
		t.Errorf("%v, want an error about too many runs", err)
	}
}

// TestLoopsInParallel runs forks of one part with a loop at the same time.
func TestLoopsInParallel(t *testing.T) {
	t.Parallel()
	g := network([]int{3, 2}, map[string]*graph.Tensor{"zero": reals([]int{2}, 0, 0)},
		scanNode(attrs{}, running(), []string{"zero", "x"}, []string{"last", "y"}))
	part, err := graph.NewPart(prepare(t, g), []string{"x"}, []string{"y", "last"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []float64)
	for k := range 8 {
		go func() {
			x := count(6)
			x[5] = float64(k)
			out, _, err := part.Fork().Run([]*graph.Reals{graph.NewExactReals([]int{3, 2}, x)})
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
	quant := map[string]*graph.Tensor{"w": reals([]int{2, 2}, 0.3, -0.7, 0.9, 0.1), "q": scalar(0.05), "z": scalar(0)}
	code := func(out, in string) *graph.Node {
		return node("Code", attrs{"lo": -20.0, "hi": 20.0, "mode": int(real.HalfEven), "zero_first": 1}, out, in, "q",
			"z")
	}
	cell := func(state, x, suffix string) []*graph.Node {
		return []*graph.Node{node("MatMul", nil, "m"+suffix, state, "w"), node("Add", nil, "a"+suffix, "m"+suffix, x),
			node("Tanh", nil, "h"+suffix, "a"+suffix), code("c"+suffix, "h"+suffix),
			node("Mul", nil, "v"+suffix, "c"+suffix, "q")}
	}
	b := body([]string{"s", "e"}, []string{"v", "v"}, nil, cell("s", "e", "")...)
	init := map[string]*graph.Tensor{"zero": reals([]int{1, 2}, 0, 0), "axes": int64s(0)}
	for name, v := range quant {
		init[name] = v
	}
	loop := network([]int{3, 1, 2}, init, scanNode(attrs{}, b, []string{"zero", "x"}, []string{"y", "all"}))
	nodes, state := []*graph.Node{}, "zero"
	for k := range 3 {
		at := fmt.Sprint(k)
		init["at"+at] = &graph.Tensor{DType: graph.Int64, I: []int64{int64(k)}}
		nodes = append(nodes, node("Gather", attrs{"axis": 0}, "x"+at, "x", "at"+at))
		nodes = append(nodes, cell(state, "x"+at, at)...)
		state = "v" + at
	}
	flat := network([]int{3, 1, 2}, init, append(nodes, node("Identity", nil, "y", state))...)
	x := []*graph.Reals{graph.NewExactReals([]int{3, 1, 2}, []float64{0.1, 0.7, -0.3, 0.25, 0.6, -0.9})}
	parts := map[string]*graph.ProgramPart{}
	for name, g := range map[string]*graph.Graph{"loop": loop, "flat": flat} {
		part, err := graph.NewPart(prepare(t, g), []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		part.Watch = true
		parts[name] = part
	}
	if codes := parts["loop"].QuantiserTensors(); !slices.Equal(codes, []string{"y[0].c", "y[1].c", "y[2].c"}) {
		t.Errorf("codes %v", codes)
	}
	same := func(what string, a, b map[string]*graph.Reals) {
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
	for _, v := range graph.Variants {
		same(fmt.Sprint(v), parts["loop"].RunFloat32(x, v), parts["flat"].RunFloat32(x, v))
	}
	boundsLoop, openLoop := parts["loop"].Bounds32(x, exactLoop)
	boundsFlat, openFlat := parts["flat"].Bounds32(x, exactFlat)
	same("bounds", boundsLoop, boundsFlat)
	for k := range 3 {
		if a, b := openLoop[fmt.Sprintf("y[%d].c", k)], openFlat[fmt.Sprintf("c%d", k)]; !slices.Equal(a, b) ||
			len(a) != 2 {
			t.Errorf("open in run %d: %v, want %v", k, a, b)
		}
	}
}
