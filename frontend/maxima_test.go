package frontend_test

import (
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// TestMaximaOfChannels checks that a maximum over channels is refused with the true reason, and that following the hint
// makes the model map.
func TestMaximaOfChannels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dims []any
		axis int64
		to   []float64 // what is reshaped to, with the axis last; none
		perm []int64
		says string
	}{
		{[]any{1, 6}, -1, nil, nil, `another function of 6 elements of "xq.codes"`},
		{[]any{1, 3, 4, 6}, -1, nil, nil, `another function of 6 elements of "xq.codes"`},
		{[]any{1, 3, 4, 6}, 1, nil, nil, `another function of 3 elements of "xq.codes"`},
		{[]any{1, 6}, -1, []float64{1, 1, -1}, nil, ""},
		{[]any{1, 3, 4, 6}, -1, []float64{1, 12, -1}, nil, ""},
		{[]any{1, 3, 4, 6}, -1, []float64{1, 24, -1}, []int64{0, 2, 3, 1}, ""},
	} {
		m := onnxtest.New(14).Opset("qonnx.custom_op.general", 2)
		m.Input("x", graph.DTypeFloat32, c.dims...).Init("s", graph.DTypeFloat32, nil, 0.25).Init("zero",
			graph.DTypeFloat32, nil, 0).
			Init("bits", graph.DTypeFloat32, nil, 4)
		code := func(in, out string) {
			m.Node("Quant", in, "s", "zero", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).
				Int("narrow", 0).Str("rounding_mode", "ROUND").Out(out)
		}
		code("x", "xq")
		last := "xq"
		if c.perm != nil {
			m.Node("Transpose", last).Ints("perm", c.perm...).Out("turned")
			last = "turned"
		}
		if c.to != nil {
			m.Init("shape", graph.DTypeInt64, []int{3}, c.to...).Node("Reshape", last, "shape").Out("reshaped")
			last = "reshaped"
		}
		m.Node("ReduceMax", last).Ints("axes", c.axis).Int("keepdims", 0).Out("most")
		code("most", "y")
		m.Output("y", graph.DTypeFloat32)
		var d diag.List
		im, err := frontend.Import("model.onnx", m.Bytes(), frontend.Options{}, &d)
		if err != nil || (im.Model == nil) != (c.says != "") {
			t.Errorf("%v over %d: %v %v", c.dims, c.axis, err, d.Diags)
			continue
		}
		if c.says != "" && (len(d.Diags) != 1 || !strings.Contains(d.Diags[0].Msg, c.says) ||
			!strings.Contains(d.Diags[0].Hint, "reshape to (1, channels, elements)")) {
			t.Errorf("%v over %d: %v, want %q", c.dims, c.axis, d.Diags, c.says)
		}
	}
}
