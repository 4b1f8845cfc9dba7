package frontend

import (
	"io"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxtest"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
)

// FuzzImport holds that no bytes make the import panic, and that a model that imports also runs: its reference gives
// outputs or an error.
func FuzzImport(f *testing.F) {
	for _, name := range []string{examples.Iris + "/model.onnx", examples.Iris + "/qcdq.onnx"} {
		b, err := examples.Files.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.Float32, "batch", 2, 2).Output("y", graph.Float32, "batch", 1)
	m.Init("s", graph.Float32, nil, 0.25).Init("z", graph.Float32, nil, 0).Init("b", graph.Float32, nil, 3).Init("w", graph.Float32, []int{4, 1}, 1, -2, 0, 3)
	m.Node("Quant", "x", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1).Out("q")
	m.Node("Flatten", "q").Out("f")
	m.Node("MatMul", "f", "w").Out("y")
	f.Add(m.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var d diag.List
		im, err := Import("fuzz.onnx", b, Options{}, &d)
		if err != nil {
			t.Fatal(err)
		}
		d.Write(io.Discard)
		if im.Model == nil {
			if !d.Failed() {
				t.Fatal("no model and no reason")
			}
			return
		}
		var in []dataflow.RealTensor
		for _, r := range im.Model.In {
			if dataflow.Shape(r.Shape).Size() > 1<<12 {
				return
			}
			in = append(in, dataflow.RealTensor{Shape: r.Shape, Data: make([]float64, dataflow.Shape(r.Shape).Size())})
		}
		if _, err := im.Model.Reference(in); err != nil {
			return
		}
		if _, err := im.Model.Prefix.ToCodes(in); err != nil {
			t.Fatalf("the reference runs, the prefix does not: %v", err)
		}
	})
}
