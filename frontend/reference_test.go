package frontend_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
)

// executed are the convolutional models, by the beginnings of their names, that must execute as written, with how many
// samples of the larger ones are run.
var executed = map[string]int{
	"brevitas/a2q-base-cnn-": 20, "brevitas/a2q-cnn-": 20, "brevitas/a2qplus-cnn-": 20, "brevitas/cnv-": 4, "brevitas/digits-cnn-": 20, "brevitas/digits-conv1d-": 20,
	"brevitas/digits-mobilenet-": 20, "brevitas/digits-resnet-": 20, "brevitas/mobilenetv1-": 1, "brevitas/resnet8-": 4,
	"zoo/espcn_": 1, "zoo/exmodels_branched_": 2, "zoo/exmodels_separable_": 8, "zoo/exmodels_tiny_": 2, "zoo/finnplus_": 1, "zoo/juan_": 20, "zoo/mdc_": 20, "zoo/radioml_": 20, "zoo/tract_qtdnn_": 16,
}

// TestReference executes convolutional models as written and compares with what their own frameworks gave. Where a
// sample's result need not be reproduced, as it hangs on a near tie, it must be shown to.
func TestReference(t *testing.T) {
	t.Parallel()
	root := shared(t)
	for prefix, most := range executed {
		files, err := filepath.Glob(filepath.Join(root, prefix+"*", "*.onnx"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d models, %v", prefix, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_fullsize.onnx") { // without recorded outputs
				continue
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				checkReference(t, file, most)
			})
		}
	}
}

func checkReference(t *testing.T, file string, most int) {
	onnx, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g := loadGolden(t, filepath.Dir(file))
	var d diag.List
	im := frontend.ImportReference(filepath.Base(file), onnx, frontend.Options{Data: map[string][]int{"": g.x.Shape}}, &d)
	if im.Model == nil {
		t.Fatal(d.Diags)
	}
	m := im.Model
	order := make([]int, g.x.Shape[0])
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return boolInt(g.must(j)) - boolInt(g.must(i)) }) // those that bind first
	n, ties, bound := min(len(order), most), 0, 0
	for _, i := range order[:n] {
		x := []dataflow.RealTensor{sample(g.x, i, m.In[0].Shape)}
		got, err := m.Reference(x)
		if err != nil {
			t.Fatalf("sample %d: %v", i, err)
		}
		want := sample(g.y, i, got[0].Shape)
		if g.must(i) {
			bound++
		}
		switch different := closeTo(got[0].Data, want.Data); {
		case different == nil:
		case g.must(i):
			t.Errorf("sample %d: %v", i, different)
		case most >= 8: // a proof of a near tie takes as long as a dozen runs
			ties++
			c, err := im.Comparer()
			if err != nil {
				t.Fatal(err)
			}
			if v, err := c.Judge(x, []dataflow.RealTensor{want}); err != nil || v.NearTie == "" {
				t.Errorf("sample %d: %v, and no near tie (%+v, %v)", i, different, v, err)
			}
		}
	}
	if bound == 0 {
		t.Error("no sample binds")
	}
	t.Logf("%d samples, of which %d bind; %d differ at near ties", n, bound, ties)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sample is one sample of an array of samples.
func sample(a *npy.Array, i int, shape []int) dataflow.RealTensor {
	size := dataflow.Shape(shape).Size()
	return dataflow.RealTensor{Shape: slices.Clone(shape), Data: a.Data[i*size : (i+1)*size]}
}
