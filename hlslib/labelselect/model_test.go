package labelselect_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// classifier writes a quantised layer of 10 classes with a softmax, and the first three classes behind it.
func classifier() []byte {
	r := rand.New(rand.NewPCG(9, 9))
	weights := make([]float64, 16*10)
	for i := range weights {
		weights[i] = float64(r.IntN(15) - 7)
	}
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.DTypeFloat32, "N", 16).Output("classes", graph.DTypeInt64, "N", 3)
	m.Init("xs", graph.DTypeFloat32, nil, 0.25).Init("ws", graph.DTypeFloat32, nil, 0.0625).Init("z",
		graph.DTypeFloat32, nil,
		0).Init("bits", graph.DTypeFloat32, nil, 2)
	m.Init("w", graph.DTypeFloat32, []int{16, 10}, weights...).Init("four", graph.DTypeFloat32, nil, 4).Init("b",
		graph.DTypeFloat32,
		nil, -0.3).Init("k", graph.DTypeInt64, []int{1}, 3)
	m.Node("Quant", "x", "xs", "z", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).Out("q")
	m.Node("Mul", "w", "ws").Out("scaled")
	m.Node("Quant", "scaled", "ws", "z", "four").Domain("qonnx.custom_op.general").Int("signed", 1).Out("wq")
	m.Node("MatMul", "q", "wq").Out("h")
	m.Node("Add", "h", "b").Out("a")
	m.Node("Softmax", "a").Out("s")
	m.Node("TopK", "s", "k").Name("top").Out("values", "classes")
	return m.Bytes()
}

// TestBuild takes a classifier with its TopK through every engine, the compiled C++ among them, folded as a file of
// FINN's says.
func TestBuild(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "g++")
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := build.Options{Source: options.Source{Model: write("classifier.onnx", classifier())},
		Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{Folding: write("folding.json",
			[]byte(`{"Defaults": {}, "MVAU_hls_0": {"PE": 2, "SIMD": 4}, "LabelSelect_hls_0": {"PE": 5}}`))},
		Verification: options.Verification{Verify: 12},
		OutputFolder: options.OutputFolder{Out: filepath.Join(dir, "out")}}
	var d diag.List
	r, err := build.Run(t.Context(), o, &d)
	if err != nil || r == nil || len(d.Diags) > 0 {
		t.Fatal(err, d.Diags)
	}
	if want := []string{"eval", "cycle", "csim"}; !slices.Equal(r.Verified.Engines, want) || r.Verified.Samples != 12 {
		t.Errorf("engines %+v, want %v", r.Verified, want)
	}
	g := r.Design.Model.Graph
	last := len(g.Nodes) - 1
	if g.Nodes[last].Op.Kind() != "LabelSelect" || r.Design.Folds[last] != (dataflow.Fold{PE: 5, SIMD: 1}) {
		t.Errorf("%s, fold %+v", g, r.Design.Folds[last])
	}
	var cycles map[string]int
	if text, err := os.ReadFile(filepath.Join(o.Out, "report", "estimate_layer_cycles.json")); err != nil ||
		json.Unmarshal(text, &cycles) != nil {
		t.Fatal(err)
	}
	if cycles["LabelSelect_0"] != 2 {
		t.Errorf("clocks %v, want 2 of LabelSelect_0, which are FINN's", cycles)
	}
	if out := r.Design.Model.Out[0]; out.DType != "int64" {
		t.Errorf("the output is %+v", out)
	}
}
