package frontend_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/tier"
)

// TestSingleOperators executes qonnx' own cases: one quantising operator each, in every rounding mode and width.
func TestSingleOperators(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(tier.NeedsShared(t), "models", "qonnx_ops")
	b, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index []struct{ Name string }
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	ran, ties := 0, 0
	for _, e := range index {
		onnx, err := os.ReadFile(filepath.Join(dir, e.Name+".onnx"))
		if os.IsNotExist(err) {
			continue // qonnx itself rejects it
		}
		if err != nil {
			t.Fatal(err)
		}
		ran++
		arrays, err := npy.ReadArrays(filepath.Join(dir, e.Name+".npz"))
		if err != nil {
			t.Fatal(err)
		}
		find := func(prefixes ...string) *npy.Array {
			for name, a := range arrays {
				for _, p := range prefixes {
					if strings.HasPrefix(name, p) {
						return a
					}
				}
			}
			t.Fatalf("%s: no array is called %v", e.Name, prefixes)
			return nil
		}
		x, y := find("x", "in"), find("y", "out")
		var d diag.List
		im := frontend.ImportForReference(e.Name, onnx, frontend.Options{}, &d)
		if im.Model == nil {
			t.Errorf("%s: %v", e.Name, d.Diags)
			continue
		}
		// qonnx divides in float32: 1.5/0.3 is 5 to it, and a little less in truth. Such near ties are excused.
		c, err := im.NewOutputComparer()
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		differ := false
		// a fixed batch is n samples
		for i, n := 0, len(x.Data)/dataflow.Shape(im.Model.In[0].Shape).ElementCount(); i < n; i++ {
			in := []dataflow.RealTensor{sample(x, i, im.Model.In[0].Shape)}
			got, err := im.Model.Reference(in)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			want := sample(y, i, got[0].Shape)
			if different := closeTo(got[0].Data, want.Data); different != nil {
				differ = true
				if v, err := c.JudgeOutputs(in, []dataflow.RealTensor{want}); err != nil || v.NearTie == "" {
					t.Errorf("%s: %v, and no near tie (%v %v)", e.Name, different, v, err)
				}
			}
		}
		if differ {
			ties++
		}
	}
	t.Logf("%d cases, %d of them differ at near ties", ran, ties)
	if ran < 300 || ties > 40 {
		t.Errorf("%d cases ran, %d differ at near ties", ran, ties)
	}
}
