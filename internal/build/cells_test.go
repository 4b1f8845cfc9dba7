package build

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
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

// A realCell is a recurrent network of real numbers: a dense layer, layers of an operator of ONNX, or the same written
// as a Scan or a Loop over steps, and a dense layer of the last step.
type realCell struct {
	op                  string // LSTM, GRU, RNN; Scan and Loop, of a GRU's kind with a function written out
	directions, layers  int
	in, hidden, steps   int
	resets, peep, relu  bool // linear_before_reset; peepholes of an LSTM; Relu as function
	formats             bool // of the gates, in a file
	learned             bool // initial states that are constants
	written             bool // step by step
	front, wholeOutputs bool // a dense layer in front; the sequence goes out, not a class
}

func (c *realCell) bytes(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 3))
	m := onnxtest.New(14).Input("x", graph.DTypeFloat32, c.steps, 1, c.in).Output("y", graph.DTypeFloat32)
	weights := func(name string, reach float64, shape ...int) string {
		list := make([]float64, graph.ElementCount(shape))
		for i := range list {
			list[i] = float64(float32(reach * r.NormFloat64()))
		}
		m.Init(name, graph.DTypeFloat32, shape, list...)
		return name
	}
	x, width := "x", c.in
	if c.front {
		m.Node("MatMul", x, weights("front", 0.5, c.in, 6)).Out("front.sums")
		m.Node("Relu", "front.sums").Out("front.out")
		x, width = "front.out", 6
	}
	for l := range c.layers {
		of := func(name string) string { return fmt.Sprintf("%s%d", name, l) }
		switch {
		case c.op == "Loop":
			x = c.loop(m, x, of, weights, width)
		case c.op == "Scan":
			x = c.scan(m, x, of, weights, width)
		case c.written:
			x = c.unrolled(m, x, of, weights, width)
		default:
			x = c.operator(m, x, of, weights, width)
		}
		width = c.hidden * c.directions
	}
	if c.wholeOutputs {
		m.Node("MatMul", x, weights("behind", 0.5, width, 3)).Out("y")
		return m.Bytes()
	}
	m.Init("last", graph.DTypeInt64, nil, -1)
	m.Node("Gather", x, "last").Int("axis", 0).Out("at.last")
	m.Node("MatMul", "at.last", weights("behind", 0.5, width, 4)).Out("y")
	return m.Bytes()
}

// operator is a layer of ONNX' own operator.
func (c *realCell) operator(m *onnxtest.Model, x string, of func(string) string,
	weights func(string, float64, ...int) string, width int) string {
	gates := map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[c.op]
	d, h := c.directions, c.hidden
	inputs := []string{x, weights(of("W"), 0.5, d, gates*h, width), weights(of("R"), 0.4, d, gates*h, h),
		weights(of("B"), 0.2, d, 2*gates*h), ""}
	if c.learned {
		inputs = append(inputs, weights(of("h0"), 0.3, d, 1, h))
	}
	if c.peep {
		inputs = append(append(inputs, "", "", "")[:7], weights(of("P"), 0.2, d, 3*h))
	}
	n := m.Node(c.op, inputs...).Name(of("cell")).Int("hidden_size", int64(h))
	if c.resets {
		n.Int("linear_before_reset", 1)
	}
	if d == 2 {
		n.Str("direction", "bidirectional")
	}
	if c.relu {
		n.Strs("activations", slices.Repeat([]string{"Relu"}, d)...)
	}
	n.Out(of("Y"))
	m.Init(of("shape"), graph.DTypeInt64, []int{3}, float64(c.steps), 1, float64(d*h))
	m.Node("Transpose", of("Y")).Ints("perm", 0, 2, 1, 3).Out(of("turned"))
	m.Node("Reshape", of("turned"), of("shape")).Out(of("sequence"))
	return of("sequence")
}

// step writes a step of a cell of its own kind, h' = h + s(W x + R h + b) * (tanh(V x + U h) - h), where s is a sigmoid
// that is written out.
func (c *realCell) step(m *onnxtest.Model, x, h string, at func(string) string, of func(string) string) string {
	for _, g := range []string{"z", "n"} {
		m.Node("MatMul", x, of("W"+g)).Out(at(g + ".x"))
		m.Node("MatMul", h, of("R"+g)).Out(at(g + ".h"))
		m.Node("Add", at(g+".x"), at(g+".h")).Out(at(g + ".sum"))
		m.Node("Add", at(g+".sum"), of("b"+g)).Out(at(g + ".biased"))
	}
	m.Node("Neg", at("z.biased")).Out(at("z.neg"))
	m.Node("Exp", at("z.neg")).Out(at("z.exp"))
	m.Node("Add", at("z.exp"), "one").Out(at("z.below"))
	m.Node("Reciprocal", at("z.below")).Out(at("z"))
	m.Node("Tanh", at("n.biased")).Out(at("n"))
	m.Node("Sub", at("n"), h).Out(at("n-h"))
	m.Node("Mul", at("z"), at("n-h")).Out(at("moved"))
	m.Node("Add", h, at("moved")).Out(at("next"))
	return at("next")
}

func (c *realCell) own(m *onnxtest.Model, of func(string) string, weights func(string, float64, ...int) string,
	width int) {
	for _, g := range []string{"z", "n"} {
		weights(of("W"+g), 0.5, width, c.hidden)
		weights(of("R"+g), 0.4, c.hidden, c.hidden)
		weights(of("b"+g), 0.2, c.hidden)
	}
	if of("") == "0" {
		m.Init("one", graph.DTypeFloat32, nil, 1)
		m.Init("zero", graph.DTypeFloat32, []int{1, c.hidden}, make([]float64, c.hidden)...)
	}
}

// scan is a layer whose cell is the body of a Scan.
func (c *realCell) scan(m *onnxtest.Model, x string, of func(string) string,
	weights func(string, float64, ...int) string, width int) string {
	c.own(m, of, weights, width)
	body := onnxtest.New(14).Input("h", graph.DTypeFloat32, 1, c.hidden).Input("x", graph.DTypeFloat32, 1, width)
	next := c.step(body, "x", "h", func(s string) string { return s }, of)
	body.Node("Identity", next).Out("gathered")
	body.Output(next, graph.DTypeFloat32, 1, c.hidden).Output("gathered", graph.DTypeFloat32, 1, c.hidden)
	m.Node("Scan", "zero", x).Name(of("cell")).Int("num_scan_inputs", 1).Graph("body", body).Out(of("end"),
		of("sequence"))
	return of("sequence")
}

// loop is a layer that is a Loop, whose body takes its step of the sequence around it.
func (c *realCell) loop(m *onnxtest.Model, x string, of func(string) string,
	weights func(string, float64, ...int) string, width int) string {
	body := onnxtest.New(14).Input("run", graph.DTypeInt64).Input("go", graph.DTypeBool)
	body.Node("Gather", x, "run").Int("axis", 0).Out("x.of.run")
	body.Node("Identity", "go").Out("goes")
	body.Output("goes", graph.DTypeBool)
	c.own(m, of, weights, width)
	body.Input("h", graph.DTypeFloat32, 1, c.hidden)
	next := c.step(body, "x.of.run", "h", func(s string) string { return s }, of)
	body.Node("Identity", next).Out("gathered")
	body.Output(next, graph.DTypeFloat32, 1, c.hidden).Output("gathered", graph.DTypeFloat32, 1, c.hidden)
	if of("") == "0" {
		m.Init("runs", graph.DTypeInt64, nil, float64(c.steps)).Init("yes", graph.DTypeBool, nil, 1)
	}
	m.Node("Loop", "runs", "yes", "zero").Name(of("cell")).Graph("body", body).Out(of("end"), of("sequence"))
	return of("sequence")
}

// unrolled is a layer that is written out, step by step.
func (c *realCell) unrolled(m *onnxtest.Model, x string, of func(string) string,
	weights func(string, float64, ...int) string, width int) string {
	c.own(m, of, weights, width)
	h, all := "zero", []string{}
	m.Init(of("axis"), graph.DTypeInt64, []int{1}, 0)
	for t := range c.steps {
		at := func(s string) string { return fmt.Sprintf("%s.%s.%d", of(""), s, t) }
		m.Init(at("t"), graph.DTypeInt64, nil, float64(t))
		m.Node("Gather", x, at("t")).Int("axis", 0).Out(at("x"))
		h = c.step(m, at("x"), h, at, of)
		m.Node("Unsqueeze", h, of("axis")).Out(at("out"))
		all = append(all, at("out"))
	}
	m.Node("Concat", all...).Int("axis", 0).Out(of("sequence"))
	return of("sequence")
}

// sequences draws samples of a cell.
func (c *realCell) sequences(n int) *npy.Array {
	r := rand.New(rand.NewPCG(5, 6))
	a := &npy.Array{DType: "float32", Shape: []int{n, c.steps, 1, c.in}}
	for range n * c.steps * c.in {
		a.Data = append(a.Data, float64(float32(r.NormFloat64())))
	}
	return a
}

var differing = regexp.MustCompile(`differs by .* \(mean\), ([0-9.e-]+) at most, of magnitudes up to ([0-9.e-]+)`)

// TestCalibrateCells holds that recurrent networks of real numbers become such that build, near to what they were, and
// that all engines agree on them.
func TestCalibrateCells(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	cases := map[string]realCell{
		"lstm":          {op: "LSTM", directions: 1, layers: 1, in: 5, hidden: 6, steps: 4, front: true},
		"gru":           {op: "GRU", directions: 1, layers: 1, in: 5, hidden: 4, steps: 4},
		"rnn":           {op: "RNN", directions: 1, layers: 1, in: 1, hidden: 4, steps: 4},
		"bidirectional": {op: "LSTM", directions: 2, layers: 1, in: 3, hidden: 4, steps: 3, wholeOutputs: true},
		"stack":         {op: "GRU", directions: 1, layers: 2, in: 3, hidden: 4, steps: 3, front: true, resets: true},
		"peepholes":     {op: "LSTM", directions: 1, layers: 1, in: 3, hidden: 3, steps: 3, peep: true},
		"formats":       {op: "LSTM", directions: 1, layers: 1, in: 3, hidden: 3, steps: 3, formats: true},
		"learned":       {op: "LSTM", directions: 1, layers: 1, in: 3, hidden: 3, steps: 3, learned: true},
		"relu":          {op: "RNN", directions: 2, layers: 1, in: 3, hidden: 3, steps: 3, relu: true},
		"scan":          {op: "Scan", directions: 1, layers: 2, in: 4, hidden: 4, steps: 3, front: true},
		"loop":          {op: "Loop", directions: 1, layers: 1, in: 4, hidden: 4, steps: 4},
		"loops":         {op: "Loop", directions: 1, layers: 2, in: 3, hidden: 4, steps: 3, front: true},
		"written":       {op: "Scan", directions: 1, layers: 1, in: 4, hidden: 4, steps: 4, written: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "lstm" && name != "gru" {
				tier.NotQuick(t)
			}
			model, samples := samplefiles.WriteFile(t, "m.onnx", c.bytes(7)), samplefiles.Write(t, c.sequences(24))
			written := filepath.Join(t.TempDir(), "quantised.onnx")
			o := Options{Source: options.Source{Model: model, Quantisation: options.Quantisation{Calibrate: samples,
				SaveModel: written}, SampleFiles: options.SampleFiles{Data: samples}},
				Hardware: options.Hardware{Board: "zcu104"},
				Goal:     options.Goal{Interval: 5000}, Verification: options.Verification{Verify: 4,
					NoCSim: name != "lstm" || tier.Quick()}}
			if c.formats {
				o.LSTM = "../testsupport/models/lstm-formats.json"
			}
			r, list := told(t, o)
			note := list[slices.IndexFunc(list, func(x diag.Diag) bool { return x.Code == diag.ModelRequantised })]
			found := differing.FindStringSubmatch(note.Msg)
			if found == nil {
				t.Fatalf("it is told %q", note.Msg)
			}
			most, _ := strconv.ParseFloat(found[1], 64)
			reach, _ := strconv.ParseFloat(found[2], 64)
			if most > 0.08*reach {
				t.Errorf("outputs differ by %v, of magnitudes up to %v", most, reach)
			}
			want := []string{"eval", "cycle"}
			if !o.NoCSim {
				want = append(want, "csim")
			}
			if !slices.Equal(r.Verified.Engines, want) {
				t.Errorf("verified by %v, want %v", r.Verified.Engines, want)
			}
			simtest.SameByEngines(t, simulate.Options{Source: options.Source{Model: written,
				SampleFiles: options.SampleFiles{Data: samples}}},
				engines.EngineReference, engines.EngineFast,
				engines.EngineEval)
			kinds := map[string]int{}
			for _, n := range r.Imported.Model.Graph.Nodes {
				kinds[n.Op.Kind()]++
			}
			if kinds["RNN"] != c.layers {
				t.Errorf("it has %v, want a recurrent engine for each of %d layers", kinds, c.layers)
			}
			if text := fmt.Sprint(list); strings.Contains(text, "error[") {
				t.Error(text)
			}
		})
	}
}
