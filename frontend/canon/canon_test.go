package canon_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/pass"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/golden"
	"hlsgen/internal/testsupport/onnxtest"
)

const qonnx = "qonnx.custom_op.general"

// The handmade models: every spelling that a pass changes, and some that it must leave alone.
var models = []struct {
	name  string
	build func(m *onnxtest.Model)
}{
	{"qonnx", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, "N", 3).Output("y", graph.DTypeFloat32, "N", 2)
		m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("eight",
			graph.DTypeFloat32, nil, 8)
		m.Init("w", graph.DTypeFloat32, []int{2, 3}, 0.3, -0.6, 0.9, -1.2, 0, 0.7).Init("ws", graph.DTypeFloat32,
			[]int{2, 1},
			0.25, 0.5).Init("four", graph.DTypeFloat32, nil, 4).Init("c", graph.DTypeFloat32, []int{2}, 0.5, -0.125)
		m.Node("Quant", "x", "s", "z", "eight").Domain(qonnx).Int("signed", 1).Out("xq")
		m.Node("Quant", "w", "ws", "z", "four").Domain(qonnx).Int("signed", 1).Int("narrow", 1).Str("rounding_mode",
			"ROUND").Out("wq")
		m.Node("Gemm", "xq", "wq", "c").Int("transB", 1).Float("alpha", 0.5).Float("beta", 2).Out("h")
		m.Node("Relu", "h").Out("r")
		m.Node("Quant", "r", "s", "z", "four").Domain(qonnx).Int("signed", 0).Str("rounding_mode", "FLOOR").Out("y")
	}},
	{"qcdq", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, "N", 2).Output("y", graph.DTypeFloat32, "N", 2)
		m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeUInt8, nil, 3).Init("lo", graph.DTypeUInt8, nil,
			0).Init("hi",
			graph.DTypeUInt8, nil, 15)
		m.Init("w", graph.DTypeInt8, []int{2, 2}, 1, -2, 3, 0).Init("ws", graph.DTypeFloat32, []int{2}, 0.25,
			0.5).Init("wz",
			graph.DTypeInt8, []int{2}, 0, 0)
		m.Init("s2", graph.DTypeFloat32, []int{2}, 0.125, 1).Init("z2", graph.DTypeInt8, []int{2}, 1, -1)
		m.Node("QuantizeLinear", "x", "s", "z").Out("q")
		m.Node("Clip", "q", "lo", "hi").Out("qc")
		m.Node("DequantizeLinear", "qc", "s", "z").Out("xq")
		m.Node("DequantizeLinear", "w", "ws", "wz").Int("axis", 1).Out("wq")
		m.Node("MatMul", "xq", "wq").Out("h")
		m.Node("QuantizeLinear", "h", "s2", "z2").Int("axis", -1).Out("hq")
		m.Node("DequantizeLinear", "hq", "s2", "z2").Int("axis", 1).Out("y")
	}},
	{"codes as output", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 4).Output("y", graph.DTypeUInt8, 4)
		m.Init("s", graph.DTypeFloat32, []int{1}, 0.3)
		m.Node("QuantizeLinear", "x", "s").Out("y")
	}},
	{"computed parameters", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 1, 2, 2).Output("y", graph.DTypeFloat32, 1, 4)
		m.Init("zero", graph.DTypeInt64, nil, 0).Init("one", graph.DTypeInt64, []int{1}, -1).Init("axes",
			graph.DTypeInt64, []int{1},
			0)
		m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("half",
			graph.DTypeFloat32, nil, 2)
		m.Node("Shape", "x").Out("shape")
		m.Node("Gather", "shape", "zero").Out("batch")
		m.Node("Unsqueeze", "batch", "axes").Out("b1")
		m.Node("Concat", "b1", "one").Int("axis", 0).Out("to")
		m.Node("Reshape", "x", "to").Out("flat")
		m.Node("Mul", "half", "half").Out("bits")
		m.Node("Quant", "flat", "s", "z", "bits").Domain(qonnx).Out("y")
	}},
	{"transposed operands", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 3, 2).Output("y", graph.DTypeFloat32, 2, 3)
		m.Init("w", graph.DTypeFloat32, []int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 10)
		m.Node("Gemm", "x", "w").Int("transA", 1).Int("transB", 1).Out("y")
	}},
	{"clips that stay", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 6).Output("a", graph.DTypeFloat32, 6).Output("b", graph.DTypeFloat32,
			6).Output("c",
			graph.DTypeUInt8, 6)
		m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeUInt8, nil, 3).Init("lo", graph.DTypeUInt8, nil,
			2).Init("hi",
			graph.DTypeUInt8, nil, 9).Init("half", graph.DTypeFloat32, nil, 0.5)
		m.Node("QuantizeLinear", "x", "s", "z").Out("q") // read twice: the clip is of one reader alone
		m.Node("Clip", "q", "lo", "hi").Out("qc")
		m.Node("DequantizeLinear", "q", "s", "z").Out("a")
		m.Node("DequantizeLinear", "qc", "s", "z").Out("bc")
		m.Node("Clip", "bc", "", "half").Out("b") // of values, not of codes
		m.Node("QuantizeLinear", "x", "s", "z").Out("r")
		m.Node("Clip", "r", "hi", "lo").Out("c") // crossed bounds
	}},
	{"clips in a row", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 5).Output("y", graph.DTypeInt8, 5)
		m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeInt8, nil, 0).Init("lo", graph.DTypeInt8, nil,
			-8).Init("hi",
			graph.DTypeInt8, nil, 7).Init("lo2", graph.DTypeInt8, nil, -3)
		m.Node("QuantizeLinear", "x", "s", "z").Out("q")
		m.Node("Clip", "q", "lo", "hi").Out("r")
		m.Node("Clip", "r", "lo2").Out("y")
	}},
	{"names that are taken", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 1, 1).Output("y", graph.DTypeFloat32, 1, 1).Output("y.codes",
			graph.DTypeFloat32, 1, 1)
		m.Init("y.product", graph.DTypeFloat32, []int{1, 1}, 2).Init("w.transposed", graph.DTypeFloat32, nil,
			3).Init("w",
			graph.DTypeFloat32, []int{1, 1}, 5)
		m.Init("y.alpha", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("b",
			graph.DTypeFloat32, nil, 8)
		m.Node("Gemm", "x", "w", "w.transposed").Int("transB", 1).Float("alpha", 0.5).Out("g")
		m.Node("Mul", "g", "y.product").Out("y.codes")
		m.Node("Quant", "y.codes", "y.alpha", "z", "b").Domain(qonnx).Out("y")
	}},
	{"a quantiser without zero point", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 2, 2).Output("y", graph.DTypeFloat32, 2, 2)
		m.Init("s", graph.DTypeFloat32, []int{2}, 0.5, 0.25)
		m.Node("QuantizeLinear", "x", "s").Int("axis", 0).Out("q")
		m.Node("DequantizeLinear", "q", "s").Int("axis", 0).Out("y")
	}},
	{"a loop with its constants around it", func(m *onnxtest.Model) {
		body := onnxtest.New(0).Input("s", graph.DTypeFloat32).Input("e", graph.DTypeFloat32).Output("t",
			graph.DTypeFloat32).Output("t", graph.DTypeFloat32)
		body.Node("Gemm", "s", "w", "e").Int("transB", 1).Out("a")
		body.Node("Quant", "a", "scale", "z", "bits").Domain(qonnx).Out("t")
		m.Input("x", graph.DTypeFloat32, 3, 1, 2).Output("y", graph.DTypeFloat32, 3, 1, 2)
		m.Init("w", graph.DTypeFloat32, []int{2, 2}, 1, -1, 0.5, 0.25).Init("h0", graph.DTypeFloat32, []int{1, 2}, 0, 0)
		m.Init("half", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("bits",
			graph.DTypeFloat32, nil, 4)
		m.Node("Mul", "half", "half").Out("scale")
		m.Node("Scan", "h0", "x").Int("num_scan_inputs", 1).Ints("scan_input_directions", 1).Graph("body", body).Out("",
			"y")
	}},
	{"an lstm", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 3, 1, 1).Output("y", graph.DTypeFloat32, 3, 1, 1, 1)
		m.Init("W", graph.DTypeFloat32, []int{1, 4, 1}, 1, 2, 3, 4).Init("R", graph.DTypeFloat32, []int{1, 4, 1}, 1, 0,
			-1,
			0).Init("B", graph.DTypeFloat32, []int{1, 8}, 1, 2, 3, 4, 5, 6, 7, 8)
		m.Node("LSTM", "x", "W", "R", "B").Int("hidden_size", 1).Out("y")
	}},
	{"a constant in parts", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, 1).Output("y", graph.DTypeFloat32, 1).Output("z", graph.DTypeFloat32, 1)
		m.Init("c", graph.DTypeFloat32, []int{2}, 3, 1).Init("three", graph.DTypeFloat32, nil, 3)
		m.Node("Div", "c", "three").Out("d") // 1 and a third, which is no float64
		m.Node("Split", "d").Int("axis", 0).Out("one", "third")
		m.Node("Add", "x", "one").Out("y")
		m.Node("Add", "x", "third").Out("z")
	}},
	{"batch normalisation stays", func(m *onnxtest.Model) {
		m.Input("x", graph.DTypeFloat32, "N", 2).Output("y", graph.DTypeFloat32, "N", 2)
		m.Init("g", graph.DTypeFloat32, []int{2}, -0.5, 1e-41).Init("b", graph.DTypeFloat32, []int{2}, 1, 2).Init("m",
			graph.DTypeFloat32, []int{2}, 0, 1).Init("v", graph.DTypeFloat32, []int{2}, 1, 2)
		m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("bits",
			graph.DTypeFloat32, nil, 4)
		m.Node("BatchNormalization", "x", "g", "b", "m", "v").Out("n")
		m.Node("Quant", "n", "s", "z", "bits").Domain(qonnx).Str("rounding_mode", "HALF_UP").Out("y")
	}},
}

// TestGolden compares each handmade model, as read and after every pass that changes it, with golden files.
func TestGolden(t *testing.T) {
	t.Parallel()
	folder := golden.Dir(t, "testdata")
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) {
			c := folder.Case(t, strings.ReplaceAll(m.name, " ", "-"))
			g := build(t, m.build)
			show := func(section string, g *graph.Graph) {
				var b bytes.Buffer
				if err := graph.WriteGraphText(&b, g); err != nil {
					t.Fatal(err)
				}
				c.Want(section, b.Bytes())
			}
			show("read", g)
			var d diag.List
			p, err := canon.NormaliseGraph(&canon.PassState{Program: onnxtest.Prepare(t, g)},
				pass.Options[*canon.PassState]{
					Dump: func(number int, name string, m *canon.PassState) error {
						show(fmt.Sprintf("%d-%s", number, name), m.Graph)
						return nil
					},
				}, &d)
			if err != nil || p == nil {
				t.Fatal(err, d.Diags)
			}
		})
	}
}
