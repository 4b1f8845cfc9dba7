package frontend

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// TestAsWritten checks that the model as written is made from the import for layers without reading the file again. It
// must equal the model of ImportForReference, with the same diagnostics.
func TestAsWritten(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(17).Input("x", graph.DTypeFloat32, "N", "T", 4).Output("y", graph.DTypeFloat32)
	m.Init("w", graph.DTypeFloat32, []int{4, 2}, 1, -2, 3, 4, 0.5, 6, -7, 8)
	m.Node("MatMul", "x", "w").Out("h")
	m.Node("Sigmoid", "h").Out("y")
	for name, opt := range map[string]Options{"one length": {Data: map[string][]int{"x": {5, 3, 4}}},
		"some": {Lengths: &AxisLengthRange{Axis: "T", Min: 1, Max: 3}}, "open": {}} {
		var told, quiet, want diag.List
		im, err := Import("m.onnx", m.Bytes(), opt, &quiet)
		if err != nil || im.Model != nil {
			t.Fatal(name, err, im)
		}
		as := ImportForReferenceReusing(im, "m.onnx", m.Bytes(), opt, &told)
		ref := ImportForReference("m.onnx", m.Bytes(), opt, &want)
		if (as.Model == nil) != (ref.Model == nil) ||
			ref.Model != nil && fmt.Sprint(told.Diags) != fmt.Sprint(want.Diags) {
			t.Fatalf("%s: %v, want %v", name, told.Diags, want.Diags)
		}
		if ref.Model == nil {
			continue
		}
		if as.written != im.written {
			t.Errorf("%s: it was read again", name)
		}
		if (as.Model.Float == nil) != (ref.Model.Float == nil) ||
			(as.Model.Lengths == nil) != (ref.Model.Lengths == nil) ||
			!slices.Equal(as.Model.In[0].Shape, ref.Model.In[0].Shape) {
			t.Errorf("%s: %+v, want %+v", name, as.Model, ref.Model)
		}
	}
}
