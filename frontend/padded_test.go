package frontend_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// TestPaddedSequence puts constant steps in front of a recurrence: it is refused with the true reason, and maps where
// the hint is followed.
func TestPaddedSequence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value    float64
		follow   bool
		in, rear float64 // steps
	}{{0, false, 2, 0}, {0.5, false, 0, 1}, {0, true, 2, 0}, {0.5, true, 1, 3}} {
		name := fmt.Sprintf("%v, followed: %t", c.value, c.follow)
		m, b := onnxtest.New(14), onnxtest.New(14)
		for _, x := range []*onnxtest.Model{m, b} {
			x.Opset("qonnx.custom_op.general", 2).Init("s", graph.DTypeFloat32, nil, 0.25).
				Init("zero", graph.DTypeFloat32, nil, 0).Init("bits", graph.DTypeFloat32, nil, 4)
		}
		code := func(m *onnxtest.Model, in, out string) {
			m.Node("Quant", in, "s", "zero", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).
				Int("narrow", 0).Str("rounding_mode", "ROUND").Out(out)
		}
		b.Init("w", graph.DTypeFloat32, []int{3, 2}, 1, 2, -1, 1, 1, 0).Init("u", graph.DTypeFloat32, []int{2, 2}, 1,
			-1, 1, 1).
			Input("h", graph.DTypeFloat32, 2).Input("step", graph.DTypeFloat32, 3)
		b.Node("MatMul", "step", "w").Out("a")
		b.Node("MatMul", "h", "u").Out("c")
		b.Node("Add", "a", "c").Out("sum")
		b.Node("Tanh", "sum").Out("gate")
		code(b, "gate", "next")
		b.Output("next", graph.DTypeFloat32, 2)
		m.Input("x", graph.DTypeFloat32, 6, 3).Init("pads", graph.DTypeInt64, []int{4}, c.in, 0, c.rear, 0).
			Init("value", graph.DTypeFloat32, nil, c.value).Init("h0", graph.DTypeFloat32, []int{2}, 0, 0)
		code(m, "x", "codes")
		m.Node("Pad", "codes", "pads", "value").Out("padded")
		sequence := "padded"
		if c.follow {
			code(m, "padded", "again")
			sequence = "again"
		}
		m.Node("Scan", "h0", sequence).Name("loop").Int("num_scan_inputs", 1).Graph("body", b).Out("last")
		m.Output("last", graph.DTypeFloat32)
		var d diag.List
		im, err := frontend.Import("model.onnx", m.Bytes(), frontend.Options{}, &d)
		switch {
		case err != nil || (im.Model != nil) != c.follow:
			t.Errorf("%s: %v %v", name, err, d.Diags)
		case !c.follow && !strings.Contains(fmt.Sprint(d.Diags), "constants in some steps, and data in others"):
			t.Errorf("%s: %v", name, d.Diags)
		}
	}
}
