package operators_test

import (
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/testsupport/graphtest"
)

// u8 and i8 are quantised data; every scale below is a power of two, so that the expected codes are plain to see.
func u8(shape []int, v ...int64) *graph.ConstantTensor {
	return graphtest.Ints(graph.DTypeUInt8, shape, v...)
}
func i8(shape []int, v ...int64) *graph.ConstantTensor {
	return graphtest.Ints(graph.DTypeInt8, shape, v...)
}

var quantisedCases = []opCase{
	// (1 2 3 4) around zero point 10, kernel (1, -1) and (2, 0): sums (-1 -1 -1), (2 4 6); bias 4, -4 of scale 1/2 1/4.
	{name: "quantised convolution", op: "QLinearConv", args: []*graph.ConstantTensor{u8([]int{1, 1, 4}, 11, 12, 13, 14),
		graphtest.Scalar(0.5), u8(nil, 10), i8([]int{2, 1, 2}, 1, -1, 2, 0), graphtest.Reals([]int{2}, 0.5, 1),
		i8([]int{2}, 0, 0),
		graphtest.Scalar(0.25), u8(nil, 100), graphtest.Ints(graph.DTypeInt32, []int{2}, 4, -4)}, fixed: true,
		shape: []int{1, 2, 3}, want: []float64{103, 103, 103, 96, 100, 104}},
	// What is padded is 0, which is the zero point's code.
	{name: "quantised convolution, padded", op: "QLinearConv", attrs: graphtest.Attrs{"pads": []int64{1, 0}},
		args: []*graph.ConstantTensor{u8([]int{1, 1, 2}, 11, 12), graphtest.Scalar(1), u8(nil, 10), i8([]int{1, 1, 2},
			3, 4),
			graphtest.Scalar(1),
			i8(nil, 1), graphtest.Scalar(1), u8(nil, 5)}, fixed: true,
		shape: []int{1, 1, 2}, want: []float64{8, 13}},
	{name: "convolution of bytes", op: "ConvInteger", attrs: graphtest.Attrs{"pads": []int64{0, 1}},
		args: []*graph.ConstantTensor{u8([]int{1, 1, 2}, 11, 12), u8([]int{2, 1, 2}, 3, 4, 255, 0), u8(nil, 10),
			u8([]int{2}, 1, 128)}, fixed: true, shape: []int{1, 2, 2}, want: []float64{8, 4, -129, 254}},
	{name: "quantised addition", domain: "com.microsoft", op: "QLinearAdd",
		args: []*graph.ConstantTensor{u8([]int{2}, 3, 250), graphtest.Scalar(0.5), u8(nil, 1), u8([]int{1}, 4),
			graphtest.Scalar(0.25), u8(nil, 0),
			graphtest.Scalar(1), u8(nil, 7)}, fixed: true, shape: []int{2}, want: []float64{9, 133}},
	{name: "quantised product", domain: "com.microsoft", op: "QLinearMul",
		args: []*graph.ConstantTensor{i8([]int{2}, 3, -6), graphtest.Scalar(0.5), i8(nil, 0), i8([]int{2}, 4, 100),
			graphtest.Scalar(1), i8(nil, 0),
			graphtest.Scalar(2), i8(nil, 0)}, fixed: true, shape: []int{2}, want: []float64{3, -128}},
	{name: "quantised slope", domain: "com.microsoft", op: "QLinearLeakyRelu", attrs: graphtest.Attrs{"alpha": 0.25},
		args: []*graph.ConstantTensor{i8([]int{2}, 8, -8), graphtest.Scalar(0.5), i8(nil, 0), graphtest.Scalar(1),
			i8(nil, 1)},
		fixed: true,
		shape: []int{2}, want: []float64{5, 0}},
	{name: "quantised sigmoid without zero points", domain: "com.microsoft", op: "QLinearSigmoid",
		args:  []*graph.ConstantTensor{u8([]int{2}, 0, 255), graphtest.Scalar(1), nil, graphtest.Scalar(0.0078125)},
		fixed: true, shape: []int{2},
		want: []float64{64, 128}},
	{name: "quantised means", domain: "com.microsoft", op: "QLinearGlobalAveragePool",
		args: []*graph.ConstantTensor{u8([]int{1, 2, 2}, 1, 3, 10, 20), graphtest.Scalar(0.5), u8(nil, 1),
			graphtest.Scalar(0.5), u8(nil, 0)},
		fixed: true, shape: []int{1, 2, 1}, want: []float64{1, 14}},
	{name: "quantised means, channels last", domain: "com.microsoft", op: "QLinearGlobalAveragePool",
		attrs: graphtest.Attrs{"channels_last": 1}, args: []*graph.ConstantTensor{u8([]int{1, 2, 2}, 1, 3, 10, 20),
			graphtest.Scalar(0.5),
			u8(nil, 1), graphtest.Scalar(0.5), u8(nil, 0)}, fixed: true, shape: []int{1, 1, 2}, want: []float64{4, 10}},
	{name: "quantised windows", domain: "com.microsoft", op: "QLinearAveragePool",
		attrs: graphtest.Attrs{"kernel_shape": []int64{2}}, args: []*graph.ConstantTensor{u8([]int{1, 1, 3}, 1, 3, 11),
			graphtest.Scalar(1),
			u8(nil, 0), graphtest.Scalar(1), u8(nil, 1)}, fixed: true, shape: []int{1, 1, 2}, want: []float64{3, 8}},
	// (1 2) times (1 3; 2 4) is (5 11), in steps of 1/2 * 1/4; C adds 16 and -16 of these.
	{name: "quantised gemm", domain: "com.microsoft", op: "QGemm", args: []*graph.ConstantTensor{u8([]int{1, 2}, 11,
		12),
		graphtest.Scalar(0.5), u8(nil, 10), i8([]int{2, 2}, 1, 3, 2, 4), graphtest.Scalar(0.25), i8(nil, 0),
		graphtest.Ints(graph.DTypeInt32, []int{2}, 16, -16), graphtest.Scalar(0.125), u8(nil, 7)}, fixed: true,
		shape: []int{1, 2},
		want:  []float64{28, 2}},
	{name: "quantised gemm, turned, in columns and times 2", domain: "com.microsoft", op: "QGemm",
		attrs: graphtest.Attrs{"transA": 1, "transB": 1, "alpha": 2.0}, args: []*graph.ConstantTensor{u8([]int{2, 1},
			11, 12),
			graphtest.Scalar(0.5), u8(nil, 10), i8([]int{2, 2}, 1, 2, 3, 4), graphtest.Reals([]int{2}, 0.25, 0.5),
			i8([]int{2}, 0, 0),
			graphtest.Ints(graph.DTypeInt32, []int{2}, 16, -16), graphtest.Scalar(0.25), u8(nil, 7)}, fixed: true,
		shape: []int{1, 2},
		want:  []float64{28, 0}},
	{name: "quantised gemm without C", domain: "com.microsoft", op: "QGemm", args: []*graph.ConstantTensor{
		i8([]int{1, 2}, 1, 2), graphtest.Scalar(0.5), i8(nil, 0), i8([]int{2, 2}, 1, 3, 2, -4), graphtest.Scalar(0.25),
		i8(nil, 0), nil,
		graphtest.Scalar(0.125)}, fixed: true, shape: []int{1, 2}, want: []float64{5, -5}}, // signed as the data are
	{name: "quantised gemm of a real result", domain: "com.microsoft", op: "QGemm", args: []*graph.ConstantTensor{
		i8([]int{1, 2}, 1, 2), graphtest.Scalar(0.5), i8(nil, 0), i8([]int{2, 2}, 1, 3, 2, -4), graphtest.Scalar(0.25),
		i8(nil, 1),
		graphtest.Ints(graph.DTypeInt32, []int{2}, 8, 16)}, fixed: true, shape: []int{1, 2}, want: []float64{1.25, 1}},
	{name: "quantised matrices, a real result", domain: "com.microsoft", op: "MatMulIntegerToFloat",
		args: []*graph.ConstantTensor{u8([]int{1, 2}, 3, 4), i8([]int{2, 1}, 5, -6), graphtest.Scalar(0.5),
			graphtest.Scalar(2), u8(nil, 1),
			i8(nil, 1), graphtest.Reals([]int{1}, 100)}, fixed: true, shape: []int{1, 1}, want: []float64{87}},
	{name: "quantised softmax", domain: "com.microsoft", op: "QLinearSoftmax", attrs: graphtest.Attrs{"axis": -1,
		"opset": 13},
		args: []*graph.ConstantTensor{u8([]int{1, 1, 2}, 5, 5), graphtest.Scalar(1), u8(nil, 0),
			graphtest.Scalar(0.00390625),
			u8(nil, 1)},
		fixed: true, shape: []int{1, 1, 2}, want: []float64{129, 129}},
	{name: "quantised softmax as it was", domain: "com.microsoft", op: "QLinearSoftmax",
		attrs: graphtest.Attrs{"axis": 1, "opset": 11}, args: []*graph.ConstantTensor{u8([]int{1, 2, 2}, 5, 5, 5, 5),
			graphtest.Scalar(1), nil,
			graphtest.Scalar(0.00390625), u8(nil, 1)}, fixed: true, shape: []int{1, 2, 2}, want: []float64{65, 65, 65,
			65}},
	{name: "quantised convolution, channels last", domain: "com.microsoft", op: "QLinearConv",
		attrs: graphtest.Attrs{"channels_last": 1}, args: []*graph.ConstantTensor{u8([]int{1, 2, 2}, 11, 12, 13, 14),
			graphtest.Scalar(0.5),
			u8(nil, 10), i8([]int{2, 2, 1}, 1, -1, 2, 0), graphtest.Reals([]int{2}, 0.5, 1), i8([]int{2}, 0, 0),
			graphtest.Scalar(0.25),
			u8(nil, 100), graphtest.Ints(graph.DTypeInt32, []int{2}, 4, -4)}, fixed: true, shape: []int{1, 2, 2},
		want: []float64{103, 96, 103, 104}},
	{name: "onnxruntime's quantiser", domain: "com.microsoft", op: "QuantizeLinear",
		args: []*graph.ConstantTensor{graphtest.Reals([]int{2}, -3, 700), graphtest.Scalar(0.5),
			graphtest.Ints(graph.DTypeInt16,
				nil, 10)}, fixed: true,
		shape: []int{2}, want: []float64{4, 1410}},
	{name: "onnxruntime's dequantiser", domain: "com.microsoft", op: "DequantizeLinear",
		args: []*graph.ConstantTensor{graphtest.Ints(graph.DTypeInt16, []int{2}, -3, 700), graphtest.Scalar(0.5),
			graphtest.Ints(graph.DTypeInt16, nil, 10)},
		fixed: true, shape: []int{2}, want: []float64{-6.5, 345}},
	{name: "maxima, channels last", domain: "com.microsoft", op: "NhwcMaxPool",
		attrs: graphtest.Attrs{"kernel_shape": []int64{2}}, args: []*graph.ConstantTensor{i8([]int{1, 2, 2}, 1, -4, -3,
			2)},
		shape: []int{1, 1, 2}, want: []float64{1, 2}},
	// (x*3 + 1)/4 + 1/2: 0.75 1.5 -> 0 1 for 0 1; -2.5 -> -3 for -4.
	{name: "shifts", op: "RequantShift", attrs: graphtest.Attrs{"div": 4, "n_levels": 256, "signed": 1},
		args: []*graph.ConstantTensor{graphtest.Reals([]int{1, 4}, 0, 1, -4, 200), graphtest.Scalar(3),
			graphtest.Scalar(1)},
		fixed: true, shape: []int{1, 4}, want: []float64{0, 1, -3, 127}},
	{name: "shifts, unsigned and by tensors", domain: "PACTOps", op: "RequantShift",
		attrs: graphtest.Attrs{"div": graphtest.Scalar(2), "n_levels_out": graphtest.Reals([]int{1}, 16),
			"signed": graphtest.Ints(graph.DTypeInt64, nil, 0)},
		args: []*graph.ConstantTensor{graphtest.Reals([]int{1, 2, 1, 2}, -3, 4, 5, 6), graphtest.Reals([]int{2, 1, 1},
			1, 2),
			graphtest.Reals([]int{2}, 0, -2)},
		fixed: true, shape: []int{1, 2, 1, 2}, want: []float64{0, 1, 5, 5}},
	{name: "shifts along the channels of an image", op: "RequantShift",
		attrs: graphtest.Attrs{"div": 1.0, "n_levels": 5, "signed": 1},
		args: []*graph.ConstantTensor{graphtest.Reals([]int{1, 2, 1, 3}, 0, 1, 2, 0, 1, 2), graphtest.Reals([]int{2},
			1, -1),
			graphtest.Reals([]int{1, 2}, 0, 0)},
		fixed: true, shape: []int{1, 2, 1, 3}, want: []float64{0, 1, 2, 0, -1, -2}},
}

func TestQuantisedOperators(t *testing.T) {
	t.Parallel()
	for _, c := range quantisedCases {
		c.check(t)
	}
	// QLinearConcat has parameters in front of its data.
	args := []*graph.ConstantTensor{graphtest.Scalar(0.5), u8(nil, 1), u8([]int{1}, 3), graphtest.Scalar(1), u8(nil, 0),
		u8([]int{2}, 3, 4),
		graphtest.Scalar(0.5), u8(nil, 1)}
	g := graphtest.Single("com.microsoft", "QLinearConcat", 1, graphtest.Attrs{"axis": 0},
		func(i int) bool { return i == 2 }, args...)
	operators.DecomposeOperators(g)
	p := operators.Prepare(g, "m", operators.Options{}, nil)
	if p == nil {
		t.Fatal("quantised concatenation is refused")
	}
	if got, err := graphtest.Execute(p, []float64{3}); err != nil || !slices.Equal(got, []float64{7, 3, 4}) {
		t.Errorf("quantised concatenation: %v, %v", got, err)
	}
}
