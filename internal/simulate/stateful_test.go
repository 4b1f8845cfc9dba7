package simulate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// A recurrentModel is an ONNX GRU, RNN or LSTM of one sample behind a quantiser, its weights at random, and the file of
// its formats.
type recurrentModel struct {
	op                      string
	steps, features, hidden int
	states                  bool // are inputs of the model
	resetsSum               int64
	direction               string
	stacked                 bool // another RNN of the same size runs over the sequence
	layout                  int64
}

// write gives the paths of the model and of its formats.
func (m recurrentModel) write(t *testing.T) (model, formats string) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 8))
	gates := map[string]int{"GRU": 3, "RNN": 1, "LSTM": 4}[m.op]
	d := 1
	if m.direction == "bidirectional" {
		d = 2
	}
	o := onnxtest.New(14).Opset("qonnx.custom_op.general", 2)
	shape := func(dims ...any) []any { // of x and of states, time or directions first
		if m.layout == 1 {
			dims[0], dims[1] = dims[1], dims[0]
		}
		return dims
	}
	o.Input("x", graph.DTypeFloat32, shape(m.steps, 1, m.features)...)
	o.Init("scale", graph.DTypeFloat32, nil, 1./16).Init("zero", graph.DTypeFloat32, nil, 0).Init("bits",
		graph.DTypeFloat32, nil, 5)
	o.Node("Quant", "x", "scale", "zero", "bits").Domain("qonnx.custom_op.general").Name("in").Out("q")
	weights := func(name string, shape ...int) {
		v := make([]float64, graph.ElementCount(shape))
		for i := range v {
			v[i] = float64(r.IntN(15)-7) / 8
		}
		if len(shape) > 2 {
			onnxtest.ZeroRandomRowsAndColumns(r, v, shape[2])
		}
		o.Init(name, graph.DTypeFloat32, shape, v...)
	}
	weights("W", d, gates*m.hidden, m.features)
	weights("R", d, gates*m.hidden, m.hidden)
	weights("B", d, 2*gates*m.hidden)
	in, out := []string{"q", "W", "R", "B", ""}, []string{"Y", "H"}
	states := []string{"h0"}
	if m.op == "LSTM" {
		states, out = append(states, "c0"), append(out, "C")
	}
	if m.states {
		for _, s := range states {
			o.Input(s, graph.DTypeFloat32, shape(d, 1, m.hidden)...)
			in = append(in, s)
		}
	}
	n := o.Node(m.op, in...).Int("hidden_size", int64(m.hidden)).Name("cells").Out(out...)
	if m.layout == 1 {
		n.Int("layout", 1)
	}
	if m.direction != "" {
		n.Str("direction", m.direction)
	}
	if m.op == "GRU" {
		n.Int("linear_before_reset", m.resetsSum)
	}
	if m.stacked {
		weights("W2", 1, m.hidden, m.hidden)
		o.Init("axes", graph.DTypeInt64, []int{1}, 1)
		o.Node("Squeeze", "Y", "axes").Out("between")
		o.Node("RNN", "between", "W2", "W2").Int("hidden_size", int64(m.hidden)).Name("more").Out("Y2", "H2")
		out = []string{"H", "Y2", "H2"}
	}
	for _, name := range out {
		o.Output(name, graph.DTypeFloat32)
	}
	dir := t.TempDir()
	model, formats = filepath.Join(dir, "model.onnx"), filepath.Join(dir, "cells.json")
	cell := operators.CellFormats{}
	for _, name := range formatsOf[m.op] {
		cell[name] = operators.CellQuantiserFormat{Scale: 1. / 16, Bits: 6, Signed: true, Rounding: "ROUND"}
	}
	f := frontend.CellFormatsFile{Flag: frontend.CellFormatsFlag, Cells: map[string]operators.CellFormats{m.op +
		":*": cell}}
	for path, data := range map[string][]byte{model: o.Bytes(), formats: f.FileContent()} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return model, formats
}

// formatsOf are the quantisers that models here have.
var formatsOf = map[string][]string{"LSTM": operators.LSTMCellQuantiserNames[:], "RNN": {"output", "hidden_acc"},
	"GRU": {"output", "update_sigmoid", "reset_sigmoid", "hidden_tanh", "hidden_acc", "recurrent_acc", "reset_product"}}

// TestStateful gives a sequence in pieces: with --stateful, every engine gives what the whole sequence gives.
func TestStateful(t *testing.T) {
	t.Parallel()
	const pieces, piece = 4, 3
	for _, m := range []recurrentModel{
		{op: "GRU", features: 3, hidden: 2}, {op: "GRU", features: 3, hidden: 2, resetsSum: 1},
		{op: "RNN", features: 2, hidden: 4}, {op: "LSTM", features: 2, hidden: 2},
	} {
		t.Run(fmt.Sprint(m.op, m.resetsSum), func(t *testing.T) {
			t.Parallel()
			x := samplefiles.Noise(1, pieces, piece, 1, m.features)
			whole, parts := m, m
			whole.steps, parts.steps = pieces*piece, piece
			given := func(m recurrentModel, shape []int, stateful bool) simulate.Options {
				model, formats := m.write(t)
				return simulate.Options{Source: options.Source{SampleFiles: options.SampleFiles{
					Data: samplefiles.Write(t, &npy.Array{DType: x.DType,
						Shape: shape, Data: x.Data})}, Model: model, ModelInputs: options.ModelInputs{Cells: formats,
					Stateful: stateful}}}
			}
			o := given(whole, []int{pieces * piece, 1, m.features}, false)
			o.Engine = engines.EngineReference
			want := simtest.RunOK(t, o).Outputs
			o = given(parts, x.Shape, true)
			for i, got := range simtest.Agree(t, simtest.QuickEngines(t), o, want[:1]) {
				last := got.Outputs[1].Data[len(got.Outputs[1].Data)-m.hidden:]
				if !slices.Equal(last, want[1].Data) {
					t.Errorf("engine %s: the last state is %v, want %v", simtest.QuickEngines(t)[i], last, want[1].Data)
				}
			}
			o.Engine, o.Stateful = engines.EngineEval, false
			if slices.Equal(simtest.RunOK(t, o).Outputs[0].Data, want[0].Data) {
				t.Error("the states make no difference")
			}
		})
	}
}

// withoutCSim returns the engines but the one that compiles C++.
func withoutCSim(list []engines.EngineName) []engines.EngineName {
	return slices.DeleteFunc(slices.Clone(list), func(e engines.EngineName) bool { return e == engines.EngineCSim })
}

// TestInitialStates feeds models with the states that each sample begins with, both of which are seen.
func TestInitialStates(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	const runs, steps = 3, 4
	for i, m := range []recurrentModel{
		{op: "GRU", features: 3, hidden: 2}, {op: "GRU", features: 2, hidden: 2, resetsSum: 1, direction: "reverse"},
		{op: "GRU", features: 2, hidden: 2, direction: "bidirectional", layout: 1},
		{op: "RNN", features: 2, hidden: 4, direction: "bidirectional"},
		{op: "LSTM", features: 2, hidden: 2},
		{op: "LSTM", features: 2, hidden: 2, direction: "bidirectional", layout: 1},
	} {
		t.Run(fmt.Sprint(m.op, m.direction), func(t *testing.T) {
			t.Parallel()
			m.steps, m.states = steps, true
			model, formats := m.write(t)
			d := 1
			if m.direction == "bidirectional" {
				d = 2
			}
			arrays := map[string]*npy.Array{"x": samplefiles.Noise(1, runs, steps, 1, m.features),
				"h0": samplefiles.Noise(2, runs, d, 1, m.hidden)}
			if m.op == "LSTM" {
				arrays["c0"] = samplefiles.Noise(3, runs, d, 1, m.hidden)
			}
			if m.layout == 1 {
				for _, a := range arrays {
					a.Shape[1], a.Shape[2] = a.Shape[2], a.Shape[1]
				}
			}
			given := func(e engines.EngineName) simulate.Options {
				return simulate.Options{Source: options.Source{SampleFiles: options.SampleFiles{
					Data: samplefiles.WriteZip(t, arrays)}, Model: model,
					ModelInputs: options.ModelInputs{Cells: formats}}, Engine: e}
			}
			want := simtest.RunOK(t, given(engines.EngineReference)).Outputs
			list := simtest.QuickEngines(t)[1:]
			if i%2 == 0 && !tier.Long() {
				list = withoutCSim(list) // the next one has its cell, or its directions
			}
			simtest.Agree(t, list, given(engines.EngineEval), want)
			for name, a := range arrays {
				if name == "x" {
					continue
				}
				was := a.Data
				a.Data = make([]float64, len(was))
				if other := simtest.RunOK(t, given(engines.EngineEval)); slices.Equal(other.Outputs[0].Data,
					want[0].Data) {
					t.Errorf("%s makes no difference", name)
				}
				a.Data = was
			}
		})
	}
}

// TestLoopIsOneEngine has a plain RNN of 100 steps as a Loop whose body gathers by the number of the run: a matrix
// layer and one engine.
func TestLoopIsOneEngine(t *testing.T) {
	t.Parallel()
	const steps, features, hidden = 100, 3, 4
	r := rand.New(rand.NewPCG(4, 4))
	weights := func(n int) (v []float64) {
		for range n {
			v = append(v, float64(r.IntN(15)-7)/8)
		}
		return v
	}
	quant := func(o *onnxtest.Model, in, out string) {
		o.Node("Quant", in, "scale", "zero", "bits").Domain("qonnx.custom_op.general").Out(out)
	}
	body := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	body.Input("i", graph.DTypeInt64).Input("condition", graph.DTypeBool).Input("h", graph.DTypeFloat32, 1, hidden)
	body.Node("Gather", "q", "i").Int("axis", 0).Out("e")
	body.Node("MatMul", "e", "W").Out("wx")
	body.Node("MatMul", "h", "R").Out("rh")
	body.Node("Add", "wx", "rh").Out("sum")
	body.Node("Tanh", "sum").Out("tanh")
	quant(body, "tanh", "next")
	body.Node("Identity", "condition").Out("go on")
	body.Output("go on", graph.DTypeBool).Output("next", graph.DTypeFloat32).Output("next", graph.DTypeFloat32)
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.DTypeFloat32, steps, 1, features)
	m.Init("scale", graph.DTypeFloat32, nil, 1./16).Init("zero", graph.DTypeFloat32, nil, 0).Init("bits",
		graph.DTypeFloat32, nil, 5)
	m.Init("runs", graph.DTypeInt64, nil, steps).Init("true", graph.DTypeBool, nil, 1)
	m.Init("h0", graph.DTypeFloat32, []int{1, hidden}, make([]float64, hidden)...)
	m.Init("W", graph.DTypeFloat32, []int{features, hidden}, weights(features*hidden)...)
	m.Init("R", graph.DTypeFloat32, []int{hidden, hidden}, weights(hidden*hidden)...)
	quant(m, "x", "q")
	m.Node("Loop", "runs", "true", "h0").Name("loop").Graph("body", body).Out("last", "y")
	m.Output("y", graph.DTypeFloat32).Output("last", graph.DTypeFloat32)
	model := filepath.Join(t.TempDir(), "loop.onnx")
	if err := os.WriteFile(model, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	o := simulate.Options{Source: options.Source{SampleFiles: options.SampleFiles{Data: samplefiles.Write(t,
		samplefiles.Noise(5, 2, steps, 1, features))},
		Model: model}, Engine: engines.EngineReference}
	for _, got := range simtest.Agree(t, simtest.QuickEngines(t)[1:], o, simtest.RunOK(t, o).Outputs) {
		if got.Design == nil {
			continue
		}
		kinds := map[string]int{}
		for _, n := range got.Design.Model.Graph.Nodes {
			kinds[n.Op.Kind()]++
		}
		if kinds["MVAU"] != 1 || kinds["RNN"] != 1 {
			t.Errorf("layers %v, want one MVAU and one RNN", kinds)
		}
	}
}

// TestInterleave lets samples take turns: what each gives does not depend on how many do, nor whether they fill the
// last frame.
func TestInterleave(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	const steps = 4
	for _, m := range []recurrentModel{
		{op: "GRU", features: 3, hidden: 2}, {op: "GRU", features: 3, hidden: 2, resetsSum: 1},
		{op: "RNN", features: 2, hidden: 4}, {op: "RNN", features: 2, hidden: 2, states: true},
		{op: "LSTM", features: 2, hidden: 2}, {op: "LSTM", features: 2, hidden: 2, direction: "bidirectional"},
		{op: "RNN", features: 2, hidden: 3, stacked: true},
	} {
		t.Run(fmt.Sprint(m.op, m.resetsSum, m.direction, m.states, m.stacked), func(t *testing.T) {
			t.Parallel()
			m.steps = steps
			model, formats := m.write(t)
			for _, runs := range []int{4, 5} {
				arrays := map[string]*npy.Array{"x": samplefiles.Noise(1, runs, steps, 1, m.features)}
				if m.states {
					arrays["h0"] = samplefiles.Noise(2, runs, 1, 1, m.hidden)
				}
				o := simulate.Options{Source: options.Source{SampleFiles: options.SampleFiles{
					Data: samplefiles.WriteZip(t, arrays)}, Model: model,
					ModelInputs: options.ModelInputs{Cells: formats, Interleave: 1}}, Engine: engines.EngineReference}
				want := simtest.RunOK(t, o).Outputs
				for _, o.Interleave = range []int{1, 2, 4} {
					list := simtest.QuickEngines(t)
					plain := m.resetsSum == 0 && m.direction == "" && !m.states && !m.stacked
					if o.Interleave != 2 || runs != 5 || plain && !tier.Long() {
						list = withoutCSim(list)
					}
					simtest.Agree(t, list, o, want)
				}
			}
		})
	}
}

// TestInterleaveHidesLatency compares the fastest designs: with samples in turns, a sample takes fewer clocks.
func TestInterleaveHidesLatency(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := recurrentModel{op: "RNN", steps: 12, features: 2, hidden: 4}
	model, formats := m.write(t)
	input := samplefiles.Write(t, samplefiles.Noise(1, 8, m.steps, 1, m.features))
	var clocks []float64
	for _, samples := range []int{1, 2, 4} {
		r, d := simtest.Run(t, simulate.Options{Source: options.Source{SampleFiles: options.SampleFiles{Data: input},
			Model:       model,
			ModelInputs: options.ModelInputs{Cells: formats, Interleave: samples}},
			Hardware: options.Hardware{Board: "zcu104",
				IO: dataflow.HostIOStream}, Engine: engines.EngineCycle})
		if d.HasErrors() {
			t.Fatal(d.Diags)
		}
		clocks = append(clocks, float64(r.Design.Clocks.Interval)/float64(samples))
	}
	if !(clocks[2] < clocks[1] && clocks[1] < clocks[0]) {
		t.Errorf("clocks per sample %v with 1, 2, 4 samples in turns", clocks)
	}
}

// TestRefusedTurns asks for states and turns that models do not have.
func TestRefusedTurns(t *testing.T) {
	t.Parallel()
	gru := recurrentModel{op: "GRU", steps: 3, features: 2, hidden: 2}
	with := func(change func(*recurrentModel)) recurrentModel {
		m := gru
		change(&m)
		return m
	}
	for _, c := range []struct {
		name    string
		m       recurrentModel
		options build.Options
		code    diag.Code
		says    string
	}{
		{"a state of a reverse layer",
			with(func(m *recurrentModel) { m.direction = "reverse" }),
			build.Options{Source: options.Source{ModelInputs: options.ModelInputs{Stateful: true}}},
			diag.StatefulFlagUnfit, "from the end of the sequence"},
		{"a state of both directions", with(func(m *recurrentModel) { m.direction = "bidirectional" }),
			build.Options{Source: options.Source{ModelInputs: options.ModelInputs{Stateful: true}}},
			diag.StatefulFlagUnfit,
			"from the end of the sequence"},
		{"a state of the data", with(func(m *recurrentModel) { m.states = true }),
			build.Options{Source: options.Source{ModelInputs: options.ModelInputs{Stateful: true}}},
			diag.StatefulFlagUnfit, "arrives with the data"},
		{"a state in turns", gru, build.Options{Source: options.Source{ModelInputs: options.ModelInputs{Stateful: true,
			Interleave: 2}}},
			diag.StatefulFlagUnfit, "several sequences"},
	} {
		o := c.options
		o.Model, o.Cells = c.m.write(t)
		var d diag.List
		if _, err := check.Run(context.Background(), check.Options{Source: o.Source, AccBits: o.AccBits},
			&d); err != nil {
			t.Fatal(c.name, err)
		}
		if !slices.ContainsFunc(d.Diags, func(x diag.Diag) bool {
			return x.Severity == diag.SeverityError && x.Code == c.code && strings.Contains(x.Msg, c.says)
		}) {
			t.Errorf("%s: %v, want %s that says %q", c.name, d.Diags, c.code, c.says)
		}
	}
}
