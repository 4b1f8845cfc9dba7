package operators_test

import (
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

// TestOfConstants runs the operators that make tensors of constants alone: what computes shapes and masks.
func TestOfConstants(t *testing.T) {
	t.Parallel()
	one := func(v int64) *graph.ConstantTensor { return graphtest.Ints(graph.DTypeInt64, nil, v) }
	for _, c := range []struct {
		name  string
		op    string
		args  []*graph.ConstantTensor
		shape []int
		want  []float64
		code  diag.Code // of the refusal
	}{
		{name: "counting", op: "Range", args: []*graph.ConstantTensor{one(3), one(10), one(3)}, shape: []int{3},
			want: []float64{3, 6, 9}},
		{name: "counting down", op: "Range", args: []*graph.ConstantTensor{graphtest.Scalar(1), graphtest.Scalar(-1),
			graphtest.Scalar(-0.75)},
			shape: []int{3}, want: []float64{1, 0.25, -0.5}},
		{name: "counting nothing", op: "Range", args: []*graph.ConstantTensor{graphtest.Scalar(1), graphtest.Scalar(-1),
			graphtest.Scalar(1)},
			shape: []int{0}, want: []float64{}},
		{name: "steps of nothing", op: "Range", args: []*graph.ConstantTensor{graphtest.Scalar(1), graphtest.Scalar(1),
			graphtest.Scalar(0)},
			code: diag.OpInvalid},
		{name: "steps without end", op: "Range", args: []*graph.ConstantTensor{graphtest.Scalar(0),
			graphtest.Scalar(1e30),
			graphtest.Scalar(1)},
			code: diag.ModelTooLarge},
		{name: "steps that are no float64", op: "Range",
			args: []*graph.ConstantTensor{graphtest.Scalar(0x1p54), graphtest.Scalar(0x1p54 + 16),
				graphtest.Scalar(4.5)},
			code: diag.OpUnsupported},
		{name: "places", op: "NonZero", args: []*graph.ConstantTensor{graphtest.Reals([]int{2, 3}, 0, 5, 0, -1, 0,
			0.5)},
			shape: []int{2, 3}, want: []float64{0, 1, 1, 1, 0, 2}},
		{name: "no places", op: "NonZero", args: []*graph.ConstantTensor{graphtest.Int64s(0, 0)}, shape: []int{1, 0},
			want: []float64{}},
		{name: "a minifloat", op: "DequantizeLinear", args: []*graph.ConstantTensor{
			{DType: graph.DTypeFloat8E4M3FN, Shape: []int{2}, F: []float64{0.5, -448}}, graphtest.Scalar(2)},
			shape: []int{2},
			want:  []float64{1, -896}},
		{name: "places of a number", op: "NonZero", args: []*graph.ConstantTensor{graphtest.Scalar(1)},
			code: diag.OpInvalid},
	} {
		g := graphtest.Single("", c.op, 13, nil, func(int) bool { return false }, c.args...)
		var d diag.List
		p := operators.Prepare(g, "m", operators.Options{}, &d)
		switch {
		case c.code != "":
			if p != nil || len(d.Diags) != 1 || d.Diags[0].Code != c.code {
				t.Errorf("%s: %v, want %s", c.name, d.Diags, c.code)
			}
		case p == nil:
			t.Errorf("%s: %v", c.name, d.Diags)
		default:
			k := p.Known["y"]
			if k.Const == nil || !slices.Equal(k.Shape, c.shape) || !slices.Equal(values(k.Const), c.want) {
				t.Errorf("%s: %v of shape %v, want %v of %v", c.name, k.Const, k.Shape, c.want, c.shape)
			}
		}
	}
}
