package operators_test

import (
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

const microsoft = "com.microsoft"

// TestCurves and what fused nodes say, where values are exact. (All values of curves: package compiler.)
func TestCurves(t *testing.T) {
	t.Parallel()
	row := func(v ...float64) []*graph.ConstantTensor {
		return []*graph.ConstantTensor{graphtest.Reals([]int{len(v)}, v...)}
	}
	image := graphtest.Reals([]int{1, 1, 2, 2}, 1, -2, 3, -4)
	pixel := graphtest.Reals([]int{1, 1, 1, 1}, 2)
	for _, c := range []opCase{
		{op: "HardSwish", args: row(-4, -3, -1.5, 0, 1.5, 3, 4), want: []float64{0, 0, -0.375, 0, 1.125, 3, 4}},
		{op: "ThresholdedRelu", args: row(-1, 1, 1.5), want: []float64{0, 0, 1.5}},
		{op: "ThresholdedRelu", attrs: graphtest.Attrs{"alpha": -2.0}, args: row(-3, -2, -1, 1), want: []float64{0, 0,
			-1, 1}},
		{op: "Shrink", args: row(-0.75, -0.5, 0, 0.5, 1), want: []float64{-0.75, 0, 0, 0, 1}},
		{op: "Shrink", attrs: graphtest.Attrs{"lambd": 1.0, "bias": 0.5}, args: row(-2, -1, 0, 1, 3),
			want: []float64{-1.5, 0, 0, 0, 2.5}},
		{op: "Celu", args: row(0, 2), want: []float64{0, 2}},
		{op: "Gelu", opset: 20, args: row(0), want: []float64{0}},
		{op: "Gelu", opset: 20, attrs: graphtest.Attrs{"approximate": "tanh"}, args: row(0), want: []float64{0}},
		{op: "Swish", opset: 24, args: row(0), want: []float64{0}},
		{op: "Mish", opset: 18, args: row(0), want: []float64{0}},
		{op: "Erf", args: row(0), want: []float64{0}},
		{op: "Sin", args: row(0), want: []float64{0}},
		{op: "Cos", args: row(0), want: []float64{1}},
		{op: "Acos", args: row(1), want: []float64{0}},
		{op: "Asin", args: row(0), want: []float64{0}},
		{op: "Acosh", args: row(1), want: []float64{0}},
		{op: "Cosh", args: row(0), want: []float64{1}},
		{op: "Asinh", args: row(0), want: []float64{0}},
		{op: "IsNaN", args: row(1, 2), want: []float64{0, 0}},
		{op: "IsInf", args: row(1, 2), want: []float64{0, 0}},
		{op: "Sum", args: append(append(row(1, 2), row(3, 4)...), row(5, 6)...), want: []float64{9, 12}},
		{op: "Mean", args: append(row(1, 2), row(3, 5)...), want: []float64{2, 3.5}},
		{op: "CastLike", opset: 15, args: []*graph.ConstantTensor{graphtest.Reals([]int{2}, 1.5, -1.5),
			graphtest.Ints(graph.DTypeInt8, []int{1}, 0)},
			want: []float64{1, -1}},
		{op: "BitwiseNot", opset: 18, args: []*graph.ConstantTensor{graphtest.Ints(graph.DTypeUInt8, []int{2}, 0, 5)},
			want: []float64{255, 250}},
		{op: "BitwiseNot", opset: 18, args: []*graph.ConstantTensor{graphtest.Ints(graph.DTypeInt32, []int{2}, 0, -5)},
			want: []float64{-1, 4}},
		{op: "Trilu", opset: 14, args: []*graph.ConstantTensor{graphtest.Reals([]int{2, 3}, 1, 2, 3, 4, 5, 6)},
			shape: []int{2,
				3},
			want: []float64{1, 2, 3, 0, 5, 6}},
		{op: "Trilu", opset: 14, attrs: graphtest.Attrs{"upper": 0}, fixed: true, shape: []int{2, 2},
			args: []*graph.ConstantTensor{graphtest.Reals([]int{2, 2}, 1, 2, 3, 4), graphtest.Ints(graph.DTypeInt64,
				nil,
				-1)},
			want: []float64{0, 0, 3, 0}},
		{op: "Gelu", domain: microsoft, args: row(0), want: []float64{0}},
		{op: "QuickGelu", domain: microsoft, args: row(0), want: []float64{0}},
		{op: "FastGelu", domain: microsoft, args: append(row(1), row(-1)...), want: []float64{0}},
		{op: "BiasGelu", domain: microsoft, args: append(row(2), row(-2)...), want: []float64{0}},
		{op: "FusedConv", domain: microsoft, attrs: graphtest.Attrs{"activation": "Relu"},
			args: []*graph.ConstantTensor{image,
				pixel},
			fixed: true, shape: []int{1, 1, 2, 2}, want: []float64{2, 0, 6, 0}},
		{op: "FusedConv", domain: microsoft, attrs: graphtest.Attrs{"activation": "Clip",
			"activation_params": []float64{-3, 4}},
			args: []*graph.ConstantTensor{image, pixel, nil, image}, fixed: true, shape: []int{1, 1, 2, 2},
			want: []float64{3, -3, 4, -3}},
		{op: "FusedGemm", domain: microsoft, fixed: true, shape: []int{1, 2}, want: []float64{6.5, -0.5},
			attrs: graphtest.Attrs{"activation": "LeakyRelu", "activation_alpha": 0.5, "transB": 1},
			args: []*graph.ConstantTensor{graphtest.Reals([]int{1, 2}, 1, 2), graphtest.Reals([]int{2, 2}, 1, 3, -1, 0),
				graphtest.Reals([]int{2}, -0.5, 0)}},
		{op: "FusedMatMul", domain: microsoft, fixed: true, shape: []int{1, 2}, want: []float64{3.5, -0.5},
			attrs: graphtest.Attrs{"alpha": 0.5, "transB": 1},
			args: []*graph.ConstantTensor{graphtest.Reals([]int{1, 2}, 1, 2), graphtest.Reals([]int{2, 2}, 1, 3, -1,
				0)}},
	} {
		if c.name = c.domain + c.op; c.shape == nil {
			c.shape = []int{len(c.want)}
		}
		c.check(t)
	}
}

// TestFamilies: what is not supported has a reason that is its own; FINN's layers name the step behind which they
// occur.
func TestFamilies(t *testing.T) {
	t.Parallel()
	const finn = "finn.custom_op.fpgadataflow"
	for _, c := range []struct {
		domain, op string
		attrs      graphtest.Attrs
		want       string
	}{
		{"", "CumSum", nil, "running sums"},
		{"", "BitShift", nil, "logic of single bits"},
		{"", "STFT", nil, "signal processing by spectra"},
		{"", "ScatterND", nil, "moving elements to places that depend on data"},
		{"", "RandomNormalLike", nil, "random numbers"},
		{microsoft, "MatMulNBits", nil, "quantisation of the weights alone"},
		{microsoft, "GroupNorm", nil, "normalisation by statistics of the data"},
		{"any.other", "DynamicQuantizeLinear", nil, "dynamic quantisation"},
		{"", "Nonesuch", nil, "no such operator is known"},
		{finn, "MVAU", nil, "FINN's graph after step_convert_to_hw"},
		{finn, "MatrixVectorActivation", nil, "FINN's graph after step_convert_to_hw"},
		{finn + ".hls", "MVAU_hls", nil, "FINN's graph after step_specialize_layers"},
		{finn + ".rtl", "MVAU_rtl", graphtest.Attrs{"code_gen_dir_ipgen": "/tmp/code"},
			"FINN's graph after step_hw_codegen"},
		{finn + ".rtl", "MVAU_rtl", graphtest.Attrs{"ipgen_path": "/tmp/ip"}, "FINN's graph after step_hw_ipgen"},
		{finn + ".rtl", "StreamingFIFO_rtl", nil, "FINN's graph after step_set_fifo_depths"},
		{finn, "StreamingDataflowPartition", nil, "FINN's graph after step_create_dataflow_partition"},
		{graphtest.QONNX, "GenericPartition", nil, "FINN's graph after step_create_dataflow_partition"},
	} {
		g := graphtest.Single(c.domain, c.op, 13, c.attrs, func(int) bool { return true }, graphtest.Reals([]int{2}, 1,
			2))
		var d diag.List
		if p := operators.Prepare(g, "m", operators.Options{}, &d); p != nil || len(d.Diags) == 0 ||
			!strings.Contains(d.Diags[0].Msg, c.want) {
			t.Errorf("%s %s: %v, want %q", c.domain, c.op, d.Diags, c.want)
		}
	}
}
