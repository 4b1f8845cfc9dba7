package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
)

// TestTraceImages traces convolutional networks with forks, joins and moved elements: files have the shape and the
// order of the model's tensors.
func TestTraceImages(t *testing.T) {
	t.Parallel()
	dir, compared := t.TempDir(), 0
	for seed := range uint64(12) {
		base := filepath.Join(dir, fmt.Sprint(seed))
		model := samplefiles.WriteFile(t, "m.onnx", randomImages(seed))
		var d diag.List
		im, err := frontend.Import("m", randomImages(seed), frontend.Options{}, &d)
		samplefiles.WantClean(t, &d, err)
		x := &npy.Array{DType: "float32", Shape: im.Model.In[0].Shape}
		for _, in := range samples.MakeRandomRuns(im.Model, 3).In {
			x.Data = append(x.Data, in[0].Data...)
		}
		x.Shape = append([]int{3}, x.Shape[1:]...)
		input := samplefiles.Save(t, base+".npy", x)
		for _, e := range []engines.EngineName{engines.EngineReference, engines.EngineEval} {
			simtest.RunClean(t, simulate.Options{Source: options.Source{Model: model,
				SampleFiles: options.SampleFiles{Data: input}}, Engine: e,
				OutputFileOptions: simulate.OutputFileOptions{Trace: base + string(e)}})
		}
		for _, c := range im.StreamedTensors() {
			name := c.Name
			codes, scale, bias := samplefiles.Read(t, filepath.Join(base+"eval", name+".npy")),
				samplefiles.Read(t, filepath.Join(base+"eval", name+".scale.npy")),
				samplefiles.Read(t, filepath.Join(base+"eval", name+".bias.npy"))
			ref := filepath.Join(base+"reference", name+".npy")
			if _, err := os.Stat(ref); err != nil || c.Name[0] != 'q' { // sums may have scales that no float64 has
				continue
			}
			want := samplefiles.Read(t, ref)
			if !slices.Equal(codes.Shape, want.Shape) {
				t.Fatalf("seed %d, %s: traced in shape %v, the model has %v", seed, c.Name, codes.Shape, want.Shape)
			}
			for i, v := range codes.Data {
				if k := i % len(scale.Data); scale.Data[k]*v+bias.Data[k] != want.Data[i] {
					t.Fatalf("seed %d, %s element %d: code %v, the model has %v", seed, c.Name, i, v, want.Data[i])
				}
			}
			compared++
		}
	}
	if compared < 30 {
		t.Errorf("only %d tensors could be compared", compared)
	}
}
