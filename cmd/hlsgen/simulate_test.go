package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/testsupport/tier"
)

// array reads the only array of a file.
func array(t *testing.T, path string) *npy.Array {
	t.Helper()
	all, err := npy.ReadArrays(path)
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %d arrays, %v", path, len(all), err)
	}
	for _, a := range all {
		return a
	}
	return nil
}

func save(t *testing.T, path string, a *npy.Array) {
	t.Helper()
	b, err := npy.EncodeNPY(a)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(b))
}

// TestSimulate checks that every engine without a compiler writes the same results, in the requested form, and that
// these equal Brevitas' results.
func TestSimulate(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	brevitas := array(t, filepath.Join(dir, examples.IrisName, "outputs.npy"))
	if got := say(dir, nil, "simulate", iris, "--input", irisInputs, "--engine", "reference", "--output",
		"want.npy"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	want := array(t, filepath.Join(dir, "want.npy"))
	for _, model := range []string{"model.onnx", "qcdq.onnx"} {
		for _, engine := range []string{"reference", "eval", "cycle"} {
			for _, ext := range []string{"npy", "npz"} {
				t.Run(model+"/"+engine+"/"+ext, func(t *testing.T) {
					t.Parallel()
					out := fmt.Sprintf("%s-%s.%s", model, engine, ext)
					got := say(dir, nil, "simulate", examples.IrisName+"/"+model, "--input", irisInputs, "--engine",
						engine,
						"--output", out, "--compare", examples.IrisName+"/outputs.npy")
					if got.code != exitOK || got.stderr != "" {
						t.Fatalf("%+v", got)
					}
					expect(t, "stdout", got.stdout, "written      DIR/"+out)
					n := want.Shape[0]
					expect(t, "stdout", got.stdout, fmt.Sprintf("%d of %d samples equal", n, n))
					y := array(t, filepath.Join(dir, out))
					if y.DType != "float32" || !slices.Equal(y.Shape, brevitas.Shape) ||
						!slices.Equal(y.Data, want.Data) {
						t.Errorf("%s %v differs from what engine reference gives", y.DType, y.Shape)
					}
				})
			}
		}
	}
}

// TestCompare changes one output, and expects an error about it.
func TestCompare(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	y := array(t, filepath.Join(dir, examples.IrisName, "outputs.npy"))
	y.Data[7] += 1
	save(t, filepath.Join(dir, "wrong.npy"), y)
	args := []string{"simulate", iris, "--input", irisInputs, "--compare", "wrong.npy"}
	got := say(dir, nil, args...)
	sample, element := 7/y.Shape[1], 7%y.Shape[1]
	if got.code != exitMismatch || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	expect(t, "stdout", got.stdout, fmt.Sprintf("%d of %d samples equal, 1 differ", y.Shape[0]-1, y.Shape[0]))
	expect(t, "stdout", got.stdout, fmt.Sprintf("first: sample %d, output", sample))
	expect(t, "stdout", got.stdout, fmt.Sprintf("element %d: got", element))

	got = say(dir, nil, append(args, "--json")...)
	found := object(t, got)["compare"].(map[string]any)
	if got.code != exitMismatch || found["differ"] != 1.0 || found["equal"] != float64(y.Shape[0]-1) {
		t.Errorf("%+v", got)
	}

	y.Data = y.Data[:len(y.Data)-y.Shape[1]]
	y.Shape[0]--
	save(t, filepath.Join(dir, "short.npy"), y)
	got = say(dir, nil, append(args[:5], "short.npy")...)
	if got.code != exitDiagnostics || !strings.Contains(got.stderr, "error[data-invalid]") {
		t.Errorf("%+v", got)
	}
}

// TestTrace checks that --trace writes arrays for integer and for real tensors.
func TestTrace(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	for _, engine := range []string{"eval", "reference"} {
		got := say(dir, nil, "simulate", iris, "--input", irisInputs, "--engine", engine, "--trace", "trace-"+engine)
		if got.code != exitOK || !strings.Contains(got.stdout, "traced       DIR/trace-"+engine) {
			t.Errorf("%+v", got)
		}
		entries, err := os.ReadDir(filepath.Join(dir, "trace-"+engine))
		if err != nil || len(entries) == 0 {
			t.Errorf("%s: %d files, %v", engine, len(entries), err)
		}
		for _, e := range entries {
			if e.Name() != outputdir.SharedFileListName {
				array(t, filepath.Join(dir, "trace-"+engine, e.Name()))
			}
		}
	}
}

func TestSimulateJSON(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	got := object(t, say(dir, nil, "simulate", iris, "--input", irisInputs, "--engine", "cycle", "--json"))
	if got["engine"] != "cycle" || got["samples"] != 88.0 || got["interval_clocks"].(float64) < 1 ||
		got["latency_clocks"].(float64) < 1 {
		t.Errorf("%v", got)
	}
	if f := got["folding"].(map[string]any)["MVAU_0"].(map[string]any); f["PE"] != 1.0 || f["SIMD"] != 1.0 {
		t.Errorf("the cheapest fold is not PE 1, SIMD 1: %v", f)
	}
	failed := say(dir, nil, "simulate", iris, "--input", examples.DigitsName+"/inputs.npy", "--json")
	list := object(t, failed)["diagnostics"].([]any)
	if failed.code != exitDiagnostics || failed.stderr != "" || list[0].(map[string]any)["code"] != "data-invalid" {
		t.Errorf("%+v", failed)
	}
}

// TestDecodeFlag checks that only a model with an alphabet can give text, and that an unknown method is refused.
func TestDecodeFlag(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	args := []string{"simulate", iris, "--input", irisInputs, "--decode"}
	if got := say(dir, nil, append(args, "none")...); got.code != exitOK || strings.Contains(got.stdout, "text  ") {
		t.Errorf("%+v", got)
	}
	if got := say(dir, nil, append(args, "greedy")...); got.code != exitDiagnostics ||
		!strings.Contains(got.stderr, "error[data-invalid]") || !strings.Contains(got.stderr, "there is no alphabet") {
		t.Errorf("%+v", got)
	}
	if got := say(dir, nil, append(args, "greed")...); got.code != exitUsage ||
		!strings.Contains(got.stderr, "methods are greedy, peaks, none, did you mean greedy?") {
		t.Errorf("%+v", got)
	}
}

// TestText reads the start of a line of text with a network of FINN-L, at its own wish and with the method that is
// asked for.
func TestText(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	shared := tier.NeedsShared(t)
	dir := filesIn(t, nil)
	model := filepath.Join(shared, "models", "finnl", "W2A2")
	columns := array(t, filepath.Join(model, "010029", "input_columns.npy"))
	x := &npy.Array{DType: "float32", Shape: []int{2, 60, 32}} // the same twice
	for range 2 {
		for _, v := range columns.Data[:60*32] {
			x.Data = append(x.Data, v/2)
		}
	}
	save(t, filepath.Join(dir, "x.npy"), x)
	args := []string{"simulate", filepath.Join(model, "scan.onnx"), "--input", "x.npy", "--output", "y.npy"}
	got := say(dir, nil, args...)
	if lines := strings.Count(got.stdout, "text         seek\n"); got.code != exitOK || lines != 2 {
		t.Errorf("%d lines of text: %+v", lines, got)
	}
	o := object(t, say(dir, nil, append(args, "--json", "--decode", "greedy")...))
	// nothing ends the space's peak
	if texts := fmt.Sprintf("%q", o["texts"]); o["decode"] != "greedy" || texts != `["seek " "seek "]` {
		t.Errorf("%v", o)
	}
}
