package operators_test

import (
	"math"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

type opCase struct {
	name   string
	domain string
	op     string
	opset  int64 // 0 is 13
	attrs  graphtest.Attrs
	args   []*graph.Tensor
	fixed  bool // every argument but the first must be a constant
	shape  []int
	want   []float64
}

var opCases = []opCase{
	{name: "add", op: "Add", args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 1, 2, 3, 4), graphtest.Reals([]int{2},
		10, 20)},
		shape: []int{2, 2}, want: []float64{11, 22, 13, 24}},
	{name: "add a column", op: "Add", args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 1, 2, 3, 4),
		graphtest.Reals([]int{2, 1}, 10, 20)},
		shape: []int{2, 2}, want: []float64{11, 12, 23, 24}},
	{name: "add outer", op: "Add", args: []*graph.Tensor{graphtest.Reals([]int{2, 1}, 1, 2), graphtest.Reals([]int{1,
		3}, 10, 20, 30)},
		shape: []int{2, 3}, want: []float64{11, 21, 31, 12, 22, 32}},
	{name: "add more axes on the right", op: "Add", args: []*graph.Tensor{graphtest.Scalar(1), graphtest.Reals([]int{1,
		1, 2}, 2, 3)},
		shape: []int{1, 1, 2}, want: []float64{3, 4}},
	{name: "add integers", op: "Add", args: []*graph.Tensor{graphtest.Int64s(1, -2), graphtest.Int64s(3, 4)},
		shape: []int{2},
		want:  []float64{4, 2}},
	{name: "sub", op: "Sub", args: []*graph.Tensor{graphtest.Reals([]int{2}, 1, 2), graphtest.Scalar(5)},
		shape: []int{2},
		want:  []float64{-4, -3}},
	{name: "mul", op: "Mul", args: []*graph.Tensor{graphtest.Reals([]int{2}, 1.5, -2), graphtest.Reals([]int{2}, 4,
		0)}, shape: []int{2},
		want: []float64{6, 0}},
	{name: "div", op: "Div", args: []*graph.Tensor{graphtest.Reals([]int{2}, 1, -6), graphtest.Reals([]int{2}, 4, 3)},
		shape: []int{2},
		want:  []float64{0.25, -2}},
	{name: "div rounds to float32", op: "Div", args: []*graph.Tensor{graphtest.Reals([]int{1}, 1),
		graphtest.Scalar(3)}, shape: []int{1},
		want: []float64{float64(float32(1) / 3)}},
	{name: "div integers", op: "Div", args: []*graph.Tensor{graphtest.Int64s(7, -7, 6), graphtest.Int64s(2, 2, -4)},
		shape: []int{3},
		want:  []float64{3, -3, -1}},
	{name: "pow 2", op: "Pow", args: []*graph.Tensor{graphtest.Reals([]int{3}, -3, 0, 1.5), graphtest.Scalar(2)},
		fixed: true,
		shape: []int{3}, want: []float64{9, 0, 2.25}},
	{name: "pow 0", op: "Pow", args: []*graph.Tensor{graphtest.Reals([]int{2}, -3, 0), graphtest.Scalar(0)},
		fixed: true, shape: []int{2},
		want: []float64{1, 1}},
	{name: "pow -1", op: "Pow", args: []*graph.Tensor{graphtest.Reals([]int{2}, -4, 8), graphtest.Scalar(-1)},
		fixed: true, shape: []int{2},
		want: []float64{-0.25, 0.125}},
	{name: "pow 1/2", op: "Pow", args: []*graph.Tensor{graphtest.Reals([]int{2}, 2, 9), graphtest.Scalar(0.5)},
		fixed: true,
		shape: []int{2}, want: []float64{float64(float32(math.Sqrt2)), 3}},
	{name: "pow -3/2", op: "Pow", args: []*graph.Tensor{graphtest.Reals([]int{1}, 4), graphtest.Scalar(-1.5)},
		fixed: true, shape: []int{1},
		want: []float64{0.125}},
	{name: "pow of integers by an integer", op: "Pow", args: []*graph.Tensor{graphtest.Int64s(3, -2),
		graphtest.Ints(graph.Int64, nil, 3)},
		fixed: true, shape: []int{2}, want: []float64{27, -8}},
	{name: "relu", op: "Relu", args: []*graph.Tensor{graphtest.Reals([]int{3}, -1, 0, 2)}, shape: []int{3},
		want: []float64{0, 0, 2}},
	{name: "maximum with minus infinity", op: "Max", args: []*graph.Tensor{graphtest.Reals([]int{2}, math.Inf(-1),
		math.Inf(-1)),
		graphtest.Reals([]int{2}, -5, 5), graphtest.Scalar(-1)}, shape: []int{2}, want: []float64{-1, 5}},
	{name: "minimum with infinity", op: "Min", args: []*graph.Tensor{graphtest.Reals([]int{2}, -5, 5),
		graphtest.Scalar(math.Inf(1))},
		shape: []int{2}, want: []float64{-5, 5}},
	{name: "clip", op: "Clip", args: []*graph.Tensor{graphtest.Reals([]int{3}, -5, 0.5, 5), graphtest.Scalar(-1),
		graphtest.Scalar(1)},
		shape: []int{3}, want: []float64{-1, 0.5, 1}},
	{name: "clip without minimum", op: "Clip", args: []*graph.Tensor{graphtest.Reals([]int{2}, -5, 5), nil,
		graphtest.Reals([]int{1}, 1)},
		shape: []int{2}, want: []float64{-5, 1}},
	{name: "clip without maximum", op: "Clip", args: []*graph.Tensor{graphtest.Reals([]int{2}, -5, 5),
		graphtest.Reals([]int{1, 1}, -1)},
		shape: []int{2}, want: []float64{-1, 5}},
	{name: "clip without bounds", op: "Clip", args: []*graph.Tensor{graphtest.Reals([]int{2}, -5, 5)}, shape: []int{2},
		want: []float64{-5, 5}},
	{name: "clip with crossed bounds gives the maximum", op: "Clip",
		args:  []*graph.Tensor{graphtest.Reals([]int{3}, -5, 0, 5), graphtest.Scalar(2), graphtest.Scalar(1)},
		shape: []int{3},
		want:  []float64{1, 1, 1}},
	{name: "clip to infinity", op: "Clip", args: []*graph.Tensor{graphtest.Reals([]int{2}, -5, 5),
		graphtest.Scalar(math.Inf(-1)),
		graphtest.Scalar(math.Inf(1))}, fixed: true, shape: []int{2}, want: []float64{-5, 5}},
	{name: "clip of integers", op: "Clip", args: []*graph.Tensor{graphtest.Ints(graph.Int8, []int{2}, -7, 7),
		graphtest.Ints(graph.Int8, nil, -4), graphtest.Ints(graph.Int8, nil, 3)}, shape: []int{2}, want: []float64{-4,
		3}},
	{name: "clip by attributes", op: "Clip", opset: 6, attrs: graphtest.Attrs{"min": -1.0, "max": 2.0},
		args: []*graph.Tensor{graphtest.Reals([]int{3}, -5, 0, 5)}, shape: []int{3}, want: []float64{-1, 0, 2}},
	{name: "clip by infinite attributes", op: "Clip", opset: 6, attrs: graphtest.Attrs{"min": math.Inf(-1), "max": 2.0},
		args: []*graph.Tensor{graphtest.Reals([]int{2}, -5, 5)}, shape: []int{2}, want: []float64{-5, 2}},
	{name: "cast to integers", op: "Cast", attrs: graphtest.Attrs{"to": int(graph.Int32)},
		args: []*graph.Tensor{graphtest.Reals([]int{4}, -1.5, -0.5, 0.5, 2.9)}, shape: []int{4}, want: []float64{-1, 0,
			0, 2}},
	{name: "cast to reals", op: "Cast", attrs: graphtest.Attrs{"to": int(graph.Float32)},
		args: []*graph.Tensor{graphtest.Ints(graph.UInt8, []int{2}, 0, 255)}, shape: []int{2}, want: []float64{0, 255}},
	{name: "identity", op: "Identity", args: []*graph.Tensor{graphtest.Reals([]int{2}, 1, 2)}, shape: []int{2},
		want: []float64{1, 2}},
	{name: "batch normalisation", op: "BatchNormalization", attrs: graphtest.Attrs{"epsilon": 0.25},
		args: []*graph.Tensor{graphtest.Reals([]int{1, 2, 2}, 1, 2, 3, 4), graphtest.Reals([]int{2}, 2, -3),
			graphtest.Reals([]int{2}, 0.5, 1),
			graphtest.Reals([]int{2}, 1, 3), graphtest.Reals([]int{2}, 0.75, 3.75)},
		shape: []int{1, 2, 2}, want: []float64{0.5, 2.5, 1, -0.5}},
	{name: "batch normalisation of a pruned channel", op: "BatchNormalization",
		args: []*graph.Tensor{graphtest.Reals([]int{1, 1}, 7), graphtest.Reals([]int{1}, 0), graphtest.Reals([]int{1},
			0.5), graphtest.Reals([]int{1}, 1),
			graphtest.Reals([]int{1}, 0)},
		shape: []int{1, 1}, want: []float64{0.5}},
	{name: "matmul", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, 1, 2, 3, 4, 5, 6),
		graphtest.Reals([]int{3, 2}, 1, 0, 0, 1, 1, 1)}, shape: []int{2, 2}, want: []float64{4, 5, 10, 11}},
	{name: "matmul of vectors", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{2}, 3, 4),
		graphtest.Reals([]int{2}, 5, 6)},
		shape: []int{}, want: []float64{39}},
	{name: "matmul vector by matrix", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{2}, 3, 4),
		graphtest.Reals([]int{2, 2}, 1, 2, 3, 4)}, shape: []int{2}, want: []float64{15, 22}},
	{name: "matmul matrix by vector", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 1, 2, 3, 4),
		graphtest.Reals([]int{2}, 3, 4)}, shape: []int{2}, want: []float64{11, 25}},
	{name: "matmul batched", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{2, 1, 2}, 1, 2, 3, 4),
		graphtest.Reals([]int{2, 2, 1}, 1, 1, 2, -1)}, shape: []int{2, 1, 1}, want: []float64{3, 2}},
	{name: "matmul broadcast left", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{1, 2}, 1, 2),
		graphtest.Reals([]int{2, 2, 1}, 1, 1, 2, -1)}, shape: []int{2, 1, 1}, want: []float64{3, 0}},
	{name: "matmul broadcast right", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{2, 1, 2}, 1, 2, 3, 4),
		graphtest.Reals([]int{2, 1}, 10, 1)}, shape: []int{2, 1, 1}, want: []float64{12, 34}},
	{name: "matmul both broadcast", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{2, 1, 1, 1}, 2, 3),
		graphtest.Reals([]int{1, 3, 1, 1}, 1, 2, 4)}, shape: []int{2, 3, 1, 1}, want: []float64{2, 4, 8, 3, 6, 12}},
	{name: "matmul of nothing", op: "MatMul", args: []*graph.Tensor{graphtest.Reals([]int{1, 0}),
		graphtest.Reals([]int{0, 2})},
		fixed: true, shape: []int{1, 2}, want: []float64{0, 0}},
	{name: "gemm", op: "Gemm", args: []*graph.Tensor{graphtest.Reals([]int{1, 2}, 1, 2), graphtest.Reals([]int{2, 2},
		1, 2, 3, 4),
		graphtest.Reals([]int{2}, 10, 20)}, shape: []int{1, 2}, want: []float64{17, 30}},
	{name: "gemm transposed", op: "Gemm", attrs: graphtest.Attrs{"transA": 1, "transB": 1},
		args:  []*graph.Tensor{graphtest.Reals([]int{2, 1}, 1, 2), graphtest.Reals([]int{2, 2}, 1, 2, 3, 4)},
		shape: []int{1, 2},
		want:  []float64{5, 11}},
	{name: "gemm scaled", op: "Gemm", attrs: graphtest.Attrs{"alpha": 0.5, "beta": 2.0},
		args: []*graph.Tensor{graphtest.Reals([]int{1, 2}, 1, 2), graphtest.Reals([]int{2, 2}, 1, 2, 3, 4),
			graphtest.Scalar(1)}, shape: []int{1, 2},
		want: []float64{5.5, 7}},
	{name: "gemm with a column", op: "Gemm", args: []*graph.Tensor{graphtest.Reals([]int{2, 1}, 1, 2),
		graphtest.Reals([]int{1, 2}, 1, 2),
		graphtest.Reals([]int{2, 1}, 10, 20)}, shape: []int{2, 2}, want: []float64{11, 12, 22, 24}},
	{name: "gemm with a matrix", op: "Gemm", attrs: graphtest.Attrs{"beta": -1.0},
		args: []*graph.Tensor{graphtest.Reals([]int{1, 1}, 3), graphtest.Reals([]int{1, 2}, 1, 2),
			graphtest.Reals([]int{1, 2}, 5, 6)},
		shape: []int{1, 2}, want: []float64{-2, 0}},
	{name: "flatten", op: "Flatten", args: []*graph.Tensor{graphtest.Reals([]int{2, 1, 2}, 1, 2, 3, 4)},
		shape: []int{2, 2},
		want:  []float64{1, 2, 3, 4}},
	{name: "flatten at 0", op: "Flatten", attrs: graphtest.Attrs{"axis": 0},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 1, 2, 3, 4)}, shape: []int{1, 4}, want: []float64{1, 2, 3,
			4}},
	{name: "flatten at the end", op: "Flatten", attrs: graphtest.Attrs{"axis": 2},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 1, 2, 3, 4)}, shape: []int{4, 1}, want: []float64{1, 2, 3,
			4}},
	{name: "flatten from behind", op: "Flatten", attrs: graphtest.Attrs{"axis": -1},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 1, 2}, 1, 2, 3, 4)}, shape: []int{2, 2}, want: []float64{1, 2,
			3, 4}},
	{name: "reshape", op: "Reshape", args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, graphtest.Count(6)...),
		graphtest.Int64s(3, 2)}, fixed: true,
		shape: []int{3, 2}, want: graphtest.Count(6)},
	{name: "reshape open", op: "Reshape", args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, graphtest.Count(6)...),
		graphtest.Int64s(-1)},
		fixed: true, shape: []int{6}, want: graphtest.Count(6)},
	{name: "reshape copies", op: "Reshape", args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, graphtest.Count(6)...),
		graphtest.Int64s(0, -1, 1)},
		fixed: true, shape: []int{2, 3, 1}, want: graphtest.Count(6)},
	{name: "reshape to a scalar", op: "Reshape", args: []*graph.Tensor{graphtest.Reals([]int{1, 1}, 5),
		graphtest.Int64s()}, fixed: true,
		shape: []int{}, want: []float64{5}},
	{name: "reshape of nothing", op: "Reshape", attrs: graphtest.Attrs{"allowzero": 1}, opset: 14,
		args: []*graph.Tensor{graphtest.Reals([]int{0, 3}), graphtest.Int64s(3, 0)}, fixed: true, shape: []int{3, 0},
		want: []float64{}},
	{name: "squeeze all", op: "Squeeze", args: []*graph.Tensor{graphtest.Reals([]int{1, 2, 1}, 1, 2)}, shape: []int{2},
		want: []float64{1, 2}},
	{name: "squeeze", op: "Squeeze", args: []*graph.Tensor{graphtest.Reals([]int{1, 2, 1}, 1, 2),
		graphtest.Int64s(-1)}, fixed: true,
		shape: []int{1, 2}, want: []float64{1, 2}},
	{name: "squeeze by attribute", op: "Squeeze", opset: 11, attrs: graphtest.Attrs{"axes": []int64{0}},
		args: []*graph.Tensor{graphtest.Reals([]int{1, 2, 1}, 1, 2)}, shape: []int{2, 1}, want: []float64{1, 2}},
	{name: "unsqueeze", op: "Unsqueeze", args: []*graph.Tensor{graphtest.Reals([]int{2}, 1, 2), graphtest.Int64s(0,
		-1)}, fixed: true,
		shape: []int{1, 2, 1}, want: []float64{1, 2}},
	{name: "unsqueeze by attribute", op: "Unsqueeze", opset: 11, attrs: graphtest.Attrs{"axes": []int64{1}},
		args: []*graph.Tensor{graphtest.Reals([]int{2}, 1, 2)}, shape: []int{2, 1}, want: []float64{1, 2}},
	{name: "unsqueeze a scalar", op: "Unsqueeze", args: []*graph.Tensor{graphtest.Scalar(7), graphtest.Int64s(0)},
		fixed: true,
		shape: []int{1}, want: []float64{7}},
	{name: "transpose", op: "Transpose", args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, graphtest.Count(6)...)},
		shape: []int{3, 2},
		want:  []float64{0, 3, 1, 4, 2, 5}},
	{name: "transpose by perm", op: "Transpose", attrs: graphtest.Attrs{"perm": []int64{1, 0, 2}},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 3, 2}, graphtest.Count(12)...)}, shape: []int{3, 2, 2},
		want: []float64{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}},
	{name: "transpose a scalar", op: "Transpose", args: []*graph.Tensor{graphtest.Scalar(7)}, shape: []int{},
		want: []float64{7}},
	{name: "concat", op: "Concat", attrs: graphtest.Attrs{"axis": 1}, args: []*graph.Tensor{graphtest.Reals([]int{2,
		1}, 1, 2),
		graphtest.Reals([]int{2, 2}, 3, 4, 5, 6)}, shape: []int{2, 3}, want: []float64{1, 3, 4, 2, 5, 6}},
	{name: "concat from behind", op: "Concat", attrs: graphtest.Attrs{"axis": -2},
		args: []*graph.Tensor{graphtest.Reals([]int{1, 2}, 1, 2), graphtest.Reals([]int{1, 2}, 3, 4)}, shape: []int{2,
			2},
		want: []float64{1, 2, 3, 4}},
	{name: "concat with nothing", op: "Concat", attrs: graphtest.Attrs{"axis": 0},
		args: []*graph.Tensor{graphtest.Reals([]int{2}, 1, 2), graphtest.Reals([]int{0})}, fixed: true, shape: []int{2},
		want: []float64{1, 2}},
	{name: "concat of one", op: "Concat", attrs: graphtest.Attrs{"axis": 0},
		args:  []*graph.Tensor{graphtest.Reals([]int{2}, 1, 2)},
		shape: []int{2}, want: []float64{1, 2}},
	{name: "gather", op: "Gather", args: []*graph.Tensor{graphtest.Reals([]int{3, 2}, graphtest.Count(6)...),
		graphtest.Int64s(2, 0, -1)},
		fixed: true, shape: []int{3, 2}, want: []float64{4, 5, 0, 1, 4, 5}},
	{name: "gather along axis 1", op: "Gather", attrs: graphtest.Attrs{"axis": 1},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, graphtest.Count(6)...), graphtest.Ints(graph.Int64, []int{1,
			2}, 2, 0)}, fixed: true,
		shape: []int{2, 1, 2}, want: []float64{2, 0, 5, 3}},
	{name: "gather drops the axis", op: "Gather", args: []*graph.Tensor{graphtest.Reals([]int{3, 2},
		graphtest.Count(6)...),
		graphtest.Ints(graph.Int64, nil, 1)}, fixed: true, shape: []int{2}, want: []float64{2, 3}},
	{name: "gather nothing", op: "Gather", args: []*graph.Tensor{graphtest.Reals([]int{3, 2}, graphtest.Count(6)...),
		graphtest.Int64s()},
		fixed: true, shape: []int{0, 2}, want: []float64{}},
	{name: "quantise per tensor", op: "QuantizeLinear", args: []*graph.Tensor{graphtest.Reals([]int{6}, -300, -1, 0.5,
		1, 1.5,
		300), graphtest.Scalar(0.5), graphtest.Ints(graph.UInt8, nil, 1)}, fixed: true, shape: []int{6},
		want: []float64{0, 0, 2, 3, 4, 255}},
	// x/scale at 0.5 rounds to 0 before the odd zero point is added, where QONNX rounds 1.5 to 2.
	{name: "quantise ties before an odd zero point", op: "QuantizeLinear",
		args: []*graph.Tensor{graphtest.Reals([]int{4}, 0.25, 0.75, -0.25, -0.75), graphtest.Scalar(0.5),
			graphtest.Ints(graph.Int8, nil, 1)},
		fixed: true, shape: []int{4}, want: []float64{1, 3, 1, -1}},
	{name: "quantise per axis", op: "QuantizeLinear", attrs: graphtest.Attrs{"axis": 1},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 3, 3, -3, -3), graphtest.Reals([]int{2}, 1, 2),
			graphtest.Ints(graph.Int8, []int{2}, 0, 10)}, fixed: true, shape: []int{2, 2}, want: []float64{3, 12, -3,
			8}},
	{name: "quantise per first axis", op: "QuantizeLinear", attrs: graphtest.Attrs{"axis": -2},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 3, 3, -3, -3), graphtest.Reals([]int{2}, 1, 2),
			graphtest.Ints(graph.Int8, []int{2}, 0, 10)}, fixed: true, shape: []int{2, 2}, want: []float64{3, 3, 8, 8}},
	{name: "quantise without zero point", op: "QuantizeLinear",
		args: []*graph.Tensor{graphtest.Reals([]int{2}, -3, 3), graphtest.Scalar(1)}, fixed: true, shape: []int{2},
		want: []float64{0, 3}},
	{name: "quantise to 4 bits", op: "QuantizeLinear", opset: 21,
		attrs: graphtest.Attrs{"output_dtype": int(graph.Int4)},
		args:  []*graph.Tensor{graphtest.Reals([]int{2}, -30, 30), graphtest.Scalar(1)}, fixed: true, shape: []int{2},
		want: []float64{-8, 7}},
	{name: "dequantise", op: "DequantizeLinear", args: []*graph.Tensor{graphtest.Ints(graph.UInt8, []int{2}, 0, 255),
		graphtest.Scalar(0.5),
		graphtest.Ints(graph.UInt8, nil, 128)}, fixed: true, shape: []int{2}, want: []float64{-64, 63.5}},
	{name: "dequantise per axis", op: "DequantizeLinear", attrs: graphtest.Attrs{"axis": 0},
		args:  []*graph.Tensor{graphtest.Ints(graph.Int8, []int{2, 2}, 1, 2, 3, 4), graphtest.Reals([]int{2}, 0.5, 2)},
		fixed: true,
		shape: []int{2, 2}, want: []float64{0.5, 1, 6, 8}},
	{name: "dequantise a bias", op: "DequantizeLinear", args: []*graph.Tensor{graphtest.Ints(graph.Int32, []int{1},
		-1<<31),
		graphtest.Scalar(0x1p-31)}, fixed: true, shape: []int{1}, want: []float64{-1}},
	{name: "dequantise in one block a column", op: "DequantizeLinear", opset: 21,
		attrs: graphtest.Attrs{"axis": 0, "block_size": 3}, args: []*graph.Tensor{graphtest.Ints(graph.Int8, []int{2,
			2}, 1, 2, 3, 4),
			graphtest.Reals([]int{1, 2}, 0.5, 2), graphtest.Ints(graph.Int8, []int{1, 2}, 0, 1)}, fixed: true,
		shape: []int{2, 2},
		want:  []float64{0.5, 2, 1.5, 6}},
	{name: "dequantise in blocks of rows", op: "DequantizeLinear", opset: 21, attrs: graphtest.Attrs{"axis": 0,
		"block_size": 2},
		args: []*graph.Tensor{graphtest.Ints(graph.Int8, []int{3, 2}, 1, 2, 3, 4, 5, 6), graphtest.Reals([]int{2, 2},
			1, 1, 2, 2)},
		fixed: true, shape: []int{3, 2}, want: []float64{1, 2, 3, 4, 10, 12}},
	{name: "dequantise in blocks", op: "DequantizeLinear", opset: 21, attrs: graphtest.Attrs{"axis": 0,
		"block_size": 2},
		args: []*graph.Tensor{graphtest.Ints(graph.Int8, []int{3, 2}, 1, 2, 3, 4, 5, 6), graphtest.Reals([]int{2, 2},
			1, 2, 3, 4),
			graphtest.Ints(graph.Int8, []int{2, 2}, 0, 1, 2, 3)}, fixed: true, shape: []int{3, 2},
		want: []float64{1, 2, 3, 6, 9, 12}},
	{name: "dequantise in blocks of the middle axis", op: "DequantizeLinear", opset: 21,
		attrs: graphtest.Attrs{"block_size": 2},
		args: []*graph.Tensor{graphtest.Ints(graph.Int8, []int{2, 3, 2}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
			graphtest.Reals([]int{2, 2, 2}, 1, 2, 3, 4, 5, 6, 7, 8)}, fixed: true, shape: []int{2, 3, 2},
		want: []float64{0, 2, 2, 6, 12, 20, 30, 42, 40, 54, 70, 88}},
	{name: "quantise in blocks", op: "QuantizeLinear", opset: 21, attrs: graphtest.Attrs{"block_size": 2},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, -1, 1, 2, 4, 4, 8), graphtest.Reals([]int{2, 2}, 0.5, 1, 2,
			4)}, fixed: true,
		shape: []int{2, 3}, want: []float64{0, 2, 2, 2, 2, 2}},
	{name: "quantise in blocks of one scale", op: "QuantizeLinear", opset: 21, attrs: graphtest.Attrs{"block_size": 2},
		args: []*graph.Tensor{graphtest.Reals([]int{1, 3}, -1, 1, 2), graphtest.Reals([]int{1, 2}, 0.5, 0.5),
			graphtest.Ints(graph.Int8, []int{1, 2}, 1, 1)}, fixed: true, shape: []int{1, 3}, want: []float64{-1, 3, 5}},
	{name: "quant", domain: graphtest.QONNX, op: "Quant", args: []*graph.Tensor{graphtest.Reals([]int{5}, -9, 0.25,
		0.75, 1.25, 9),
		graphtest.Scalar(0.5), graphtest.Scalar(0), graphtest.Scalar(4)}, fixed: true, shape: []int{5},
		want: []float64{-4, 0, 1, 1, 3.5}},
	{name: "quant unsigned", domain: graphtest.QONNX, op: "Quant", attrs: graphtest.Attrs{"signed": 0},
		args: []*graph.Tensor{graphtest.Reals([]int{3}, -9, 1, 99), graphtest.Scalar(0.5), graphtest.Scalar(0),
			graphtest.Scalar(4)}, fixed: true,
		shape: []int{3}, want: []float64{0, 1, 7.5}},
	{name: "quant narrow", domain: graphtest.QONNX, op: "Quant", attrs: graphtest.Attrs{"narrow": 1},
		args: []*graph.Tensor{graphtest.Reals([]int{2}, -9, 9), graphtest.Scalar(1), graphtest.Scalar(0),
			graphtest.Scalar(2)}, fixed: true, shape: []int{2},
		want: []float64{-1, 1}},
	{name: "quant unsigned narrow", domain: graphtest.QONNX, op: "Quant", attrs: graphtest.Attrs{"signed": 0,
		"narrow": 1},
		args: []*graph.Tensor{graphtest.Reals([]int{2}, -9, 9), graphtest.Scalar(1), graphtest.Scalar(0),
			graphtest.Scalar(2)}, fixed: true, shape: []int{2},
		want: []float64{0, 2}},
	{name: "quant ties after an odd zero point", domain: graphtest.QONNX, op: "Quant",
		args: []*graph.Tensor{graphtest.Reals([]int{4}, 0.25, 0.75, -0.25, -0.75), graphtest.Scalar(0.5),
			graphtest.Scalar(1), graphtest.Scalar(8)},
		fixed: true, shape: []int{4}, want: []float64{0.5, 0.5, -0.5, -0.5}},
	{name: "quant with a fractional zero point", domain: graphtest.QONNX, op: "Quant",
		args: []*graph.Tensor{graphtest.Reals([]int{4}, -9, -0.4, 0.4, 9), graphtest.Scalar(1), graphtest.Scalar(-0.5),
			graphtest.Scalar(2)}, fixed: true,
		shape: []int{4}, want: []float64{-1.5, -0.5, 0.5, 1.5}},
	{name: "quant per channel", domain: graphtest.QONNX, op: "Quant", args: []*graph.Tensor{graphtest.Reals([]int{2,
		2}, 3, 3, 3, 3),
		graphtest.Reals([]int{2, 1}, 1, 2), graphtest.Reals([]int{1}, 0), graphtest.Scalar(8)}, fixed: true,
		shape: []int{2, 2},
		want:  []float64{3, 3, 4, 4}},
	{name: "quant floor", domain: graphtest.QONNX, op: "Quant", attrs: graphtest.Attrs{"rounding_mode": "floor"},
		args: []*graph.Tensor{graphtest.Reals([]int{2}, -0.5, 1.9), graphtest.Scalar(1), graphtest.Scalar(0),
			graphtest.Scalar(4)}, fixed: true,
		shape: []int{2}, want: []float64{-1, 1}},
	{name: "quant clamps before it rounds", domain: graphtest.QONNX, op: "Quant",
		attrs: graphtest.Attrs{"rounding_mode": "CEIL", "signed": 0}, args: []*graph.Tensor{graphtest.Reals([]int{2},
			14.2, 15.9),
			graphtest.Scalar(1), graphtest.Scalar(0), graphtest.Scalar(4)}, fixed: true, shape: []int{2},
		want: []float64{15, 15}},
	{name: "quant of Brevitas", domain: "onnx.brevitas", op: "Quant",
		args: []*graph.Tensor{graphtest.Reals([]int{1}, 2.5), graphtest.Scalar(1), graphtest.Scalar(0),
			graphtest.Scalar(8)}, fixed: true, shape: []int{1},
		want: []float64{2}},
	{name: "quant of FINN", domain: "finn.custom_op.general", op: "Quant",
		args: []*graph.Tensor{graphtest.Reals([]int{1}, 3.5), graphtest.Scalar(1), graphtest.Scalar(0),
			graphtest.Scalar(8)}, fixed: true, shape: []int{1},
		want: []float64{4}},
	{name: "code", domain: operators.InternalDomain, op: "Code", attrs: graphtest.Attrs{"lo": -8.0, "hi": 7.0,
		"mode":       1,
		"zero_first": 1},
		args:  []*graph.Tensor{graphtest.Reals([]int{3}, -99, 0.25, 99), graphtest.Scalar(0.5), graphtest.Scalar(1)},
		fixed: true, shape: []int{3},
		want: []float64{-8, 2, 7}},
}

// moreCases are those whose cases in ONNX's own corpus are too few, or that are not in it.
var moreCases = []opCase{
	{name: "round", op: "Round", args: []*graph.Tensor{graphtest.Reals([]int{5}, -1.5, -0.5, 0.5, 1.5, 2.5)},
		shape: []int{5},
		want:  []float64{-2, 0, 0, 2, 2}},
	{name: "sign", op: "Sign", args: []*graph.Tensor{graphtest.Reals([]int{3}, -1e-41, 0, 3)}, shape: []int{3},
		want: []float64{-1, 0, 1}},
	{name: "sigmoid", op: "Sigmoid", args: []*graph.Tensor{graphtest.Reals([]int{3}, -1000, 0, 1000)}, shape: []int{3},
		want: []float64{0, 0.5, 1}},
	{name: "tanh", op: "Tanh", args: []*graph.Tensor{graphtest.Reals([]int{3}, -1000, 0, 1000)}, shape: []int{3},
		want: []float64{-1, 0, 1}},
	{name: "softmax of large values", op: "Softmax", args: []*graph.Tensor{graphtest.Reals([]int{1, 3}, 1000, 1000,
		-1000)},
		shape: []int{1, 3}, want: []float64{0.5, 0.5, 0}},
	{name: "softmax before opset 13 over all axes from 1", op: "Softmax", opset: 11,
		args: []*graph.Tensor{graphtest.Reals([]int{2, 2, 1}, 0, 0, 5, 5)}, shape: []int{2, 2, 1},
		want: []float64{0.5, 0.5, 0.5, 0.5}},
	{name: "softmax along the first axis", op: "Softmax", attrs: graphtest.Attrs{"axis": 0},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 0, 7, 0, 7)}, shape: []int{2, 2}, want: []float64{0.5, 0.5,
			0.5, 0.5}},
	{name: "equal", op: "Equal", args: []*graph.Tensor{graphtest.Reals([]int{3}, 1, 2, 3), graphtest.Reals([]int{1},
		2)}, shape: []int{3},
		want: []float64{0, 1, 0}},
	{name: "greater", op: "Greater", args: []*graph.Tensor{graphtest.Reals([]int{3}, 1, 2, 3),
		graphtest.Reals([]int{1}, 2)},
		shape: []int{3}, want: []float64{0, 0, 1}},
	{name: "greater or equal", op: "GreaterOrEqual", args: []*graph.Tensor{graphtest.Int64s(1, 2, 3),
		graphtest.Int64s(2)},
		shape: []int{3}, want: []float64{0, 1, 1}},
	{name: "less", op: "Less", args: []*graph.Tensor{graphtest.Int64s(1, 2, 3), graphtest.Int64s(2)}, shape: []int{3},
		want: []float64{1, 0, 0}},
	{name: "less or equal", op: "LessOrEqual", args: []*graph.Tensor{graphtest.Int64s(1, 2, 3), graphtest.Int64s(2)},
		shape: []int{3},
		want:  []float64{1, 1, 0}},
	{name: "and", op: "And", args: truths, shape: []int{4}, want: []float64{0, 0, 0, 1}},
	{name: "or", op: "Or", args: truths, shape: []int{4}, want: []float64{0, 1, 1, 1}},
	{name: "xor", op: "Xor", args: truths, shape: []int{4}, want: []float64{0, 1, 1, 0}},
	{name: "not", op: "Not", args: truths[:1], shape: []int{4}, want: []float64{1, 1, 0, 0}},
	{name: "truth of reals", op: "Cast", attrs: graphtest.Attrs{"to": int(graph.Bool)},
		args: []*graph.Tensor{graphtest.Reals([]int{3}, -0.5, 0, 7)}, shape: []int{3}, want: []float64{1, 0, 1}},
	{name: "rests of the divisor's sign", op: "Mod", args: []*graph.Tensor{graphtest.Int64s(-4, 7, 5, 4, -7, 8),
		graphtest.Int64s(2, -3, 8,
			-2, 3, 5)}, shape: []int{6}, want: []float64{0, -2, 5, 0, 2, 3}},
	{name: "rests of the dividend's sign", op: "Mod", attrs: graphtest.Attrs{"fmod": 1},
		args:  []*graph.Tensor{graphtest.Reals([]int{3}, -4.25, 7.5, 5), graphtest.Reals([]int{3}, 2, -3, 8)},
		shape: []int{3},
		want:  []float64{-0.25, 1.5, 5}},
	{name: "elements", op: "Size", args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, graphtest.Count(6)...)},
		shape: []int{},
		want:  []float64{6}},
	{name: "tiles", op: "Tile", args: []*graph.Tensor{graphtest.Reals([]int{2, 2}, 1, 2, 3, 4), graphtest.Int64s(2,
		3)}, fixed: true,
		shape: []int{4, 6}, want: []float64{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}},
	{name: "where", op: "Where", args: []*graph.Tensor{graphtest.Ints(graph.Bool, []int{2, 1}, 1, 0),
		graphtest.Reals([]int{2}, 1, 2),
		graphtest.Scalar(9)}, shape: []int{2, 2}, want: []float64{1, 2, 9, 9}},
	{name: "slope per channel", op: "PRelu", args: []*graph.Tensor{graphtest.Reals([]int{1, 2, 2}, -1, 2, -3, 4),
		graphtest.Reals([]int{2, 1}, 0.5, 2)}, shape: []int{1, 2, 2}, want: []float64{-0.5, 2, -6, 4}},
	{name: "minimum of three", op: "Min", args: []*graph.Tensor{graphtest.Reals([]int{2}, 1, 5),
		graphtest.Reals([]int{2, 1}, 3, 4),
		graphtest.Scalar(2)}, shape: []int{2, 2}, want: []float64{1, 2, 1, 2}},
	{name: "arg max of ties", op: "ArgMax", attrs: graphtest.Attrs{"axis": 1},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, 1, 3, 3, 2, 2, 1)}, shape: []int{2, 1}, want: []float64{1,
			0}},
	{name: "last arg max of ties", op: "ArgMax", attrs: graphtest.Attrs{"axis": -1, "keepdims": 0,
		"select_last_index": 1},
		args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, 1, 3, 3, 2, 2, 1)}, shape: []int{2}, want: []float64{2, 1}},
	{name: "arg min along the first axis", op: "ArgMin", args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, 1, 3, 3, 2,
		2, 3)},
		shape: []int{1, 3}, want: []float64{0, 1, 0}},
	{name: "the smallest two", op: "TopK", attrs: graphtest.Attrs{"largest": 0},
		args: []*graph.Tensor{graphtest.Reals([]int{1, 4}, 4, 1, 3, 1), graphtest.Int64s(2)}, fixed: true,
		shape: []int{1, 2},
		want:  []float64{1, 1}},
	{name: "half a split", op: "Split", attrs: graphtest.Attrs{"axis": 1, "split": []int64{3}}, opset: 11,
		args: []*graph.Tensor{graphtest.Reals([]int{2, 3}, graphtest.Count(6)...)}, shape: []int{2, 3},
		want: graphtest.Count(6)},
	{name: "slice", op: "Slice", args: []*graph.Tensor{graphtest.Reals([]int{3, 4}, graphtest.Count(12)...),
		graphtest.Int64s(1, -3),
		graphtest.Int64s(math.MaxInt64, -1)}, fixed: true, shape: []int{2, 2}, want: []float64{5, 6, 9, 10}},
	{name: "slice backwards", op: "Slice", args: []*graph.Tensor{graphtest.Reals([]int{5}, graphtest.Count(5)...),
		graphtest.Int64s(math.MaxInt64),
		graphtest.Int64s(math.MinInt64), graphtest.Int64s(0), graphtest.Int64s(-2)}, fixed: true, shape: []int{3},
		want: []float64{4, 2, 0}},
	{name: "slice backwards to the last", op: "Slice", args: []*graph.Tensor{graphtest.Reals([]int{5},
		graphtest.Count(5)...), graphtest.Int64s(3),
		graphtest.Int64s(-6), graphtest.Int64s(0), graphtest.Int64s(-1)}, fixed: true, shape: []int{4},
		want: []float64{3, 2, 1, 0}},
	{name: "slice nothing", op: "Slice", args: []*graph.Tensor{graphtest.Reals([]int{5}, graphtest.Count(5)...),
		graphtest.Int64s(4), graphtest.Int64s(1)},
		fixed: true, shape: []int{0}, want: []float64{}},
	{name: "slice by attributes", op: "Slice", opset: 9, attrs: graphtest.Attrs{"starts": []int64{1},
		"ends": []int64{3}},
		args: []*graph.Tensor{graphtest.Reals([]int{4}, graphtest.Count(4)...)}, shape: []int{2}, want: []float64{1,
			2}},
	{name: "slice by a huge step", op: "Slice", args: []*graph.Tensor{graphtest.Reals([]int{5}, graphtest.Count(5)...),
		graphtest.Int64s(1),
		graphtest.Int64s(5), graphtest.Int64s(0), graphtest.Int64s(math.MaxInt64)}, fixed: true, shape: []int{1},
		want: []float64{1}},
	{name: "expand", op: "Expand", args: []*graph.Tensor{graphtest.Reals([]int{2, 1}, 1, 2), graphtest.Int64s(3, 1,
		2)}, fixed: true,
		shape: []int{3, 2, 2}, want: []float64{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}},
	{name: "expand a scalar", op: "Expand", args: []*graph.Tensor{graphtest.Scalar(7), graphtest.Int64s(3)},
		fixed: true, shape: []int{3},
		want: []float64{7, 7, 7}},
	{name: "dropout", op: "Dropout", args: []*graph.Tensor{graphtest.Reals([]int{2}, 1, 2), graphtest.Scalar(0.5)},
		fixed: true,
		shape: []int{2}, want: []float64{1, 2}},
	{name: "bipolar quant", domain: graphtest.QONNX, op: "BipolarQuant",
		args: []*graph.Tensor{graphtest.Reals([]int{3}, -1e-30, 0, 5), graphtest.Scalar(0.5)}, fixed: true,
		shape: []int{3},
		want:  []float64{-0.5, 0.5, 0.5}},
	{name: "quant of one signed bit", domain: graphtest.QONNX, op: "Quant",
		args: []*graph.Tensor{graphtest.Reals([]int{3}, -1e-30, 0, 5), graphtest.Scalar(0.5), graphtest.Scalar(0),
			graphtest.Scalar(1)}, fixed: true,
		shape: []int{3}, want: []float64{-0.5, 0.5, 0.5}},
	// 4-bit codes of steps of 1/2 to 2-bit codes: 3.5 is code 7, floor(7/4) = 1.
	{name: "trunc 1", domain: "onnx.brevitas", op: "Trunc", args: []*graph.Tensor{graphtest.Reals([]int{3}, 3.5, 4,
		-0.5),
		graphtest.Scalar(0.5), graphtest.Scalar(0), graphtest.Scalar(4), graphtest.Scalar(2)}, fixed: true,
		shape: []int{3}, want: []float64{0.5, 1, -0.5}},
	{name: "trunc 2", domain: graphtest.QONNX, op: "Trunc", attrs: graphtest.Attrs{"rounding_mode": "round"},
		args: []*graph.Tensor{graphtest.Reals([]int{4}, 3, 5, 7, 99), graphtest.Scalar(0.5), graphtest.Scalar(0),
			graphtest.Scalar(8), graphtest.Scalar(2), graphtest.Scalar(3)},
		fixed: true, shape: []int{4}, want: []float64{4, 4, 6, 6}},
	{name: "trunc 2 with a zero point", domain: graphtest.QONNX, op: "Trunc", attrs: graphtest.Attrs{"signed": 0},
		args: []*graph.Tensor{graphtest.Reals([]int{2}, 3, -8), graphtest.Scalar(1), graphtest.Scalar(2),
			graphtest.Scalar(8), graphtest.Scalar(4), graphtest.Scalar(4)},
		fixed: true, shape: []int{2}, want: []float64{2, -2}},
	{name: "minifloats of 2 and 1 bits", domain: graphtest.QONNX, op: "FloatQuant",
		args: []*graph.Tensor{graphtest.Reals([]int{8}, 0, 0.2, 0.25, 0.3, 0.75, 2.5, 5, -100), graphtest.Scalar(1),
			graphtest.Scalar(2), graphtest.Scalar(1),
			graphtest.Scalar(1), graphtest.Scalar(6)}, fixed: true, shape: []int{8}, want: []float64{0, 0, 0, 0.5, 1,
			2, 4, -6}},
	{name: "thresholds", domain: graphtest.QONNX, op: "MultiThreshold", attrs: graphtest.Attrs{"out_scale": 2.0,
		"out_bias": -1.0},
		args:  []*graph.Tensor{graphtest.Reals([]int{1, 2}, 0.5, 0.5), graphtest.Reals([]int{2, 2}, 0, 1, 0.5, 0.5)},
		fixed: true,
		shape: []int{1, 2}, want: []float64{1, 3}},
	{name: "thresholds of channels last", domain: "finn.custom_op.general", op: "MultiThreshold",
		attrs: graphtest.Attrs{"data_layout": "NHWC"}, args: []*graph.Tensor{graphtest.Reals([]int{1, 1, 2, 2}, 0, 0,
			2, 2),
			graphtest.Reals([]int{2, 1}, 1, -1)}, fixed: true, shape: []int{1, 1, 2, 2}, want: []float64{0, 1, 1, 1}},
	{name: "products of bytes", op: "MatMulInteger", args: []*graph.Tensor{graphtest.Ints(graph.UInt8, []int{1, 2}, 3,
		250),
		graphtest.Ints(graph.UInt8, []int{2, 2}, 0, 255, 128, 1), graphtest.Ints(graph.UInt8, nil, 10),
		graphtest.Ints(graph.UInt8, []int{2}, 128, 0)}, fixed: true, shape: []int{1, 2}, want: []float64{896, -1545}},
	{name: "products of bytes with a zero point per row", op: "MatMulInteger",
		args: []*graph.Tensor{graphtest.Ints(graph.Int8, []int{2, 2}, 3, 4, 3, 4), graphtest.Ints(graph.Int8, []int{2,
			1}, 1, 1),
			graphtest.Ints(graph.Int8, []int{2}, 0, 1)}, fixed: true, shape: []int{2, 1}, want: []float64{7, 5}},
	{name: "quantised products", op: "QLinearMatMul", args: []*graph.Tensor{graphtest.Ints(graph.UInt8, []int{1, 2}, 3,
		5),
		graphtest.Scalar(0.5), graphtest.Ints(graph.UInt8, nil, 1), graphtest.Ints(graph.Int8, []int{2, 2}, 1, -2, 3,
			4), graphtest.Reals([]int{2}, 1, 2),
		graphtest.Ints(graph.Int8, []int{2}, 0, 1), graphtest.Scalar(0.5), graphtest.Ints(graph.UInt8, nil, 100)},
		fixed: true, shape: []int{1, 2},
		want: []float64{114, 112}},
	{name: "one-hot", op: "OneHot", args: []*graph.Tensor{graphtest.Int64s(1, -1, 3), graphtest.Ints(graph.Int64, nil,
		3),
		graphtest.Reals([]int{2}, 0, 1)}, fixed: true, shape: []int{3, 3}, want: []float64{0, 1, 0, 0, 0, 1, 0, 0, 0}},
	{name: "quantised products with scales per row", op: "QLinearMatMul",
		args: []*graph.Tensor{graphtest.Ints(graph.Int8, []int{2, 2}, 1, 2, 1, 2), graphtest.Reals([]int{2}, 1, 2),
			graphtest.Ints(graph.Int8, []int{2}, 0, 1), graphtest.Ints(graph.Int8, []int{2, 2}, 1, 0, 0, 1),
			graphtest.Scalar(1),
			graphtest.Ints(graph.Int8, nil, 0), graphtest.Reals([]int{2}, 1, 0.5), graphtest.Ints(graph.Int8, []int{2},
				0, 10)}, fixed: true,
		shape: []int{2, 2}, want: []float64{1, 2, 10, 14}},
}

func TestOperators(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(opCases, moreCases) {
		c.check(t)
	}
}

// check executes a case on constants, on data, and with the first argument alone as data.
func (c opCase) check(t *testing.T) {
	t.Helper()
	opset := c.opset
	if opset == 0 {
		opset = 13
	}
	ways := map[string]func(int) bool{
		"constants": func(int) bool { return false },
		"one input": func(i int) bool { return i == 0 },
		"data":      func(int) bool { return true },
	}
	if c.fixed {
		delete(ways, "data")
	}
	if c.args[0].Len() == 0 {
		delete(ways, "one input")
		delete(ways, "data")
	}
	for way, data := range ways {
		g := graphtest.Single(c.domain, c.op, opset, c.attrs, data, c.args...)
		operators.Decompose(g)
		var d diag.List
		p := operators.Prepare(g, "model.onnx", operators.Options{}, &d)
		if p == nil {
			t.Errorf("%s (%s): %v", c.name, way, d.Diags)
			continue
		}
		if got := p.Known["y"].Shape; !slices.Equal(got, c.shape) {
			t.Errorf("%s (%s): shape %v, want %v", c.name, way, got, c.shape)
		}
		checkWindows(t, c.name, p)
		var in [][]float64
		for i, a := range c.args {
			if a != nil && data(i) {
				in = append(in, values(a))
			}
		}
		got, err := graphtest.Execute(p, in...)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s (%s): %v, %v, want %v", c.name, way, got, err, c.want)
		}
	}
}

func TestShape(t *testing.T) {
	t.Parallel()
	x := graphtest.Reals([]int{2, 3, 4}, graphtest.Count(24)...)
	for _, c := range []struct {
		attrs graphtest.Attrs
		want  []int64
	}{
		{nil, []int64{2, 3, 4}},
		{graphtest.Attrs{"start": 1}, []int64{3, 4}},
		{graphtest.Attrs{"start": -1}, []int64{4}},
		{graphtest.Attrs{"end": -1}, []int64{2, 3}},
		{graphtest.Attrs{"start": 1, "end": 2}, []int64{3}},
		{graphtest.Attrs{"start": 2, "end": 1}, nil},
		{graphtest.Attrs{"start": int64(math.MinInt64), "end": int64(math.MaxInt64)}, []int64{2, 3, 4}},
	} {
		var d diag.List
		p := operators.Prepare(graphtest.Single("", "Shape", 15, c.attrs, func(int) bool { return true }, x), "m",
			operators.Options{},
			&d)
		if p == nil {
			t.Errorf("%v: %v", c.attrs, d.Diags)
			continue
		}
		k := p.Known["y"]
		if k.Const == nil || k.DType != graph.Int64 || !slices.Equal(k.Const.I, c.want) ||
			!slices.Equal(k.Shape, []int{len(c.want)}) {
			t.Errorf("%v: %v, want %v", c.attrs, k, c.want)
		}
	}
}

func TestConstant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attrs graphtest.Attrs
		shape []int
		want  []float64
	}{
		{graphtest.Attrs{"value": graphtest.Reals([]int{2}, 1, 2)}, []int{2}, []float64{1, 2}},
		{graphtest.Attrs{"value_float": 0.5}, nil, []float64{0.5}},
		{graphtest.Attrs{"value_int": 7}, nil, []float64{7}},
		{graphtest.Attrs{"value_floats": []float64{1, 2}}, []int{2}, []float64{1, 2}},
		{graphtest.Attrs{"value_ints": []int64{3}}, []int{1}, []float64{3}},
	} {
		var d diag.List
		p := operators.Prepare(graphtest.Single("", "Constant", 13, c.attrs, nil), "m", operators.Options{}, &d)
		if p == nil || p.Known["y"].Const == nil || !slices.Equal(values(p.Known["y"].Const), c.want) ||
			!slices.Equal(p.Known["y"].Shape, c.shape) {
			t.Errorf("%v: %v", c.attrs, d.Diags)
		}
	}
}

// TestExactIntegers moves integers that no float64 holds: the ends of slices are such.
func TestExactIntegers(t *testing.T) {
	t.Parallel()
	big := []int64{math.MaxInt64, math.MinInt64, 1<<53 + 1}
	var d diag.List
	p := operators.Prepare(graphtest.Single("", "Concat", 13, graphtest.Attrs{"axis": 0},
		func(int) bool { return false }, graphtest.Int64s(big...),
		graphtest.Int64s(7)), "m", operators.Options{}, &d)
	if p == nil || p.Known["y"].Const == nil || !slices.Equal(p.Known["y"].Const.I, append(big, 7)) {
		t.Errorf("%v %v", p, d.Diags)
	}
	// Arithmetic on them is exact as well, though no constant comes of it.
	p = operators.Prepare(graphtest.Single("", "Sub", 13, nil, func(int) bool { return false },
		graphtest.Int64s(1<<53+1, math.MaxInt64),
		graphtest.Int64s(1<<53, math.MaxInt64-2)), "m", operators.Options{}, &d)
	if got, err := graphtest.Execute(p); err != nil || !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("differences of large integers: %v, %v, want 1 and 2", got, err)
	}
}
