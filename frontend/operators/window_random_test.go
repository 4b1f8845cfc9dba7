package operators_test

import (
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

// imageNodes are valid nodes of the operators on images, to spoil.
func imageNodes() []opCase {
	pixels, signal := graphtest.Reals([]int{1, 2, 3, 3}, graphtest.Count(18)...), graphtest.Reals([]int{1, 2, 4},
		graphtest.Count(8)...)
	kernel := graphtest.Attrs{"kernel_shape": []int64{2, 2}}
	nodes := []opCase{
		{op: "Conv", args: []*graph.ConstantTensor{pixels, graphtest.Reals([]int{2, 2, 2, 2}, graphtest.Count(16)...),
			graphtest.Reals([]int{2}, 1, 2)}},
		{op: "Conv", args: []*graph.ConstantTensor{signal, graphtest.Reals([]int{2, 1, 2}, graphtest.Count(4)...)},
			attrs: graphtest.Attrs{"group": 2}},
		{op: "Conv", domain: channelsLast, args: []*graph.ConstantTensor{pixels, graphtest.Reals([]int{1, 1, 1, 3}, 1,
			2, 3)}},
		{op: "ConvTranspose", args: []*graph.ConstantTensor{pixels, graphtest.Reals([]int{2, 1, 2, 2},
			graphtest.Count(8)...),
			graphtest.Reals([]int{1}, 1)}},
		{op: "ConvInteger", args: []*graph.ConstantTensor{u8([]int{1, 1, 2}, 1, 2), u8([]int{2, 1, 1}, 1, 2), u8(nil,
			1),
			u8([]int{2}, 1, 2)}},
		{op: "MaxPool", attrs: kernel, args: []*graph.ConstantTensor{pixels}},
		{op: "AveragePool", attrs: kernel, args: []*graph.ConstantTensor{pixels}},
		{op: "MaxPool", domain: channelsLast, attrs: kernel, args: []*graph.ConstantTensor{pixels}},
		{op: "GlobalMaxPool", args: []*graph.ConstantTensor{signal}},
		{op: "GlobalAveragePool", args: []*graph.ConstantTensor{pixels}},
		{op: "Pad", args: []*graph.ConstantTensor{signal, graphtest.Int64s(0, 1, 0, 1, 0, 0), graphtest.Scalar(2),
			graphtest.Int64s(0, 1, 2)}},
		{op: "Resize", args: []*graph.ConstantTensor{signal, nil, graphtest.Reals([]int{3}, 1, 1, 2)}},
		{op: "Resize", args: []*graph.ConstantTensor{signal, nil, nil, graphtest.Int64s(1, 2, 8)}},
		{op: "Upsample", args: []*graph.ConstantTensor{signal, graphtest.Reals([]int{3}, 1, 1, 2)}},
		{op: "DepthToSpace", attrs: graphtest.Attrs{"blocksize": 1}, args: []*graph.ConstantTensor{pixels}},
		{op: "SpaceToDepth", attrs: graphtest.Attrs{"blocksize": 3}, args: []*graph.ConstantTensor{pixels}},
		{op: "Gather", args: []*graph.ConstantTensor{graphtest.Reals([]int{3, 2}, graphtest.Count(6)...),
			graphtest.Int64s(1)}},
	}
	for _, op := range []string{"Mean", "Sum", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"} {
		nodes = append(nodes, opCase{op: "Reduce" + op, args: []*graph.ConstantTensor{pixels, graphtest.Int64s(2, 3)}})
	}
	for _, c := range quantisedCases {
		nodes = append(nodes, opCase{op: c.op, domain: c.domain, attrs: c.attrs, args: c.args})
	}
	return nodes
}

// TestSpoiledWindows spoils valid nodes: each is refused with a diagnostic, or runs, or fails with an error.
func TestSpoiledWindows(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	names := []string{"strides", "dilations", "pads", "kernel_shape", "group", "auto_pad", "ceil_mode",
		"count_include_pad", "output_shape", "output_padding", "blocksize", "mode",
		"coordinate_transformation_mode", "nearest_mode", "scales", "axes", "keepdims", "noop_with_empty_axes",
		"channels_last", "axis", "value", "antialias", "paddings", "dims"}
	words := []string{"SAME_UPPER", "SAME_LOWER", "VALID", "reflect", "edge", "wrap", "linear", "CRD", "align_corners",
		"asymmetric", "floor", ""}
	r := rand.New(rand.NewPCG(9, 1))
	integer := func() int64 {
		return []int64{0, 0, 1, 1, 1, 2, 2, 3, -1, -2, 7, 1 << 27, 1 << 31, 1 << 40, math.MaxInt64,
			math.MinInt64}[r.IntN(16)]
	}
	list := func() (v []int64) {
		for range r.IntN(7) {
			v = append(v, integer())
		}
		return v
	}
	nodes := imageNodes()
	ran := 0
	for range 20000 {
		c := nodes[r.IntN(len(nodes))]
		a, args := maps.Clone(c.attrs), slices.Clone(c.args)
		if a == nil {
			a = graphtest.Attrs{}
		}
		for range r.IntN(4) {
			a[names[r.IntN(len(names))]] = []any{integer(), list(), list(), words[r.IntN(len(words))],
				[]float64{1, 1, float64(integer())}}[r.IntN(5)]
		}
		if r.IntN(3) == 0 {
			i, shape := r.IntN(len(args)), []int{}
			for range r.IntN(6) {
				shape = append(shape, r.IntN(4))
			}
			args[i] = whole(r, shape...)
			if r.IntN(2) == 0 {
				args[i] = graphtest.Int64s(list()...)
			}
		}
		g := graphtest.Single(c.domain, c.op, int64(1+r.IntN(21)), a, func(i int) bool {
			return i == 0 &&
				r.IntN(2) == 0
		},
			args...)
		operators.DecomposeOperators(g)
		var d diag.List
		p := operators.Prepare(g, "m", operators.Options{}, &d)
		if p == nil {
			if len(d.Diags) == 0 {
				t.Fatalf("%s %v: refused without a reason", c.op, a)
			}
			continue
		}
		checkWindows(t, c.op, p)
		var in [][]float64
		for _, v := range g.Inputs {
			in = append(in, make([]float64, graph.ElementCount(p.Known[v.Name].Shape)))
		}
		if _, err := graphtest.Execute(p, in...); err == nil {
			ran++
		}
	}
	if ran < 2000 {
		t.Errorf("only %d nodes ran", ran)
	}
}
