package frontend_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// samples returns how many of n samples of a model to run.
func samples(n int) int {
	if tier.Long() {
		return n
	}
	return min(n, 12)
}

// TestModels compares every real model with the results of its own framework, and its integer layers with the model as
// written. The model's metadata say whether it imports, and with which error it is refused otherwise.
func TestModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, m := range models.All(t) {
		for _, file := range m.Files {
			if !m.TierAllows(t, file) {
				continue
			}
			t.Run(m.Name+"/"+file, func(t *testing.T) {
				t.Parallel()
				checkModel(t, m, file)
			})
		}
	}
}

func checkModel(t *testing.T, m models.Model, file string) {
	rec := m.Recorded(t)
	refused, formats := m.Expect(t, file)
	opt := frontend.Options{Data: map[string][]int{"": rec.X.Shape}}
	onnx := m.Read(t, file)
	var d diag.List
	im, err := frontend.Import(file, onnx, opt, &d)
	has := func(code diag.Code) bool {
		return slices.ContainsFunc(d.Diags, func(x diag.Diag) bool { return x.Code == code })
	}
	switch {
	case err != nil || im.Model != nil && d.HasErrors():
		t.Fatal(err, d.Diags)
	case im.Model == nil && m.Shared && has(diag.ModelTooLarge):
		t.Skip(d.Diags[0].Msg)
	case refused == "" && im.Model == nil:
		t.Fatalf("refused: %v", d.Diags)
	case refused == "":
		holds(t, im, &rec, m)
		return
	case im.Model != nil || !has(refused):
		t.Fatalf("it is to be refused (%s): %v", refused, d.Diags)
	}
	d = diag.List{}
	written := frontend.ImportForReference(file, onnx, opt, &d)
	if written.Model == nil {
		t.Fatal(d.Diags)
	}
	holds(t, written, &rec, m)
	if formats == nil {
		return
	}
	f, err := frontend.ParseCellFormats(frontend.LSTMFormatsFlag, formats)
	if err != nil {
		t.Fatal(err)
	}
	opt.Cells = []frontend.CellFormatsFile{f}
	rec.Skip, rec.Codes = func(int) bool { return true }, nil // formats change the model
	holds(t, importFile(t, m, file, opt), &rec, m)
}

// importFile imports a file of a model, which must succeed.
func importFile(t *testing.T, m models.Model, file string, opt frontend.Options) *frontend.ImportedModel {
	t.Helper()
	var d diag.List
	im, err := frontend.Import(file, m.Read(t, file), opt, &d)
	if err != nil || im.Model == nil || d.HasErrors() {
		t.Fatalf("%s: %v %v", m.Name, err, d.Diags)
	}
	return im
}

// holds runs samples, those that fix the shapes first. The model as written must give the recorded results, or differ
// at a near tie where that is allowed. The layers, if there are any, must equal the model as written, bit for bit, and
// carry the recorded codes.
func holds(t *testing.T, im *frontend.ImportedModel, rec *models.Recorded, from models.Model) {
	t.Helper()
	m := im.Model
	single := len(m.In) == 1 && len(m.Out) == 1
	if from.Shared && (!single || rec.X.ElementCount() != dataflow.Shape(m.In[0].Shape).ElementCount()*rec.X.Shape[0]) {
		t.Logf("%d inputs, %d outputs, or recorded for another size of input", len(m.In), len(m.Out))
		return
	}
	order := make([]int, rec.X.Shape[0])
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return boolInt(rec.MustMatch(j)) - boolInt(rec.MustMatch(i)) })
	n := samples(len(order))
	var carried []frontend.StreamedTensor
	if m.Graph != nil {
		n = min(n, max(1, (1<<21)/elements(m.Graph)))
		carried = im.StreamedTensors()
	}
	equal, ties := 0, 0
	for _, i := range order[:n] {
		x := []dataflow.RealTensor{sample(rec.X, i, m.In[0].Shape)}
		want, err := m.Reference(x)
		if err != nil {
			t.Fatalf("sample %d: %v", i, err)
		}
		if y := sample(rec.Y, i, m.Out[0].Shape); !rec.Skip(i) {
			switch different := closeTo(want[0].Data, y.Data); {
			case different == nil:
				equal++
			case rec.MustMatch(i):
				t.Errorf("sample %d: %v", i, different)
			default:
				ties++
				nearTie(t, im, i, x, y, different)
			}
		}
		if m.Graph == nil {
			continue
		}
		got, streams := run(t, m, x)
		for k, v := range want[0].Data {
			if math.Float64bits(v) != math.Float64bits(got[0].Data[k]) {
				t.Fatalf("sample %d, element %d: the layers give %v, the model %v", i, k, got[0].Data[k], v)
			}
		}
		compareCodes(t, i, carried, streams, rec.Codes)
	}
	if equal == 0 && !rec.Skip(order[0]) {
		t.Error("no sample was compared")
	}
	t.Logf("%d samples, %d as recorded, %d at near ties", n, equal, ties)
}

// nearTie shows that float32 may have rounded another way in a sample.
func nearTie(t *testing.T, im *frontend.ImportedModel, i int, x []dataflow.RealTensor, y dataflow.RealTensor,
	differ error) {
	t.Helper()
	c, err := im.NewOutputComparer()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.JudgeOutputs(x, []dataflow.RealTensor{y}); err != nil || v.NearTie == "" && !v.Equal {
		t.Errorf("sample %d: %v, and no near tie (%+v, %v)", i, differ, v, err)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sample is one sample of an array of samples.
func sample(a *npy.Array, i int, shape []int) dataflow.RealTensor {
	size := dataflow.Shape(shape).ElementCount()
	return dataflow.RealTensor{Shape: slices.Clone(shape), Data: a.Data[i*size : (i+1)*size]}
}

// run takes a sample through prefix, layers and suffix.
func run(t *testing.T, m *dataflow.Model, x []dataflow.RealTensor) (out []dataflow.RealTensor,
	streams []dataflow.Tensor) {
	t.Helper()
	in, err := m.Prefix.ToCodes(x)
	if err == nil {
		err = m.Graph.CheckInputs(in)
	}
	if err == nil {
		streams, err = m.Graph.EvalFirstFrameByStream(context.Background(), in)
	}
	if err != nil {
		t.Fatal(err)
	}
	var last []dataflow.Tensor
	for _, s := range m.Graph.Out {
		last = append(last, streams[s])
	}
	for s, v := range streams {
		if err := m.Graph.Streams[s].Type.CheckFrame(v); err != nil {
			t.Fatalf("stream %d: %v", s, err)
		}
	}
	if out, err = m.Suffix.ToReal(x, last); err != nil {
		t.Fatal(err)
	}
	return out, streams
}

// elements returns the number of integers that a sample puts on all streams.
func elements(g *dataflow.Graph) (n int) {
	for _, s := range g.Streams {
		n += s.Type.Shape.ElementCount()
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

// compareCodes compares the streams that carry a recorded tensor with it. The export decides which tensors that are,
// because names differ between exports.
func compareCodes(t *testing.T, i int, carried []frontend.StreamedTensor, streams []dataflow.Tensor,
	codes []models.Codes) {
	t.Helper()
	for _, r := range codes {
		if i >= r.Data.Shape[0] {
			continue
		}
		for _, c := range carried {
			if c.Name != r.Tensor {
				continue
			}
			got := c.Integers(streams[c.Stream].Data)
			equal(t, fmt.Sprintf("sample %d, %q", i, r.Tensor), got, r.Data.Data[i*len(got):(i+1)*len(got)])
		}
	}
}

// TestStreamsCarryRecordedTensors checks that the comparison of codes is not empty: the streams of a perceptron carry
// every tensor with recorded codes.
func TestStreamsCarryRecordedTensors(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, m := range models.HavingFile(t, "intermediates.json") {
		if !strings.HasPrefix(m.Info.Family, "mlp") || m.Info.Refused != "" || !slices.Contains(m.Files, "model.onnx") {
			continue
		}
		have := map[string]bool{}
		for _, s := range importFile(t, m, "model.onnx", frontend.Options{}).Model.Graph.Streams {
			have[s.Name] = true
		}
		for _, c := range m.Recorded(t).Codes {
			compared++
			if !have[c.Tensor] {
				t.Errorf("%s: no stream carries %q", m.Name, c.Tensor)
			}
		}
	}
	if compared < 20 {
		t.Errorf("%d tensors", compared)
	}
}
