package frontend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// An engine is the LSTM layer of an imported model, made to give the state of its cells too.
type engine struct {
	model  *dataflow.Model
	op     dataflow.Op
	in     int // stream
	hidden int // stream of h, as the model has the layer, which has no c
	layer  rnn.Params
}

// engineOf imports a model for data of the given shape.
func engineOf(t *testing.T, file string, shape []int) engine {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d diag.List
	im, err := frontend.Import(filepath.Base(file), b, frontend.Options{Data: map[string][]int{"": shape}}, &d)
	if err != nil || im.Model == nil {
		t.Fatal(err, d.Diags)
	}
	g := im.Model.Graph
	for _, n := range g.Nodes {
		if n.Op.Kind() != rnn.KindName {
			continue
		}
		e := engine{model: im.Model, in: n.In[0], hidden: n.Out[0], layer: n.Op.Params().(rnn.Params)}
		for _, s := range e.layer.Cells[0].States {
			if !slices.Contains(e.layer.Outputs, s.Next) {
				e.layer.Outputs = append(slices.Clip(e.layer.Outputs), s.Next)
			}
		}
		e.layer.Sequence = true
		if e.op, _, err = rnn.New(e.layer).Bind([]dataflow.StreamType{g.Streams[e.in].Type}); err != nil {
			t.Fatal(err)
		}
		return e
	}
	t.Fatalf("%s has no LSTM", file)
	return engine{}
}

// codes gives h and c of every step by cell and unit for one sample, and h as the model's own stream has it.
func (e engine) codes(t *testing.T, x dataflow.RealTensor) (h, c, stream dataflow.Tensor) {
	t.Helper()
	in, err := e.model.Prefix.ToCodes([]dataflow.RealTensor{x})
	if err != nil {
		t.Fatal(err)
	}
	streams, err := e.model.Graph.EvalFirstFrameByStream(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	out := e.op.Eval([]dataflow.Tensor{streams[e.in]})
	return out[0], out[1], streams[e.hidden]
}

// equal compares codes with golden ones.
func equal(t *testing.T, what string, got []int64, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d codes, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		if float64(v) != want[i] {
			t.Fatalf("%s: code %d is %d, want %v", what, i, v, want[i])
		}
	}
}

// TestEngineFINNL compares the hidden and the cell state of the LSTM layer after every step, in both directions, with
// those of FINN-L's hardware function, over whole text lines.
func TestEngineFINNL(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	root := finnl(t)
	for _, c := range finnlLines() {
		t.Run(c.model+"/"+c.line, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, c.model, c.line)
			columns, hidden := load(t, filepath.Join(dir, "input_columns.npy")),
				load(t, filepath.Join(dir, "hidden.npy"))
			cells, err := npy.ReadArrays(filepath.Join(dir, "cells.npz"))
			if err != nil {
				t.Fatal(err)
			}
			x := dataflow.RealTensor{Shape: columns.Shape, Data: make([]float64, len(columns.Data))}
			for i, v := range columns.Data {
				x.Data[i] = v / float64(int(1)<<(c.bits-1))
			}
			h, state, stream := engineOf(t, filepath.Join(root, c.model, "scan.onnx"), columns.Shape).codes(t, x)
			equal(t, "h", h.Data, hidden.Data)
			equal(t, "c", state.Data, cells["c"].Data)
			equal(t, "h as the network's layer gives it", stream.Data, hidden.Data)
		})
	}
}

// finnl is the folder of FINN-L's networks.
func finnl(t *testing.T) string {
	t.Helper()
	return filepath.Join(tier.NeedsShared(t), "models", "finnl")
}

// load reads the only array of a file.
func load(t *testing.T, path string) *npy.Array {
	t.Helper()
	return models.Model{Dir: filepath.Dir(path)}.Array(t, filepath.Base(path))
}

// A finnlLine is a text line for a network of FINN-L with activations of a given number of bits.
type finnlLine struct {
	model, line string
	bits        int
}

// finnlLines is the longest line of the smallest network, and all six in the long tier.
func finnlLines() []finnlLine {
	if !tier.Long() {
		return []finnlLine{{"W2A2", "010077", 2}}
	}
	var list []finnlLine
	for bits, model := range map[int]string{2: "W2A2", 4: "W4A4", 8: "W4A8"} {
		for _, line := range []string{"010029", "010077"} {
			list = append(list, finnlLine{model, line, bits})
		}
	}
	return list
}

// TestEngineBrevitas does the same with Brevitas' cells.
func TestEngineBrevitas(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, m := range models.HavingFile(t, "lstm_codes.npz") {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			rec := m.Recorded(t)
			steps, width := rec.X.Shape[1], rec.X.Shape[2]
			e := engineOf(t, m.Path("model.onnx"), nil)
			cells, units := len(e.layer.Cells), e.layer.Cells[0].Phases[0].Units
			compared := 0
			for i := range rec.X.Shape[0] {
				if !rec.Cells(i) {
					continue
				}
				h, c, _ := e.codes(t, sample(rec.X, i, []int{steps, 1, width}))
				for step := range steps {
					for d := range cells {
						at, from := (i*steps+step)*units, (step*cells+d)*units
						what := fmt.Sprintf("sample %d, step %d, direction %d, ", i, step, d)
						want := func(tensor string) []float64 {
							return rec.LSTM[fmt.Sprintf("d%d_%s", d, tensor)].Data[at : at+units]
						}
						equal(t, what+"h", h.Data[from:from+units], want("output"))
						equal(t, what+"c", c.Data[from:from+units], want("cell_state"))
						compared++
					}
				}
			}
			if compared == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// TestMetadata checks that an import has the model's metadata.
func TestMetadata(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := engineOf(t, filepath.Join(finnl(t), "W2A2", "brevitas.onnx"), []int{2, 32}).model
	var alphabet []string
	if err := json.Unmarshal([]byte(m.Meta["alphabet"]), &alphabet); err != nil || len(alphabet) != 82 ||
		m.Meta["blank"] != "0" || m.Meta["decode"] != "finn-l-peak" {
		t.Errorf("%v: %v", err, m.Meta)
	}
}
