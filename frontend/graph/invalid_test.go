package graph_test

import (
	"math"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// dim is an input axis.
func dims(sizes ...int) graph.Value {
	v := graph.Value{Name: "x", DType: graph.Float32, Known: true}
	for _, s := range sizes {
		v.Dims = append(v.Dims, graph.Dim{Size: s})
	}
	return v
}

// TestInvalidNodes gives every operator nodes that contradict it; each must be refused with the right code and a text.
func TestInvalidNodes(t *testing.T) {
	t.Parallel()
	x := reals([]int{2, 3}, count(6)...)
	nan, inf := math.NaN(), math.Inf(1)
	one, zero, eight := scalar(1), scalar(0), scalar(8)
	bn := func(scale, bias, mean, variance *graph.Tensor) []*graph.Tensor {
		return []*graph.Tensor{reals([]int{1, 2}, 1, 2), scale, bias, mean, variance}
	}
	two := reals([]int{2}, 1, 1)
	signal, image, pixel := reals([]int{1, 1, 2}, 1, 2), reals([]int{1, 1, 2, 2}, count(4)...),
		reals([]int{1, 1, 1, 1}, 1)
	type args = []*graph.Tensor
	for _, c := range []struct {
		name   string
		domain string
		op     string
		opset  int64
		attrs  attrs
		args   args
		want   diag.Code
	}{
		{name: "unknown operator", op: "Det", args: args{x}, want: diag.OpUnsupported},
		{name: "unknown domain", domain: "other", op: "Quant", args: args{x, one, zero, eight},
			want: diag.OpUnsupported},
		{name: "too few inputs", op: "Add", args: args{x}, want: diag.OpInvalid},
		{name: "too many inputs", op: "Relu", args: args{x, x}, want: diag.OpInvalid},
		{name: "no inputs at all", op: "Concat", attrs: attrs{"axis": 0}, want: diag.OpInvalid},
		{name: "a required input is omitted", op: "Add", args: args{x, nil}, want: diag.OpInvalid},
		{name: "shapes do not broadcast", op: "Add", args: args{x, reals([]int{2}, 1, 2)}, want: diag.OpInvalid},
		{name: "broadcast along an axis, as before opset 7", op: "Add", opset: 6,
			attrs: attrs{"axis": 0, "broadcast": 1}, args: args{x, reals([]int{2}, 1, 2)}, want: diag.OpUnsupported},
		{name: "division by zero", op: "Div", args: args{x, reals([]int{3}, 1, 0, 1)}, want: diag.OpInvalid},
		{name: "exponent 1000", op: "Pow", args: args{x, scalar(1000)}, want: diag.OpUnsupported},
		{name: "root of integers", op: "Pow", args: args{int64s(4), scalar(0.5)}, want: diag.OpUnsupported},
		{name: "exponent infinity", op: "Pow", args: args{x, scalar(inf)}, want: diag.OpInvalid},
		{name: "bound per element", op: "Clip", args: args{x, x}, want: diag.OpInvalid},
		{name: "bound not a number", op: "Clip", args: args{x, scalar(nan)}, want: diag.OpInvalid},
		{name: "bounds as inputs before their time", op: "Clip", opset: 10, args: args{x, one}, want: diag.OpInvalid},
		{name: "minimum infinite", op: "Clip", args: args{x, scalar(inf)}, want: diag.OpInvalid},
		{name: "bound attribute not a number", op: "Clip", opset: 6, attrs: attrs{"min": nan}, args: args{x},
			want: diag.OpInvalid},
		{name: "maximum attribute minus infinity", op: "Clip", opset: 6, attrs: attrs{"max": -inf}, args: args{x},
			want: diag.OpInvalid},
		{name: "cast to nothing", op: "Cast", args: args{x}, want: diag.OpUnsupported},
		{name: "cast to text", op: "Cast", attrs: attrs{"to": int(graph.String)}, args: args{x},
			want: diag.OpUnsupported},
		{name: "cast to bool", op: "Cast", attrs: attrs{"to": int(graph.Bool)}, args: args{x},
			want: diag.OpUnsupported},
		{name: "cast to minifloats, which is a quantiser", op: "Cast", attrs: attrs{"to": int(graph.Float8E4M3FN)},
			args: args{x}, want: diag.OpUnsupported},
		{name: "cast to type 999", op: "Cast", attrs: attrs{"to": 999}, args: args{x}, want: diag.OpUnsupported},
		{name: "cast to type 2^32+1", op: "Cast", attrs: attrs{"to": int64(1)<<32 + 1}, args: args{x},
			want: diag.OpUnsupported},
		{name: "cast to type -1", op: "Cast", attrs: attrs{"to": -1}, args: args{x}, want: diag.OpUnsupported},
		{name: "a constant beyond its type", op: "Cast", attrs: attrs{"to": int(graph.Int8)},
			args: args{reals([]int{1}, 300)}, want: diag.OpInvalid},
		{name: "integer overflow", op: "Mul", args: args{int64s(1 << 40), int64s(1 << 40)}, want: diag.OpInvalid},
		{name: "batch normalisation of a vector", op: "BatchNormalization", args: args{two, two, two, two, two},
			want: diag.OpInvalid},
		{name: "one parameter too short", op: "BatchNormalization", args: bn(two, two, one, two), want: diag.OpInvalid},
		{name: "three channels for two", op: "BatchNormalization", args: bn(two, two, two, reals([]int{3}, 1, 1, 1)),
			want: diag.OpInvalid},
		{name: "negative variance", op: "BatchNormalization", args: bn(two, two, two, reals([]int{2}, 1, -1)),
			want: diag.OpInvalid},
		{name: "zero variance without epsilon", op: "BatchNormalization", attrs: attrs{"epsilon": 0.0},
			args: bn(two, two, two, reals([]int{2}, 1, 0)), want: diag.OpInvalid},
		{name: "epsilon not a number", op: "BatchNormalization", attrs: attrs{"epsilon": nan},
			args: bn(two, two, two, two), want: diag.OpInvalid},
		{name: "gamma infinite", op: "BatchNormalization", args: bn(reals([]int{2}, 1, inf), two, two, two),
			want: diag.OpInvalid},
		{name: "training mode", op: "BatchNormalization", attrs: attrs{"training_mode": 1},
			args: bn(two, two, two, two), want: diag.OpUnsupported},
		{name: "training mode of old", op: "BatchNormalization", opset: 6, args: bn(two, two, two, two),
			want: diag.OpUnsupported},
		{name: "statistics per element", op: "BatchNormalization", opset: 8, attrs: attrs{"spatial": 0},
			args: bn(two, two, two, two), want: diag.OpUnsupported},
		{name: "matmul of a scalar", op: "MatMul", args: args{x, one}, want: diag.OpInvalid},
		{name: "matmul 2x3 by 2x3", op: "MatMul", args: args{x, x}, want: diag.OpInvalid},
		{name: "matmul batches", op: "MatMul", args: args{reals([]int{2, 1, 1}, 1, 2), reals([]int{3, 1, 1}, 1, 2, 3)},
			want: diag.OpInvalid},
		{name: "matmul with NaN", op: "MatMul", args: args{x, reals([]int{3, 1}, 1, nan, 2)}, want: diag.OpInvalid},
		{name: "gemm of a vector", op: "Gemm", args: args{two, x}, want: diag.OpInvalid},
		{name: "gemm sizes", op: "Gemm", args: args{x, x}, want: diag.OpInvalid},
		{name: "gemm addend", op: "Gemm", attrs: attrs{"transB": 1}, args: args{x, x, reals([]int{3}, 1, 2, 3)},
			want: diag.OpInvalid},
		{name: "gemm addend with more axes", op: "Gemm", attrs: attrs{"transB": 1},
			args: args{x, x, reals([]int{2, 2, 2}, count(8)...)}, want: diag.OpInvalid},
		{name: "gemm alpha infinite", op: "Gemm", attrs: attrs{"transB": 1, "alpha": inf}, args: args{x, x},
			want: diag.OpInvalid},
		{name: "gemm beta not a number", op: "Gemm", attrs: attrs{"transB": 1, "beta": nan}, args: args{x, x, one},
			want: diag.OpInvalid},
		{name: "constant without a value", op: "Constant", want: diag.OpUnsupported},
		{name: "constant text", op: "Constant", attrs: attrs{"value_string": "x"}, want: diag.OpUnsupported},
		{name: "constant with a lost tensor", op: "Constant", attrs: attrs{"value": graph.Attr{Kind: graph.AttrTensor}},
			want: diag.OpUnsupported},
		{name: "constant not a number", op: "Constant", attrs: attrs{"value_float": nan}, want: diag.OpInvalid},
		{name: "flatten beyond", op: "Flatten", attrs: attrs{"axis": 3}, args: args{x}, want: diag.OpInvalid},
		{name: "flatten at -2^63", op: "Flatten", attrs: attrs{"axis": int64(math.MinInt64)}, args: args{x},
			want: diag.OpInvalid},
		{name: "reshape by reals", op: "Reshape", args: args{x, reals([]int{1}, 6)}, want: diag.OpInvalid},
		{name: "reshape to another size", op: "Reshape", args: args{x, int64s(4)}, want: diag.ShapeUnknown},
		{name: "reshape with a remainder", op: "Reshape", args: args{x, int64s(-1, 4)}, want: diag.ShapeUnknown},
		{name: "reshape open twice", op: "Reshape", args: args{x, int64s(-1, -1)}, want: diag.OpInvalid},
		{name: "reshape to -2", op: "Reshape", args: args{x, int64s(-2, -3)}, want: diag.OpInvalid},
		{name: "reshape copies what is not there", op: "Reshape", args: args{x, int64s(0, 0, 0)}, want: diag.OpInvalid},
		{name: "reshape to 2^64", op: "Reshape", args: args{x, int64s(1<<32, 1<<32)}, want: diag.OpInvalid},
		{name: "reshape to 2^52", op: "Reshape", args: args{x, int64s(1<<26, 1<<26)}, want: diag.OpInvalid},
		{name: "reshape nothing openly", op: "Reshape", opset: 14, attrs: attrs{"allowzero": 1},
			args: args{reals([]int{0}), int64s(0, -1)}, want: diag.OpInvalid},
		{name: "reshape without a shape, as before opset 5", op: "Reshape", opset: 1, attrs: attrs{"shape": []int64{6}},
			args: args{x}, want: diag.OpInvalid},
		{name: "squeeze 2", op: "Squeeze", args: args{x, int64s(0)}, want: diag.OpInvalid},
		{name: "squeeze beyond", op: "Squeeze", args: args{x, int64s(5)}, want: diag.OpInvalid},
		{name: "squeeze twice", op: "Squeeze", args: args{reals([]int{1, 1}, 1), int64s(0, -2)}, want: diag.OpInvalid},
		{name: "unsqueeze beyond", op: "Unsqueeze", args: args{x, int64s(3)}, want: diag.OpInvalid},
		{name: "unsqueeze twice", op: "Unsqueeze", args: args{x, int64s(0, 0)}, want: diag.OpInvalid},
		{name: "unsqueeze by a matrix of reals", op: "Unsqueeze", args: args{x, x}, want: diag.OpInvalid},
		{name: "perm too short", op: "Transpose", attrs: attrs{"perm": []int64{0}}, args: args{x},
			want: diag.OpInvalid},
		{name: "perm repeats", op: "Transpose", attrs: attrs{"perm": []int64{0, 0}}, args: args{x},
			want: diag.OpInvalid},
		{name: "perm beyond", op: "Transpose", attrs: attrs{"perm": []int64{0, 7}}, args: args{x},
			want: diag.OpInvalid},
		{name: "concat of scalars", op: "Concat", attrs: attrs{"axis": 0}, args: args{one, one}, want: diag.OpInvalid},
		{name: "concat beyond", op: "Concat", attrs: attrs{"axis": 2}, args: args{x, x}, want: diag.OpInvalid},
		{name: "concat of other shapes", op: "Concat", attrs: attrs{"axis": 0}, args: args{x, reals([]int{1, 2}, 1, 2)},
			want: diag.OpInvalid},
		{name: "concat of other ranks", op: "Concat", attrs: attrs{"axis": 0}, args: args{x, two},
			want: diag.OpInvalid},
		{name: "concat with a gap", op: "Concat", attrs: attrs{"axis": 0}, args: args{x, nil, x}, want: diag.OpInvalid},
		{name: "concat of reals and integers", op: "Concat", attrs: attrs{"axis": 0}, args: args{two, int64s(1)},
			want: diag.OpInvalid},
		{name: "gather beyond", op: "Gather", args: args{x, int64s(2)}, want: diag.OpInvalid},
		{name: "gather far below", op: "Gather", args: args{x, int64s(math.MinInt64)}, want: diag.OpInvalid},
		{name: "gather from a scalar", op: "Gather", args: args{one, int64s(0)}, want: diag.OpInvalid},
		{name: "gather by reals", op: "Gather", args: args{x, two}, want: diag.OpInvalid},
		{name: "quantise with scale 0", op: "QuantizeLinear", args: args{x, zero}, want: diag.QuantInvalid},
		{name: "quantise with scale NaN", op: "QuantizeLinear", args: args{x, scalar(nan)}, want: diag.OpInvalid},
		{name: "quantise with scale infinity", op: "QuantizeLinear", args: args{x, scalar(inf)}, want: diag.OpInvalid},
		{name: "quantise to int32", op: "QuantizeLinear", args: args{x, one, ints(graph.Int32, nil, 0)},
			want: diag.QuantInvalid},
		{name: "quantise to minifloats", op: "QuantizeLinear", attrs: attrs{"output_dtype": int(graph.Float8E5M2)},
			args: args{x, one}, want: diag.QuantInvalid},
		{name: "quantise to type 2^32+2", op: "QuantizeLinear", attrs: attrs{"output_dtype": int64(1)<<32 + 2},
			args: args{x, one}, want: diag.QuantInvalid},
		{name: "quantise to bool", op: "QuantizeLinear", args: args{x, one, ints(graph.Bool, nil, 0)},
			want: diag.QuantInvalid},
		{name: "quantise with a real zero point", op: "QuantizeLinear", args: args{x, one, zero},
			want: diag.QuantInvalid},
		{name: "quantise per axis of another size", op: "QuantizeLinear", args: args{x, two}, want: diag.OpInvalid},
		{name: "quantise per axis beyond", op: "QuantizeLinear", attrs: attrs{"axis": 2}, args: args{x, two},
			want: diag.OpInvalid},
		{name: "quantise by a matrix of scales", op: "QuantizeLinear",
			args: args{x, reals([]int{2, 3}, 1, 1, 1, 1, 1, 1)}, want: diag.OpInvalid},
		{name: "quantise in blocks", op: "QuantizeLinear", opset: 21, attrs: attrs{"block_size": 2}, args: args{x, one},
			want: diag.QuantInvalid},
		{name: "dequantise reals", op: "DequantizeLinear", args: args{x, one}, want: diag.OpInvalid},
		{name: "dequantise in blocks", op: "DequantizeLinear", attrs: attrs{"block_size": 2},
			args: args{int64s(1), one}, want: diag.QuantInvalid},
		{name: "quant with scale 0", domain: qonnx, op: "Quant", args: args{x, zero, zero, eight},
			want: diag.QuantInvalid},
		{name: "quant with scale infinity", domain: qonnx, op: "Quant", args: args{x, scalar(inf), zero, eight},
			want: diag.OpInvalid},
		{name: "quant with zero point NaN", domain: qonnx, op: "Quant", args: args{x, one, scalar(nan), eight},
			want: diag.OpInvalid},
		{name: "quant with 0 bits", domain: qonnx, op: "Quant", args: args{x, one, zero, zero},
			want: diag.QuantInvalid},
		{name: "quant with 2.5 bits", domain: qonnx, op: "Quant", args: args{x, one, zero, scalar(2.5)},
			want: diag.QuantInvalid},
		{name: "quant with 33 bits", domain: qonnx, op: "Quant", args: args{x, one, zero, scalar(33)},
			want: diag.QuantInvalid},
		{name: "quant with bits per channel", domain: qonnx, op: "Quant",
			args: args{x, one, zero, reals([]int{3}, 8, 8, 8)}, want: diag.QuantInvalid},
		{name: "quant with an unknown rounding", domain: qonnx, op: "Quant",
			attrs: attrs{"rounding_mode": "STOCHASTIC"}, args: args{x, one, zero, eight}, want: diag.QuantInvalid},
		{name: "quant whose scale does not broadcast", domain: qonnx, op: "Quant", args: args{x, two, zero, eight},
			want: diag.OpInvalid},
		{name: "conv of a volume", op: "Conv", args: args{reals([]int{1, 1, 1, 1, 1}, 1),
			reals([]int{1, 1, 1, 1, 1}, 1)}, want: diag.OpUnsupported},
		{name: "conv of a matrix", op: "Conv", args: args{x, x}, want: diag.OpInvalid},
		{name: "conv with weights of another rank", op: "Conv", args: args{image, signal}, want: diag.OpInvalid},
		{name: "conv of other channels", op: "Conv", args: args{image, reals([]int{1, 2, 1, 1}, 1, 2)},
			want: diag.OpInvalid},
		{name: "conv in 0 groups", op: "Conv", attrs: attrs{"group": 0}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv in -1 groups", op: "Conv", attrs: attrs{"group": -1}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv in 2^62 groups", op: "Conv", attrs: attrs{"group": 1 << 62}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv of one channel in 2 groups", op: "Conv", attrs: attrs{"group": 2}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv by no weights", op: "Conv", args: args{image, reals([]int{1, 1, 0, 1})}, want: diag.OpInvalid},
		{name: "conv with a larger kernel", op: "Conv", args: args{image, reals([]int{1, 1, 3, 1}, 1, 2, 3)},
			want: diag.OpInvalid},
		{name: "conv with another kernel_shape", op: "Conv", attrs: attrs{"kernel_shape": []int64{2, 2}},
			args: args{image, pixel}, want: diag.OpInvalid},
		{name: "conv with one stride", op: "Conv", attrs: attrs{"strides": []int64{1}}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv with stride 0", op: "Conv", attrs: attrs{"strides": []int64{0, 1}}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv with stride -1", op: "Conv", attrs: attrs{"strides": []int64{1, -1}}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv with stride 2^63-1", op: "Conv", attrs: attrs{"strides": []int64{1, math.MaxInt64}},
			args: args{image, pixel}, want: diag.OpInvalid},
		{name: "conv with dilation 0", op: "Conv", attrs: attrs{"dilations": []int64{0, 1}}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv with dilation 2^60", op: "Conv", attrs: attrs{"dilations": []int64{1 << 60, 1}},
			args: args{image, pixel}, want: diag.OpInvalid},
		{name: "conv with a negative pad", op: "Conv", attrs: attrs{"pads": []int64{0, -1, 0, 0}},
			args: args{image, pixel}, want: diag.OpInvalid},
		{name: "conv with pads of 2^62", op: "Conv", attrs: attrs{"pads": []int64{1 << 62, 0, 1 << 62, 0}},
			args: args{image, pixel}, want: diag.OpInvalid},
		{name: "conv of integers with weights of reals", op: "Conv",
			args: args{ints(graph.UInt8, []int{1, 1, 1, 1}, 3), pixel}, want: diag.OpInvalid},
		{name: "conv with pads of 2^26", op: "Conv", attrs: attrs{"pads": []int64{1 << 26, 1 << 26, 0, 0}},
			args: args{image, pixel}, want: diag.ModelTooLarge},
		{name: "conv with two pads", op: "Conv", attrs: attrs{"pads": []int64{1, 1}}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv with unknown auto_pad", op: "Conv", attrs: attrs{"auto_pad": "SAME"}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "conv with a bias too many", op: "Conv", args: args{image, pixel, two}, want: diag.OpInvalid},
		{name: "conv with a matrix as bias", op: "Conv", args: args{image, pixel, reals([]int{1, 1}, 1)},
			want: diag.OpInvalid},
		{name: "transposed conv of other channels", op: "ConvTranspose",
			args: args{image, reals([]int{2, 1, 1, 1}, 1, 2)}, want: diag.OpInvalid},
		{name: "transposed conv in 3 groups", op: "ConvTranspose", attrs: attrs{"group": 3}, args: args{image, pixel},
			want: diag.OpInvalid},
		{name: "transposed conv cropped to nothing", op: "ConvTranspose", attrs: attrs{"pads": []int64{2, 0, 0, 0}},
			args: args{image, pixel}, want: diag.OpInvalid},
		{name: "transposed conv with stride 2^26", op: "ConvTranspose",
			attrs: attrs{"strides": []int64{1 << 26, 1 << 26}}, args: args{image, pixel}, want: diag.ModelTooLarge},
		{name: "transposed conv to 2^40", op: "ConvTranspose", attrs: attrs{"output_shape": []int64{1 << 40, 1}},
			args: args{image, pixel}, want: diag.OpInvalid},
		{name: "transposed conv with padding of -1", op: "ConvTranspose",
			attrs: attrs{"output_padding": []int64{0, -1}}, args: args{image, pixel}, want: diag.OpInvalid},
		{name: "transposed conv of a volume", op: "ConvTranspose",
			args: args{reals([]int{1, 1, 1, 1, 1}, 1), reals([]int{1, 1, 1, 1, 1}, 1)}, want: diag.OpUnsupported},
		{name: "pool without a kernel", op: "MaxPool", args: args{image}, want: diag.OpInvalid},
		{name: "pool with kernel 0", op: "MaxPool", attrs: attrs{"kernel_shape": []int64{0, 1}}, args: args{image},
			want: diag.OpInvalid},
		{name: "pool with kernel 2^62", op: "AveragePool", attrs: attrs{"kernel_shape": []int64{1 << 62, 1 << 62}},
			args: args{image}, want: diag.OpInvalid},
		{name: "pool beyond", op: "MaxPool", attrs: attrs{"kernel_shape": []int64{3, 1}}, args: args{image},
			want: diag.OpInvalid},
		{name: "pool of windows of padding", op: "MaxPool", attrs: attrs{"kernel_shape": []int64{1, 1},
			"pads": []int64{1, 0, 0, 0}}, args: args{image}, want: diag.OpInvalid},
		{name: "mean of windows of padding", op: "AveragePool",
			attrs: attrs{"kernel_shape": []int64{1, 1}, "pads": []int64{0, 0, 0, 1}}, args: args{image},
			want: diag.OpInvalid},
		{name: "dilation jumps over the data", op: "MaxPool",
			attrs: attrs{"kernel_shape": []int64{2, 1}, "dilations": []int64{2, 1}, "pads": []int64{1, 0, 1, 0}},
			args:  args{reals([]int{1, 1, 1, 1}, 1)}, want: diag.OpInvalid},
		{name: "pool with 2^24 variables", op: "MaxPool", attrs: attrs{"kernel_shape": []int64{1 << 12, 1 << 12},
			"pads": []int64{1 << 11, 1 << 11, 1 << 11, 1 << 11}}, args: args{image}, want: diag.OpUnsupported},
		{name: "pool with 2^21 entries for each variable", op: "MaxPool",
			attrs: attrs{"kernel_shape": []int64{1, 4000}, "pads": []int64{0, 3999, 0, 3999}},
			args:  args{reals([]int{1, 1, 16, 4000}, make([]float64, 64000)...)}, want: diag.ModelTooLarge},
		{name: "mean over a padded frame of 2^52", op: "AveragePool",
			attrs: attrs{"kernel_shape": []int64{1, 1}, "count_include_pad": 1,
				"pads": []int64{1 << 26, 1 << 26, 0, 0}}, args: args{image}, want: diag.ModelTooLarge},
		{name: "mean of integers", op: "GlobalAveragePool", args: args{ints(graph.Int32, []int{1, 1, 2}, 1, 2)},
			want: diag.OpUnsupported},
		{name: "global pool of a matrix", op: "GlobalMaxPool", args: args{x}, want: diag.OpInvalid},
		{name: "reduce beyond", op: "ReduceSum", args: args{x, int64s(2)}, want: diag.OpInvalid},
		{name: "reduce twice", op: "ReduceMax", opset: 11, attrs: attrs{"axes": []int64{0, -2}}, args: args{x},
			want: diag.OpInvalid},
		{name: "reduce nothing", op: "ReduceMax", args: args{reals([]int{0, 2})}, want: diag.OpInvalid},
		{name: "mean of integers over axes", op: "ReduceMean", args: args{int64s(1, 2)}, want: diag.OpUnsupported},
		{name: "product of 5000", op: "ReduceProd", args: args{reals([]int{5000}, make([]float64, 5000)...)},
			want: diag.OpUnsupported},
		{name: "pad with too few", op: "Pad", args: args{x, int64s(1, 1)}, want: diag.OpInvalid},
		{name: "pad by nothing", op: "Pad", args: args{x}, want: diag.OpInvalid},
		{name: "pad by 2^62", op: "Pad", args: args{x, int64s(1<<62, 0, 1<<62, 0)}, want: diag.OpInvalid},
		{name: "pad by 2^26", op: "Pad", args: args{x, int64s(1<<25, 1<<25, 0, 0)}, want: diag.ModelTooLarge},
		{name: "pad away more than there is", op: "Pad", args: args{x, int64s(-3, 0, 0, 0)}, want: diag.OpInvalid},
		{name: "pad by mirrors", op: "Pad", attrs: attrs{"mode": "mirror"}, args: args{x, int64s(0, 0, 0, 0)},
			want: diag.OpInvalid},
		{name: "crop by reflection", op: "Pad", attrs: attrs{"mode": "reflect"}, args: args{x, int64s(-1, 0, 0, 0)},
			want: diag.OpUnsupported},
		{name: "reflect nothing", op: "Pad", attrs: attrs{"mode": "edge"}, args: args{reals([]int{0}), int64s(1, 0)},
			want: diag.OpInvalid},
		{name: "pad with a real in integers", op: "Pad", args: args{int64s(1), int64s(1, 0), one},
			want: diag.OpInvalid},
		{name: "pad with two values", op: "Pad", args: args{x, int64s(1, 0, 0, 0), two}, want: diag.OpInvalid},
		{name: "pad an axis twice", op: "Pad", opset: 18, args: args{x, int64s(1, 0, 0, 0), one, int64s(0, -2)},
			want: diag.OpInvalid},
		{name: "resize by 1.5", op: "Resize", args: args{x, nil, reals([]int{2}, 1, 1.5)}, want: diag.OpUnsupported},
		{name: "resize by 0", op: "Resize", args: args{x, nil, reals([]int{2}, 1, 0)}, want: diag.OpUnsupported},
		{name: "resize by 2^30", op: "Resize", args: args{x, nil, reals([]int{2}, 1, 1<<30)}, want: diag.OpUnsupported},
		{name: "resize by 2^26", op: "Resize", args: args{x, nil, reals([]int{2}, 1, 1<<26)}, want: diag.OpInvalid},
		{name: "resize to 2^20 by 2^20", op: "Resize", args: args{x, nil, reals([]int{2}, 1<<20, 1<<20)},
			want: diag.ModelTooLarge},
		{name: "resize linearly", op: "Resize", attrs: attrs{"mode": "linear"},
			args: args{x, nil, reals([]int{2}, 1, 2)}, want: diag.OpUnsupported},
		{name: "resize a crop", op: "Resize", attrs: attrs{"coordinate_transformation_mode": "tf_crop_and_resize"},
			args: args{x, nil, reals([]int{2}, 1, 2)}, want: diag.OpUnsupported},
		{name: "resize to the nearest of unknown", op: "Resize", attrs: attrs{"nearest_mode": "far"},
			args: args{x, nil, reals([]int{2}, 1, 2)}, want: diag.OpInvalid},
		{name: "resize keeping the ratio", op: "Resize", opset: 18,
			attrs: attrs{"keep_aspect_ratio_policy": "not_larger"}, args: args{x, nil, reals([]int{2}, 1, 2)},
			want: diag.OpUnsupported},
		{name: "resize with a factor too few", op: "Resize", args: args{x, nil, reals([]int{1}, 1)},
			want: diag.OpInvalid},
		{name: "resize by nothing", op: "Resize", args: args{x}, want: diag.OpInvalid},
		{name: "resize to less", op: "Resize", args: args{x, nil, nil, int64s(1, 3)}, want: diag.OpUnsupported},
		{name: "resize to -1", op: "Resize", args: args{x, nil, nil, int64s(-1, 3)}, want: diag.OpInvalid},
		{name: "upsample by nothing", op: "Upsample", opset: 7, args: args{x}, want: diag.OpInvalid},
		{name: "depth of a matrix", op: "DepthToSpace", attrs: attrs{"blocksize": 1}, args: args{x},
			want: diag.OpInvalid},
		{name: "depth in blocks of 0", op: "DepthToSpace", args: args{image}, want: diag.OpInvalid},
		{name: "depth in blocks of 2", op: "DepthToSpace", attrs: attrs{"blocksize": 2}, args: args{image},
			want: diag.OpInvalid},
		{name: "depth in blocks of 2^40", op: "DepthToSpace", attrs: attrs{"blocksize": 1 << 40}, args: args{image},
			want: diag.OpInvalid},
		{name: "depth by rows", op: "DepthToSpace", attrs: attrs{"blocksize": 1, "mode": "ROW"}, args: args{image},
			want: diag.OpInvalid},
		{name: "space in blocks of 3", op: "SpaceToDepth", attrs: attrs{"blocksize": 3}, args: args{image},
			want: diag.OpInvalid},
		{name: "a part of another operator", domain: graph.Internal, op: "Spread", args: args{image, one},
			want: diag.OpUnsupported},
		{name: "quantised convolution of too few", op: "QLinearConv", args: args{image, one}, want: diag.OpUnsupported},
		{name: "code with mode 0", domain: graph.Internal, op: "Code", attrs: attrs{"lo": 0.0, "hi": 3.0},
			args: args{x, one, zero}, want: diag.QuantInvalid},
		{name: "code with mode 2^32+1", domain: graph.Internal, op: "Code",
			attrs: attrs{"lo": 0.0, "hi": 3.0, "mode": int64(1)<<32 + 1}, args: args{x, one, zero},
			want: diag.QuantInvalid},
		{name: "code with crossed limits", domain: graph.Internal, op: "Code",
			attrs: attrs{"lo": 4.0, "hi": 3.0, "mode": 1}, args: args{x, one, zero}, want: diag.QuantInvalid},
		{name: "code with halves", domain: graph.Internal, op: "Code", attrs: attrs{"lo": 0.5, "hi": 3.0, "mode": 1},
			args: args{x, one, zero}, want: diag.QuantInvalid},
		{name: "code to 1e30", domain: graph.Internal, op: "Code", attrs: attrs{"lo": 0.0, "hi": 1e30, "mode": 1},
			args: args{x, one, zero}, want: diag.QuantInvalid},
		{name: "code with scale 0", domain: graph.Internal, op: "Code", attrs: attrs{"lo": 0.0, "hi": 3.0, "mode": 1},
			args: args{x, zero, zero}, want: diag.QuantInvalid},
	} {
		for way, data := range map[string]func(int) bool{"constants": func(int) bool { return false },
			"one input": func(i int) bool { return i == 0 }} {
			if way == "one input" && (len(c.args) == 0 || c.args[0].Len() == 0 || c.args[0].DType == graph.Int64 &&
				c.want == diag.OpInvalid) {
				continue
			}
			opset := c.opset
			if opset == 0 {
				opset = 13
			}
			var d diag.List
			p := graph.Prepare(single(c.domain, c.op, opset, c.attrs, data, c.args...), "model.onnx", graph.Options{},
				&d)
			switch {
			case p != nil && way == "one input" && strings.HasPrefix(c.name, "a constant"):
			case p != nil || len(d.Diags) != 1:
				t.Errorf("%s (%s): accepted, or not refused once: %v", c.name, way, d.Diags)
			case d.Diags[0].Code != c.want || d.Diags[0].Msg == "" || d.Diags[0].Where != "model.onnx, node 0" ||
				d.Diags[0].Node != "n":
				t.Errorf("%s (%s): %v, want code %s", c.name, way, d.Diags[0], c.want)
			}
		}
	}
}

// TestDataDependent gives parameters that must be constants as data.
func TestDataDependent(t *testing.T) {
	t.Parallel()
	x, one, eight := reals([]int{2, 3}, count(6)...), scalar(1), scalar(8)
	for _, c := range []struct {
		domain, op string
		data       int // which argument
		args       []*graph.Tensor
		want       diag.Code
	}{
		{"", "Pow", 1, []*graph.Tensor{x, one}, diag.OpUnsupported},
		{"", "Reshape", 1, []*graph.Tensor{x, int64s(6)}, diag.ShapeUnknown},
		{"", "Squeeze", 1, []*graph.Tensor{x, int64s(0)}, diag.ShapeUnknown},
		{"", "Unsqueeze", 1, []*graph.Tensor{x, int64s(0)}, diag.ShapeUnknown},
		{"", "Gather", 1, []*graph.Tensor{scalar(1), int64s(0)}, diag.OpInvalid},
		{"", "Pad", 1, []*graph.Tensor{x, int64s(0, 0, 0, 0)}, diag.ShapeUnknown},
		{"", "Resize", 2, []*graph.Tensor{x, nil, reals([]int{2}, 1, 1)}, diag.OpUnsupported},
		{"", "Resize", 3, []*graph.Tensor{x, nil, nil, int64s(2, 3)}, diag.ShapeUnknown},
		{"", "ReduceSum", 1, []*graph.Tensor{x, int64s(0)}, diag.ShapeUnknown},
		{"", "QuantizeLinear", 1, []*graph.Tensor{x, one}, diag.QuantInvalid},
		{"", "QuantizeLinear", 2, []*graph.Tensor{x, one, ints(graph.UInt8, nil, 0)}, diag.QuantInvalid},
		{"", "DequantizeLinear", 1, []*graph.Tensor{int64s(1), one}, diag.QuantInvalid},
		{qonnx, "Quant", 1, []*graph.Tensor{x, one, one, eight}, diag.QuantInvalid},
		{qonnx, "Quant", 2, []*graph.Tensor{x, one, one, eight}, diag.QuantInvalid},
		{qonnx, "Quant", 3, []*graph.Tensor{x, one, one, eight}, diag.QuantInvalid},
	} {
		var d diag.List
		p := graph.Prepare(single(c.domain, c.op, 13, nil, func(i int) bool { return i == c.data }, c.args...), "m",
			graph.Options{}, &d)
		if p != nil || len(d.Diags) != 1 || d.Diags[0].Code != c.want {
			t.Errorf("%s with input %d from data: %v, want %s", c.op, c.data, d.Diags, c.want)
		}
	}
}
