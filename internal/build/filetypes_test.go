package build

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// beginsAndEnds are the first and the last 1,024 bytes of files, 256 where there are none, of every so many files of
// the tree of Go, from a first one on.
func beginsAndEnds(t *testing.T, n, first, every int) *npy.Array {
	t.Helper()
	const half, none = 1024, 256
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(strings.TrimSpace(string(root)), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	a := &npy.Array{DType: "int32", Shape: []int{n, 2 * half}}
	for i := range n {
		b, err := os.ReadFile(files[(first+i*every)%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		for k := range half {
			a.Data = append(a.Data, at(b, k, none))
		}
		for k := range half {
			a.Data = append(a.Data, at(b, len(b)-half+k, none))
		}
	}
	return a
}

// at is byte k of a file; none where it has no such byte.
func at(b []byte, k int, none float64) float64 {
	if k < 0 || k >= len(b) {
		return none
	}
	return float64(b[k])
}

// TestFileTypes holds a network of bytes that somebody has against what it becomes in integers.
func TestFileTypes(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	model := filepath.Join(tier.Shared(t), "models", "shelf", "file_types", "float.onnx")
	dir := t.TempDir()
	written := filepath.Join(dir, "quantised.onnx")
	samples := samplefiles.Save(t, filepath.Join(dir, "calibrate.npy"), beginsAndEnds(t, 64, 0, 97))
	first := samplefiles.Save(t, filepath.Join(dir, "first.npy"), beginsAndEnds(t, 4, 0, 97))
	judged := samplefiles.Save(t, filepath.Join(dir, "judged.npy"), beginsAndEnds(t, 200, 31, 61))
	cut := Options{Source: options.Source{Model: model, Quantisation: options.Quantisation{Calibrate: first,
		SaveModel: filepath.Join(dir, "cut.onnx")},
		ModelInputs: options.ModelInputs{Outputs: []string{"jax2tf_get_logits_/pjit_get_logits_/MagikaV2/Reshape:0"}}},
		Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{Interval: 1 << 20},
		Verification: options.Verification{NoCSim: true,
			Verify: 2}}
	told(t, cut)
	simtest.SameByEngines(t, simulate.Options{Source: options.Source{Model: cut.SaveModel,
		SampleFiles: options.SampleFiles{Data: first}}},
		engines.EngineReference, engines.EngineFast,
		engines.EngineEval, engines.EngineCycle,
		engines.EngineCSim)
	var d diag.List
	if _, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: model,
		Quantisation: options.Quantisation{Calibrate: samples, SaveModel: written}}}, &d); err != nil {
		t.Fatal(err)
	}
	for _, x := range d.Diags {
		named := strings.Contains(x.Node+x.Msg, "LayerNorm_") || strings.HasSuffix(x.Node, "/Max")
		if x.Severity == diag.SeverityError && !named {
			t.Errorf("it is not the normalisations that are named, but %v", x)
		}
	}
	is := simtest.SameByEngines(t, simulate.Options{Source: options.Source{Model: written,
		SampleFiles: options.SampleFiles{Data: judged}}},
		engines.EngineReference)
	was := simtest.SameByEngines(t, simulate.Options{Source: options.Source{Model: model,
		SampleFiles: options.SampleFiles{Data: judged}}},
		engines.EngineFloat)
	same := sameClasses(was[0], is[0])
	t.Logf("the class is the same for %d of 200 files", same)
	if same < 194 {
		t.Errorf("the class is the same for %d of 200 files, 194 wanted", same)
	}
}
