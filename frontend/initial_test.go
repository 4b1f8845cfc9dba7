package frontend_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/onnxtest"
)

// A begun is a Scan of two states that begin with inputs: s = Q(W*x + U*h), h = Q(tanh(s + c)), c = Q(s).
type begun struct {
	form   string // of the loop's quantisers: "Quant", "QDQ", "rows" of a scale for each element, or "none" of c
	batch  any    // samples; the states are of shape [batch, 2]
	apart  string // the name of that axis of the states, where it is another one
	moved  bool   // states arrive with an axis more in front
	quant  bool   // c arrives through a quantiser of the model's
	output bool   // the first state is an output of the model, too
}

func (b begun) write() []byte {
	m := onnxtest.New(14).Opset(qonnx, 2).Input("x", graph.DTypeFloat32, 5, b.batch, 3)
	m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("zero", graph.DTypeFloat32, nil, 0).Init("bits",
		graph.DTypeFloat32, nil, 4).
		Init("rows", graph.DTypeFloat32, []int{2}, 0.25, 0.125).Init("none", graph.DTypeInt8, nil, 0).
		Init("lo", graph.DTypeInt8, nil, -8).Init("hi", graph.DTypeInt8, nil, 7).Init("axis", graph.DTypeInt64,
		[]int{1}, 0).
		Init("w", graph.DTypeFloat32, []int{3, 2}, 1, 2, -1, 1, 1, 0).Init("u", graph.DTypeFloat32, []int{2, 2}, 1, -1,
		1, 1)
	quant := func(m *onnxtest.Model, scale, in, out string) {
		m.Node("Quant", in, scale, "zero", "bits").Domain(qonnx).Int("signed", 1).Str("rounding_mode", "ROUND").Out(out)
	}
	code := func(m *onnxtest.Model, in, out string) {
		switch b.form {
		case "QDQ":
			m.Node("QuantizeLinear", in, "s", "none").Out(out + ".code")
			m.Node("Clip", out+".code", "lo", "hi").Out(out + ".clipped")
			m.Node("DequantizeLinear", out+".clipped", "s", "none").Out(out)
		case "rows":
			quant(m, "rows", in, out)
		default:
			quant(m, "s", in, out)
		}
	}
	body := onnxtest.New(0).Input("h", graph.DTypeFloat32, b.batch, 2).Input("c", graph.DTypeFloat32, b.batch, 2).
		Input("xt", graph.DTypeFloat32, b.batch, 3)
	body.Node("MatMul", "xt", "w").Out("a")
	body.Node("MatMul", "h", "u").Out("b")
	body.Node("Add", "a", "b").Out("sum")
	quant(body, "s", "sum", "gate")
	body.Node("Add", "gate", "c").Out("both")
	body.Node("Tanh", "both").Out("squashed")
	code(body, "squashed", "next")
	state := "gate"
	if b.form == "none" {
		body.Node("Neg", "gate").Out("state")
		state = "state"
	} else {
		body.Node("Neg", "gate").Out("turned")
		code(body, "turned", "state")
		state = "state"
	}
	body.Node("Identity", "next").Out("step")
	body.Output("next", graph.DTypeFloat32, b.batch, 2).Output(state, graph.DTypeFloat32, b.batch, 2).
		Output("step", graph.DTypeFloat32, b.batch, 2)
	quant(m, "s", "x", "q")
	batch := b.batch
	if b.apart != "" {
		batch = b.apart
	}
	var states []string
	for _, in := range []string{"h0", "c0"} {
		from := in
		if b.moved {
			m.Input(in, graph.DTypeFloat32, 1, batch, 2)
			m.Node("Squeeze", in, "axis").Out(in + ".squeezed")
			from = in + ".squeezed"
		} else {
			m.Input(in, graph.DTypeFloat32, batch, 2)
		}
		if b.quant && in == "c0" {
			m.Node("Quant", from, "rows", "zero", "bits").Domain(qonnx).Int("signed", 1).Out("cq")
			from = "cq"
		}
		states = append(states, from)
	}
	m.Node("Scan", states[0], states[1], "q").Name("loop").Int("num_scan_inputs", 1).Graph("body", body).
		Out("last", "", "y")
	m.Output("y", graph.DTypeFloat32).Output("last", graph.DTypeFloat32)
	if b.output {
		m.Node("Identity", "h0").Out("same")
		m.Output("same", graph.DTypeFloat32)
	}
	return m.Bytes()
}

// TestInitialStates checks recurrences that begin with inputs of real numbers. Without the flag they are refused, with
// a hint at flags that make them map. With it every engine agrees, and a note says so.
func TestInitialStates(t *testing.T) {
	t.Parallel()
	type states = frontend.InitialStateModesByInput
	const zero, quant = frontend.InitialStateModeZero, frontend.InitialStateModeQuant
	for _, c := range []struct {
		begun
		states
		inputs string // empty: refused
		says   string // a message or a hint
	}{
		{begun{form: "Quant", batch: 1}, nil, "", "--initial-state h0=quant puts"},
		{begun{form: "Quant", batch: 1}, states{"h0": zero}, "", "--initial-state c0=zero begins"},
		{begun{form: "Quant", batch: 1}, states{"": zero}, "x", "became zeros"},
		{begun{form: "Quant", batch: 1}, states{"": quant}, "x h0 c0", "was put behind it"},
		{begun{form: "Quant", batch: 1}, states{"h0": zero, "c0": quant}, "x c0", "was put behind it"},
		{begun{form: "Quant", batch: 1}, states{"": quant, "c0": zero}, "x h0", "became zeros"},
		{begun{form: "Quant", batch: 1, quant: true}, states{"": quant}, "x h0 c0", "was put behind it"},
		{begun{form: "Quant", batch: 1, quant: true}, states{"": zero}, "x", "became zeros"},
		{begun{form: "Quant", batch: 1, quant: true}, states{"h0": zero, "c0": quant}, "", "quantises it already"},
		{begun{form: "QDQ", batch: 1}, nil, "", "--initial-state h0=zero begins"},
		{begun{form: "QDQ", batch: 1}, states{"": quant}, "x h0 c0", "was put behind it"},
		{begun{form: "QDQ", batch: 1, moved: true}, states{"": quant}, "x h0 c0", "was put behind it"},
		{begun{form: "rows", batch: 1}, states{"": quant}, "x h0 c0", "was put behind it"},
		{begun{form: "rows", batch: 1, moved: true}, states{"": quant}, "", "a scale for each element"},
		{begun{form: "rows", batch: 1, moved: true}, states{"": zero}, "x", "became zeros"},
		{begun{form: "none", batch: 1}, states{"h0": zero, "c0": quant}, "", "no quantiser of the loop's body"},
		{begun{form: "none", batch: 1}, states{"": zero}, "x", "became zeros"},
		{begun{form: "Quant", batch: "N"}, states{"": zero}, "x", "became zeros"},
		{begun{form: "Quant", batch: "N"}, states{"": quant}, "x h0 c0", "was put behind it"},
		{begun{form: "Quant", batch: "N", apart: "M", moved: true}, states{"": zero}, "x", "became zeros"},
		{begun{form: "Quant", batch: 3}, states{"": zero}, "x", "became zeros"},
		{begun{form: "Quant", batch: 1, output: true}, states{"h0": zero}, "", "recurrences begin with \"c0\""},
		{begun{form: "Quant", batch: 1}, states{"x": zero}, "", "recurrences begin with \"h0\", \"c0\""},
		{begun{form: "Quant", batch: 1}, states{"h1": zero}, "", "--initial-state names it"},
	} {
		t.Run(fmt.Sprintf("%+v %v", c.begun, c.states), func(t *testing.T) {
			t.Parallel()
			opt := frontend.Options{Initial: c.states, Dims: map[string]int{}}
			for _, axis := range []any{c.batch, c.apart} {
				if name, ok := axis.(string); ok && name != "" {
					opt.Dims[name] = 1
				}
			}
			var d diag.List
			im, err := frontend.Import("model.onnx", c.write(), opt, &d)
			if err != nil || !strings.Contains(fmt.Sprint(d.Diags), c.says) {
				t.Fatal(err, d.Diags)
			}
			if (im.Model != nil) != (c.inputs != "") {
				t.Fatal(d.Diags)
			}
			if im.Model == nil {
				return
			}
			var inputs []string
			for _, in := range im.Model.In {
				inputs = append(inputs, in.Name)
			}
			if got := strings.Join(inputs, " "); got != c.inputs {
				t.Errorf("inputs %s, want %s", got, c.inputs)
			}
			if !slices.Contains(strings.Fields(kinds(im)), "RNN") {
				t.Errorf("layers %s", kinds(im))
			}
			agree(t, im.Model, 20)
		})
	}
}

// TestInitialStatesHints follows the hints of refusals until the model maps: every flag in a hint must help.
func TestInitialStatesHints(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile(`--initial-state (\w+)=(\w+)`)
	for _, c := range []struct {
		begun
		follow string
		want   frontend.InitialStateModesByInput
	}{
		{begun{form: "Quant", batch: 1}, "zero", frontend.InitialStateModesByInput{"h0": "zero", "c0": "zero"}},
		{begun{form: "Quant", batch: 1}, "quant", frontend.InitialStateModesByInput{"h0": "quant", "c0": "quant"}},
		{begun{form: "QDQ", batch: 1, moved: true}, "quant",
			frontend.InitialStateModesByInput{"h0": "quant", "c0": "quant"}},
		{begun{form: "rows", batch: 1, moved: true}, "zero", // the only one
			frontend.InitialStateModesByInput{"h0": "zero", "c0": "zero"}},
		{begun{form: "rows", batch: 1, moved: true}, "quant", frontend.InitialStateModesByInput{}},
		{begun{form: "none", batch: 1}, "quant", frontend.InitialStateModesByInput{"h0": "quant"}},
		{begun{form: "Quant", batch: 1, output: true}, "zero", frontend.InitialStateModesByInput{}},
	} {
		t.Run(fmt.Sprintf("%+v %v", c.begun, c.follow), func(t *testing.T) {
			t.Parallel()
			states, mapped, again := frontend.InitialStateModesByInput{}, false, true
			for again {
				var d diag.List
				im, err := frontend.Import("model.onnx", c.write(), frontend.Options{Initial: states}, &d)
				if err != nil {
					t.Fatal(err)
				}
				mapped, again = im.Model != nil, false
				for _, x := range d.Diags {
					for _, f := range flag.FindAllStringSubmatch(x.Hint, -1) {
						if f[2] == c.follow && states[f[1]] == "" {
							states[f[1]], again = frontend.InitialStateMode(f[2]), true
						}
					}
				}
			}
			if !maps.Equal(states, c.want) || mapped != (len(states) == 2) {
				t.Errorf("it maps: %t, with %v, want %v", mapped, states, c.want)
			}
		})
	}
}

// TestInitialStatesBesideInputQuant checks that --input-quant adds no quantiser to an input that has the loop's
// quantiser behind it.
func TestInitialStatesBesideInputQuant(t *testing.T) {
	t.Parallel()
	var d diag.List
	opt := frontend.Options{Initial: frontend.InitialStateModesByInput{"h0": "quant", "c0": "zero"},
		InputQuant: &frontend.AddedInputQuantiser{Type: num.Type{Kind: num.KindInt, Width: 8}, Scale: 0.25}}
	im, err := frontend.Import("model.onnx", begun{form: "Quant", batch: 1}.write(), opt, &d)
	if err != nil || im.Model == nil {
		t.Fatal(err, d.Diags)
	}
	var told []string
	for _, x := range d.Diags {
		told = append(told, fmt.Sprint(x.Node, " ", x.Code))
	}
	if got := strings.Join(told, ", "); got != "h0 initial-state, c0 initial-state, x input-quantised" {
		t.Errorf("it tells %s", got)
	}
	agree(t, im.Model, 20)
}

// TestInitialStatesOfCells checks ONNX' own cells whose states arrive with the data. Formats of the gates quantise
// these states, so there is nothing left to quantise. Zeros make them constants, which a stream keeps.
func TestInitialStatesOfCells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		steps    any
		initial  frontend.InitialStateModesByInput
		stateful bool
		inputs   string // empty: refused
		says     string
	}{
		{5, nil, false, "x h0 c0", ""},
		{5, frontend.InitialStateModesByInput{"": "zero"}, false, "x", "became zeros"},
		{5, frontend.InitialStateModesByInput{"c0": "zero"}, false, "x h0", "became zeros"},
		{5, frontend.InitialStateModesByInput{"": "zero"}, true, "x", "became zeros"},
		{5, nil, true, "", "its initial state arrives with the data"},
		{5, frontend.InitialStateModesByInput{"": "quant"}, false, "", "nothing to do"},
		{5, frontend.InitialStateModesByInput{"h0": "quant"}, false, "", "--initial-state h0=zero"},
		{"T", frontend.InitialStateModesByInput{"": "zero"}, false, "x", "became zeros"},
	} {
		t.Run(fmt.Sprint(c.steps, c.initial, c.stateful), func(t *testing.T) {
			t.Parallel()
			n := newNet(14)
			n.Input("x", graph.DTypeFloat32, c.steps, 1, 3).quant("x", "q", n.s(0.25), 0, 4, 1)
			n.Input("h0", graph.DTypeFloat32, 1, 1, 2).Input("c0", graph.DTypeFloat32, 1, 1, 2)
			n.Node("LSTM", "q", n.c([]int{1, 8, 3}, count(24)...), n.c([]int{1, 8, 2}, count(16)...), "", "", "h0",
				"c0").Int("hidden_size", 2).Name("cell").Out("y")
			n.Output("y", graph.DTypeFloat32)
			formats := operators.CellFormats{}
			for _, name := range operators.LSTMCellQuantiserNames {
				formats[name] = operators.CellQuantiserFormat{Scale: 1. / 16, Bits: 6, Signed: true, Rounding: "ROUND"}
			}
			opt := frontend.Options{Initial: c.initial, Stateful: c.stateful, Cells: []frontend.CellFormatsFile{
				{Flag: frontend.LSTMFormatsFlag, Cells: map[string]operators.CellFormats{"cell": formats}}}}
			if c.steps == "T" {
				opt.Lengths = &frontend.AxisLengthRange{Axis: "T", Min: 2, Max: 6}
			}
			im, found := imported(t, n, opt)
			if (im.Model != nil) != (c.inputs != "") || !strings.Contains(fmt.Sprint(found), c.says) {
				t.Fatal(found)
			}
			if im.Model == nil {
				return
			}
			var inputs []string
			for _, in := range im.Model.In {
				inputs = append(inputs, in.Name)
			}
			if got := strings.Join(inputs, " "); got != c.inputs {
				t.Errorf("inputs %s, want %s", got, c.inputs)
			}
			agree(t, im.Model, 10)
		})
	}
}
