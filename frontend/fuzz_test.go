package frontend

import (
	"io"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/onnxtest"
)

// FuzzImport checks that no bytes make the import panic, and that a model that imports also runs: its reference gives
// outputs or an error.
func FuzzImport(f *testing.F) {
	for _, name := range []string{examples.IrisName + "/model.onnx", examples.IrisName + "/qcdq.onnx"} {
		b, err := examples.EmbeddedFiles.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.DTypeFloat32, "batch", 2, 2).Output("y", graph.DTypeFloat32, "batch", 1)
	m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("z", graph.DTypeFloat32, nil, 0).Init("b", graph.DTypeFloat32, nil,
		3).Init("w",
		graph.DTypeFloat32, []int{4, 1}, 1, -2, 0, 3)
	m.Node("Quant", "x", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1).Out("q")
	m.Node("Flatten", "q").Out("f")
	m.Node("MatMul", "f", "w").Out("y")
	f.Add(m.Bytes())
	for _, b := range recurrent() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d diag.List
		im, err := Import("fuzz.onnx", b, Options{}, &d)
		if err != nil {
			t.Fatal(err)
		}
		d.Write(io.Discard)
		if im.Model == nil {
			if !d.HasErrors() {
				t.Fatal("no model and no reason")
			}
			return
		}
		var in []dataflow.RealTensor
		for _, r := range im.Model.In {
			if dataflow.Shape(r.Shape).ElementCount() > 1<<12 {
				return
			}
			in = append(in, dataflow.RealTensor{Shape: r.Shape, Data: make([]float64,
				dataflow.Shape(r.Shape).ElementCount())})
		}
		if _, err := im.Model.Reference(in); err != nil {
			return
		}
		if _, err := im.Model.Prefix.ToCodes(in); err != nil {
			t.Fatalf("the reference runs, the prefix does not: %v", err)
		}
	})
}

// recurrent are models that run along a sequence: a Scan with a quantised body, and an LSTM.
func recurrent() [][]byte {
	const qonnx = "qonnx.custom_op.general"
	body := onnxtest.New(0).Input("s", graph.DTypeFloat32).Input("e", graph.DTypeFloat32).Output("t",
		graph.DTypeFloat32).Output("t",
		graph.DTypeFloat32)
	body.Node("MatMul", "s", "w").Out("m")
	body.Node("Add", "m", "e").Out("a")
	body.Node("Tanh", "a").Out("h")
	body.Node("Quant", "h", "q", "z", "b").Domain(qonnx).Out("t")
	scan := onnxtest.New(13).Opset(qonnx, 2).Input("x", graph.DTypeFloat32, "T", 1, 2).Output("y", graph.DTypeFloat32,
		"T", 1, 2)
	scan.Init("w", graph.DTypeFloat32, []int{2, 2}, 1, -1, 0.5, 0.25).Init("h0", graph.DTypeFloat32, []int{1, 2}, 0, 0)
	scan.Init("q", graph.DTypeFloat32, nil, 0.25).Init("z", graph.DTypeFloat32, nil, 0).Init("b", graph.DTypeFloat32,
		nil, 4)
	scan.Node("Scan", "h0", "x").Int("num_scan_inputs", 1).Graph("body", body).Out("", "y")
	lstm := onnxtest.New(14).Input("x", graph.DTypeFloat32, 3, 1, 1).Output("y", graph.DTypeFloat32, 3, 2, 1, 1)
	lstm.Init("W", graph.DTypeFloat32, []int{2, 4, 1}, 1, 2, 3, 4, 4, 3, 2, 1).Init("R", graph.DTypeFloat32, []int{2,
		4, 1}, 1, 0,
		-1, 0, 1, 0, -1, 0)
	lstm.Node("LSTM", "x", "W", "R").Int("hidden_size", 1).Str("direction", "bidirectional").Out("y")
	return [][]byte{scan.Bytes(), lstm.Bytes()}
}
