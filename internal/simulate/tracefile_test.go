package simulate_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/engines"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/simulate"
	_ "hlsgen/internal/testsupport/golden" // -update
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/schema"
	"hlsgen/internal/testsupport/simtest"
)

// traceOf reads a trace file: its index, and its arrays by name.
func traceOf(t *testing.T, path string) (index simulate.TraceIndex, arrays map[string]*npy.Array) {
	t.Helper()
	arrays, err := npy.ReadArrays(path)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, v := range arrays["index.json"].Data {
		text = append(text, byte(v))
	}
	schema.Of(t, "trace", "the index of the file of simulate --trace FILE.npz", simulate.TraceIndex{}).Check(t, text)
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	return index, arrays
}

// TestTraceFile traces to a file and to a folder: they hold the same arrays, and values are those of the model.
func TestTraceFile(t *testing.T) {
	t.Parallel()
	dir, to := filepath.Join(samplefiles.Examples(t), examples.IrisName), t.TempDir()
	for _, e := range []engines.EngineName{engines.EngineReference, engines.EngineEval} {
		for _, path := range []string{string(e), string(e) + ".npz"} {
			o := onIris(dir, e)
			o.Trace = filepath.Join(to, path)
			simtest.RunClean(t, o)
		}
	}
	model, real := traceOf(t, filepath.Join(to, "reference.npz"))
	index, arrays := traceOf(t, filepath.Join(to, "eval.npz"))
	layers, compared := map[string]bool{}, 0
	for _, x := range index.Tensors {
		layers[x.Layer] = true
		base := filepath.Join(to, "eval", simulate.TraceName(x.Tensor))
		for name, path := range map[string]string{x.Integers: base + ".npy", x.Scale: base + ".scale.npy",
			x.Bias: base + ".bias.npy"} {
			if !slices.Equal(arrays[name].Data, samplefiles.Read(t, path).Data) {
				t.Errorf("%s is not %s", name, filepath.Base(path))
			}
		}
		if x.Values != x.Tensor || index.Samples != arrays[x.Values].Shape[0] {
			t.Errorf("the values of %+v have another name, or number of samples", x)
		}
		if want := real[x.Tensor]; want != nil { // a sum of products inside a Gemm has no tensor of its own
			if compared++; !slices.Equal(arrays[x.Values].Data, want.Data) {
				t.Errorf("%s has other values in the model", x.Tensor)
			}
		}
	}
	if names := slices.Sorted(maps.Keys(layers)); !slices.Equal(names, []string{"", "MVAU_0", "MVAU_1"}) ||
		compared < 2 {
		t.Errorf("layers %q, %d tensors compared", names, compared)
	}
	for _, x := range model.Tensors {
		if x.Integers != "" || !slices.Equal(real[x.Values].Data, samplefiles.Read(t, filepath.Join(to, "reference",
			simulate.TraceName(x.Tensor)+".npy")).Data) {
			t.Errorf("%+v is not in the folder", x)
		}
	}
}

// TestTraceFileNames writes tensors whose names are those of other arrays, or no names in an archive.
func TestTraceFileNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.NPZ")
	tensors := map[string]float64{"a": 1, "a#integers": 2, "index.json": 3, "x\\y": 4, "n\x00": 5, "/b/c": 6}
	if err := simulate.WriteTraceFile(path, tensors, dataflow.Shape{1}); err != nil {
		t.Fatal(err)
	}
	index, arrays := traceOf(t, path)
	if len(index.Tensors) != len(tensors) || len(arrays) != 1+4*len(tensors) {
		t.Errorf("%d tensors, %d arrays", len(index.Tensors), len(arrays))
	}
	for _, x := range index.Tensors {
		v := tensors[x.Tensor]
		if i := arrays[x.Integers].Data[0]; i != v || arrays[x.Values].Data[0] != 2*v+1 {
			t.Errorf("%+v: %v, %v", x, i, arrays[x.Values].Data)
		}
	}
}
