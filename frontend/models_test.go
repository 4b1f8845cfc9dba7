package frontend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/tier"
)

// shared is the folder of models with golden outputs that lies outside the repository.
func shared(t *testing.T) string {
	t.Helper()
	return filepath.Join(tier.NeedsShared(t), "models")
}

// supported are the models that must import and agree. Every other model is tried too: it must import or be refused
// with a reason, and agree where it imports.
var supported = []string{
	"brevitas/a2q-base-mlp-signed-w4a4", "brevitas/a2qplus-mlp-signed-w4a4-p9", "brevitas/digits-mlp-asym-u8", "brevitas/digits-mlp-balanced2", "brevitas/digits-mlp-w1a1",
	"brevitas/digits-mlp-w2a2", "brevitas/digits-mlp-w4a4-pot", "brevitas/iris-mlp-w3a3", "brevitas/jets-qap-w6a6-s80", "zoo/TFC_1W1A", "zoo/TFC_1W2A", "zoo/TFC_2W2A",
	"zoo/exmodels_bnn_model_fc_1layer", "zoo/kwsmlp_w3a3", "zoo/labs_tfc_w1a1", "zoo/qcdq_TFC_2W2A", "zoo/qcdq_kwsmlp_w3a3", "zoo/qcdq_qkeras_jettagging",
	"zoo/qkeras_jettagging", "zoo/tract_qsigmoid_1", "zoo/unsw_nb15_mlp_w2a2",
}

// samples is how many samples of a model are run.
func samples(n int) int {
	if tier.Long() {
		return n
	}
	return min(n, 20)
}

func TestModels(t *testing.T) {
	t.Parallel()
	root := shared(t)
	var files []string
	for _, kind := range []string{"brevitas", "zoo"} {
		found, err := filepath.Glob(filepath.Join(root, kind, "*", "*.onnx"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("no models under %s", root)
	}
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onnx, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var d diag.List
			im, err := frontend.Import(filepath.Base(file), onnx, frontend.Options{}, &d)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case im.Model != nil && d.Failed():
				t.Fatalf("imported in spite of errors: %v", d.Diags)
			case im.Model == nil && !d.Failed():
				t.Fatal("neither imported nor refused")
			case im.Model == nil && slices.Contains(supported, filepath.Dir(name)):
				t.Fatalf("refused: %v", d.Diags)
			case im.Model == nil:
				t.Logf("refused: %s", d.Diags[0].String())
				return
			}
			checkModel(t, im, filepath.Dir(file))
		})
	}
}

// golden is the inputs and outputs of a folder; must says which samples bind.
type golden struct {
	x, y *npy.Array
	must func(i int) bool
}

func load(t *testing.T, path string) *npy.Array {
	t.Helper()
	arrays, err := npy.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arrays {
		return a
	}
	t.Fatalf("%s is empty", path)
	return nil
}

func loadGolden(t *testing.T, dir string) golden {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "inputs.npy")); err == nil {
		ok := load(t, filepath.Join(dir, "consistent.npy"))
		return golden{load(t, filepath.Join(dir, "inputs.npy")), load(t, filepath.Join(dir, "outputs.npy")), func(i int) bool { return ok.Data[i] != 0 }}
	}
	meta := loadMeta(t, dir)
	margin := meta.Margin
	if len(margin) == 0 && meta.From != "" {
		margin = loadMeta(t, filepath.Join(dir, "..", meta.From)).Margin
	}
	pick := func(base string) *npy.Array {
		if _, err := os.Stat(filepath.Join(dir, base+".npy")); err == nil {
			return load(t, filepath.Join(dir, base+".npy"))
		}
		return load(t, filepath.Join(dir, base+".npz"))
	}
	return golden{pick("x0"), pick("y0"), func(i int) bool {
		if i < len(meta.Cases) && slices.Contains(meta.Outside, meta.Cases[i]) {
			return false
		}
		return meta.Exact || i >= len(margin) || margin[i] == nil || *margin[i] >= 1e-4
	}}
}

// zooMeta is what is known of a model's golden outputs: how near the closest rounding boundary of each sample is, in
// steps, and of which model this one is another spelling.
type zooMeta struct {
	Margin  []*float64
	From    string
	Exact   bool     // float32 arithmetic is exact in this model: even its ties bind
	Outside []string // cases that no executor need agree on
	Cases   []string
}

// exact are the models of which meta.json does not say whether ties bind, and they do.
var exact = []string{"qkeras_jettagging", "exmodels_", "mdc_mnist_conv", "labs_", "TFC_", "qcdq_TFC", "qcdq_qkeras", "tract_", "juan_", "oldzoo_"}

func loadMeta(t *testing.T, dir string) (m zooMeta) {
	t.Helper()
	var file struct {
		Margin  []*float64      `json:"min_margin"`
		From    string          `json:"from_"`
		Exact   *bool           `json:"exact_ties"`
		Outside []string        `json:"outside_contract"`
		Cases   json.RawMessage // names, or their number
	}
	b, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	if err == nil {
		err = json.Unmarshal(b, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	m = zooMeta{Margin: file.Margin, From: file.From, Outside: file.Outside}
	if json.Unmarshal(file.Cases, &m.Cases) != nil {
		m.Cases = nil
	}
	m.Exact = slices.ContainsFunc(exact, func(p string) bool { return strings.HasPrefix(filepath.Base(dir), p) })
	if file.Exact != nil {
		m.Exact = *file.Exact
	}
	return m
}

func checkModel(t *testing.T, im *frontend.Imported, dir string) {
	m := im.Model
	if len(m.In) != 1 || len(m.Out) != 1 {
		t.Logf("%d inputs, %d outputs", len(m.In), len(m.Out))
		return
	}
	g := loadGolden(t, dir)
	in, out := dataflow.Shape(m.In[0].Shape).Size(), dataflow.Shape(m.Out[0].Shape).Size()
	if g.x.Size() != in*g.x.Shape[0] {
		t.Log("its outputs are recorded for another size of input")
		return
	}
	codes, carried := loadCodes(t, dir), im.Carried()
	n := min(samples(g.x.Shape[0]), max(1, (1<<21)/elements(m.Graph)))
	bound := 0
	for i := range n {
		x := []dataflow.RealTensor{{Shape: m.In[0].Shape, Data: g.x.Data[i*in : (i+1)*in]}}
		want, err := m.Reference(x)
		if err != nil {
			t.Fatalf("sample %d: %v", i, err)
		}
		got, streams := run(t, m, x)
		for k, v := range want[0].Data {
			if math.Float64bits(v) != math.Float64bits(got[0].Data[k]) {
				t.Fatalf("sample %d, element %d: the layers give %v, the model %v", i, k, got[0].Data[k], v)
			}
		}
		if g.must(i) {
			bound++
			if err := closeTo(got[0].Data, g.y.Data[i*out:(i+1)*out]); err != nil {
				t.Errorf("sample %d: %v", i, err)
			}
		}
		compareCodes(t, i, carried, streams, codes)
	}
	if bound == 0 && n == samples(g.x.Shape[0]) {
		t.Error("no sample binds")
	}
}

// run takes a sample through prefix, layers and suffix.
func run(t *testing.T, m *dataflow.Model, x []dataflow.RealTensor) (out []dataflow.RealTensor, streams []dataflow.Tensor) {
	t.Helper()
	in, err := m.Prefix.ToCodes(x)
	if err == nil {
		err = m.Graph.Check(in)
	}
	if err == nil {
		streams, err = m.Graph.Eval(context.Background(), in)
	}
	if err != nil {
		t.Fatal(err)
	}
	var last []dataflow.Tensor
	for _, s := range m.Graph.Out {
		last = append(last, streams[s])
	}
	for s, v := range streams {
		if err := m.Graph.Streams[s].Type.Check(v); err != nil {
			t.Fatalf("stream %d: %v", s, err)
		}
	}
	if out, err = m.Suffix.ToReal(x, last); err != nil {
		t.Fatal(err)
	}
	return out, streams
}

// elements is how many integers a sample puts on all streams.
func elements(g *dataflow.Graph) (n int) {
	for _, s := range g.Streams {
		n += s.Type.Shape.Size()
	}
	return n
}

// closeTo is the tolerance of float32 rounding of the last, real-valued operations.
func closeTo(got, want []float64) error {
	most := 1e-6
	for _, v := range want {
		most = max(most, math.Abs(v))
	}
	for k, v := range want {
		if math.Abs(got[k]-v) > 2e-5*most {
			return fmt.Errorf("element %d is %v, golden %v", k, got[k], v)
		}
	}
	return nil
}

// recorded is the integer codes of one quantised tensor, for the first samples.
type recorded struct {
	Tensor, Codes string
	data          *npy.Array
}

func loadCodes(t *testing.T, dir string) (out []recorded) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "intermediates.json"))
	if os.IsNotExist(err) {
		return nil
	}
	var all []recorded
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := npy.ReadFile(filepath.Join(dir, "intermediates.npz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Codes != "" {
			r.data = arrays[r.Codes]
			out = append(out, r)
		}
	}
	return out
}

// compareCodes holds the streams that carry a recorded tensor against it. Which tensors do depends on the export: names
// differ between them.
func compareCodes(t *testing.T, sample int, carried []frontend.Carried, streams []dataflow.Tensor, codes []recorded) {
	t.Helper()
	for _, r := range codes {
		if sample >= r.data.Shape[0] {
			continue
		}
		for _, c := range carried {
			if c.Name != r.Tensor {
				continue
			}
			got := c.Integers(streams[c.Stream].Data)
			for k, v := range r.data.Data[sample*len(got) : (sample+1)*len(got)] {
				if float64(got[k]) != v {
					t.Fatalf("sample %d: code %d of %q is %d, recorded %v", sample, k, r.Tensor, got[k], v)
				}
			}
		}
	}
}

// TestStreamsCarryRecordedTensors makes sure that the comparison of codes compares.
func TestStreamsCarryRecordedTensors(t *testing.T) {
	t.Parallel()
	root := shared(t)
	for _, name := range supported {
		if !strings.HasPrefix(name, "brevitas/") {
			continue
		}
		dir := filepath.Join(root, name)
		onnx, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
		if err != nil {
			t.Fatal(err)
		}
		var d diag.List
		im, err := frontend.Import("model.onnx", onnx, frontend.Options{}, &d)
		if err != nil || im.Model == nil {
			t.Fatal(err, d.Diags)
		}
		have := map[string]bool{}
		for _, s := range im.Model.Graph.Streams {
			have[s.Name] = true
		}
		for _, r := range loadCodes(t, dir) {
			if !have[r.Tensor] {
				t.Errorf("%s: no stream carries %q", name, r.Tensor)
			}
		}
	}
}

// TestSingleOperators executes qonnx' own cases: one quantising operator each, in every rounding mode and width.
func TestSingleOperators(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(shared(t), "qonnx_ops")
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
		arrays, err := npy.ReadFile(filepath.Join(dir, e.Name+".npz"))
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
		im := frontend.ImportReference(e.Name, onnx, frontend.Options{}, &d)
		if im.Model == nil {
			t.Errorf("%s: %v", e.Name, d.Diags)
			continue
		}
		// qonnx divides in float32: 1.5/0.3 is 5 to it, and a little less in truth. Such near ties are excused.
		c, err := im.Comparer()
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		differ := false
		for i, n := 0, len(x.Data)/dataflow.Shape(im.Model.In[0].Shape).Size(); i < n; i++ { // a fixed batch is n samples
			in := []dataflow.RealTensor{sample(x, i, im.Model.In[0].Shape)}
			got, err := im.Model.Reference(in)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			want := sample(y, i, got[0].Shape)
			if different := closeTo(got[0].Data, want.Data); different != nil {
				differ = true
				if v, err := c.Judge(in, []dataflow.RealTensor{want}); err != nil || v.NearTie == "" {
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
