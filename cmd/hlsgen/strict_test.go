package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// vectorsModel sums four vectors that each were multiplied with weights: its first axis is fixed and counts no samples,
// which is worth a warning.
func vectorsModel() string {
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.DTypeFloat32, 4, 3).Output("y", graph.DTypeFloat32, 1, 2)
	m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("b", graph.DTypeFloat32, nil,
		4)
	m.Init("w", graph.DTypeFloat32, []int{3, 2}, 1, 0, -1, 1, 1, 1).Init("first", graph.DTypeInt64, []int{1}, 0)
	m.Node("Quant", "x", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1).Out("q")
	m.Node("MatMul", "q", "w").Out("h")
	m.Node("ReduceSum", "h", "first").Name("sum").Out("y")
	return string(m.Bytes())
}

// TestStrict checks that a warning alone ends no command, and that with --strict it does, before anything is written.
func TestStrict(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	data, err := npy.EncodeNPY(&npy.Array{DType: "float32", Shape: []int{4, 3}, Data: make([]float64, 12)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, args string
		code       diag.Code
		writes     string // what is written without --strict
	}{
		{"check", "check vectors.onnx", diag.InputBatchFixed, ""},
		{"build", "build vectors.onnx --board pynq-z1 --no-csim --verify 1 --out out", diag.InputBatchFixed,
			"out/manifest.json"},
		{"front", "build vectors.onnx --board pynq-z1 --pareto", diag.InputBatchFixed, ""},
		{"clock", "build " + iris + " --board pynq-z1 --clock 600 --no-csim --verify 1 --out out",
			diag.LayerTooSlowForClock, "out/manifest.json"},
		{"folding", "build " + iris + " --board pynq-z1 --folding folding.json --no-csim --verify 1 --out out",
			diag.FoldingFileInvalid, "out/manifest.json"},
		{"reference", "simulate vectors.onnx --input x.npy --engine reference --output y.npy --trace t",
			diag.InputBatchFixed, "y.npy"},
		{"eval", "simulate vectors.onnx --input x.npy --output y.npy --trace t", diag.InputBatchFixed, "t"},
		{"cycle", "simulate " + iris + " --input " + irisInputs +
			" --engine cycle --board pynq-z1 --clock 600 --output y.npy --trace t --trace-vcd v.vcd",
			diag.LayerTooSlowForClock, "t"},
		{"sweep", "sweep vectors.onnx --board pynq-z1 --out out", diag.InputBatchFixed, "out/sweep.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filesIn(
				t,
				map[string]string{
					"vectors.onnx": vectorsModel(),
					"x.npy":        string(data),
					"folding.json": `{"MVAU_0": {"runtime_writeable_weights": 1}}`,
					"strict.yaml":  "strict: true\n",
				},
			)
			before := entries(t, dir)
			for how, more := range map[string]string{"by flag": "--strict", "by file": "--config strict.yaml"} {
				got := say(dir, nil, strings.Fields(c.args+" "+more)...)
				if got.code != exitDiagnostics || c.name != "check" && got.stdout != "" {
					t.Errorf("%s: %+v", how, got)
				}
				expect(t, "stderr", got.stderr, "error["+string(c.code)+"]")
				expect(t, "stderr", got.stderr, "also: this is a warning, which --strict makes an error\n")
				if left := entries(t, dir); left != before {
					t.Errorf("%s: %s is left behind, before it was %s", how, left, before)
				}
			}
			o := object(t, say(dir, map[string]string{"HLSGEN_STRICT": "1"}, strings.Fields(c.args+" --json")...))
			first := o["diagnostics"].([]any)[0].(map[string]any)
			if first["severity"] != "error" || first["code"] != string(c.code) {
				t.Errorf("JSON: %v", o)
			}
			got := say(dir, nil, strings.Fields(c.args)...)
			expect(t, "stderr", got.stderr, "warning["+string(c.code)+"]")
			if _, err := os.Stat(filepath.Join(dir, c.writes)); err != nil || got.code != exitOK {
				t.Errorf("without --strict: %v, %+v", err, got)
			}
		})
	}
}

// entries returns the names in a folder.
func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
