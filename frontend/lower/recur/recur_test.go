package recur_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// A cell writes a body.
type cell struct {
	name   string
	write  func(b *body)
	phases int
}

func lstm(b *body, square func(x string) string, project int) {
	n, hidden := 4, 4
	if project > 0 {
		hidden = project
	}
	h, c := b.state("h", hidden), b.state("c", n)
	i, f, o, g := b.sigmoid(h, hidden, n), b.sigmoid(h, hidden, n), b.sigmoid(h, hidden, n), b.tanh(h, hidden, n)
	next := b.quant(b.node("Add", square(b.node("Mul", f, c)), square(b.node("Mul", i, g))), 0.03125, 8, true)
	out := b.quant(b.node("Mul", o, b.quant(b.node("Tanh", next), 0.0078125, 8, true)), b.about(0.0078), 8, true)
	b.next("c", next)
	if project > 0 {
		out = b.quant(b.product(out, n, project, b.about(0.05)), 0.0078125, 8, true)
	}
	b.next("h", out)
	b.outs = append(b.outs, out)
}

// wide writes an LSTM whose states have more codes than a function has steps. Its products are not rounded before,
// and its scales have no common pattern.
func wide(b *body, bits int, zero float64, mode string) {
	n := 4
	h, c := b.state("h", n), b.state("c", n)
	i, f, o, g := b.sigmoid(h, n, n), b.sigmoid(h, n, n), b.sigmoid(h, n, n), b.tanh(h, n, n)
	next := b.quantised(b.node("Add", b.node("Mul", f, c), b.node("Mul", i, g)), float64(float32(0.000123)), zero, bits,
		1, mode)
	b.next("c", next)
	out := b.quantised(b.node("Mul", o, b.quant(b.node("Tanh", next), 0.0078125, 8, true)), float64(float32(0.000031)),
		zero, bits, 1, mode)
	b.next("h", out)
	b.outs = append(b.outs, next, out)
}

func gru(b *body, before bool) {
	n := 4
	h := b.state("h", n)
	z, r := b.sigmoid(h, n, n), b.sigmoid(h, n, n)
	var hidden string
	if before {
		hidden = b.node("Mul", r, b.bias(b.product(h, n, n, b.about(0.05)), n))
	} else {
		hidden = b.product(b.quant(b.node("Mul", r, h), 0.0078125, 8, true), n, n, b.about(0.05))
	}
	g := b.quant(b.node("Tanh", b.bias(b.node("Add", b.product("x", b.width, n, b.about(0.05)/b.scale), hidden), n)),
		b.about(0.008), 8, true)
	next := b.quant(b.node("Add", b.node("Mul", b.node("Sub", b.number(1), z), g), b.node("Mul", z, h)), b.about(0.008),
		8, true)
	b.next("h", next)
	b.outs = append(b.outs, next)
}

var cells = []cell{
	{"RNN", func(b *body) {
		h := b.state("h", 5)
		next := b.tanh(h, 5, 5)
		b.next("h", next)
		b.outs = []string{next}
	}, 1},
	{"RNN that does not saturate", func(b *body) {
		h := b.state("h", 5)
		next := b.quant(b.gate("Relu", h, 5, 5), b.about(0.01), 6, false)
		b.next("h", next)
		b.outs = []string{next}
	}, 1},
	{"a function that rises and falls", func(b *body) {
		h := b.state("h", 3)
		z := b.gate("Identity", h, 3, 3)
		next := b.quant(b.node("Mul", z, b.node("Sigmoid", z)), b.about(0.02), 7, true)
		b.next("h", next)
	}, 1},
	{"the sign of a sum", func(b *body) { // 0 for one sum only
		h := b.state("h", 3)
		const scale, state = 0x32a5b.0p-22, 0.0078125
		z := b.node("Add", b.product("x", b.width, 3, b.about(0.05)/b.scale*b.apart), b.product(h, 3, 3, scale))
		next := b.quant(b.node("Sign", b.node("Add", z, b.number(9*scale*state, 63*scale*state, 0))), state, 7, true)
		b.next("h", next)
		b.outs = []string{next}
	}, 1},
	{"LSTM", func(b *body) { lstm(b, func(x string) string { return b.quant(x, 0.03125, 8, true) }, 0) }, 1},
	{"LSTM, products not rounded", func(b *body) { lstm(b, func(x string) string { return x }, 0) }, 1},
	{"LSTM with a projection", func(b *body) { lstm(b, func(x string) string { return x }, 3) }, 2},
	{"LSTM, 14 bits", func(b *body) { wide(b, 14, 0, "ROUND") }, 1},
	{"LSTM, 13 bits, rounded up", func(b *body) { wide(b, 13, 0, "UP") }, 1},
	{"LSTM, 13 bits, rounded towards zero", func(b *body) { wide(b, 13, 0, "DOWN") }, 1},
	{"LSTM, 13 bits with a zero point", func(b *body) { wide(b, 13, 31, "HALF_DOWN") }, 1},
	{"signs of products", func(b *body) {
		h := b.state("h", 4)
		b.outs = []string{b.quant(b.node("Mul", b.tanh(h, 4, 4), h), 0.25, 1, true)}
		b.next("h", b.tanh(h, 4, 4))
	}, 1},
	{"a running maximum", func(b *body) {
		m := b.state("m", 3)
		x := b.quant("x", 0.25, 8, true)
		more := b.quant(b.node("Relu", b.node("Sub", m, x)), 0.25, 9, false)
		next := b.quant(b.node("Add", x, more), 0.25, 8, true)
		b.next(m, next)
		b.outs = []string{next}
	}, 1},
	{"GRU, reset after the product", func(b *body) { gru(b, true) }, 1},
	{"GRU, reset before the product", func(b *body) { gru(b, false) }, 2},
	{"gates of one product", func(b *body) {
		h := b.state("h", 4)
		z := b.bias(b.node("Add", b.product("x", b.width, 8, b.about(0.05)/b.scale), b.product(h, 4, 8, b.about(0.05))),
			8)
		b.b.Init("at", graph.DTypeInt64, []int{2}, 4, 4)
		b.b.Node("Split", z, "at").Int("axis", 0).Out("zf", "zg")
		f := b.quant(b.node("Sigmoid", "zf"), b.about(0.0078), 7, false)
		next := b.quant(b.node("Mul", f, b.quant(b.node("Tanh", "zg"), 0.0078125, 8, true)), b.about(0.008), 8, true)
		b.next("h", next)
		b.outs = []string{next, f}
	}, 1},
	{"input and state side by side", func(b *body) {
		h := b.state("h", 4)
		b.b.Node("Concat", "x", h).Int("axis", 0).Out("xh")
		z := b.bias(b.product("xh", b.width+4, 4, b.about(0.05)), 4)
		next := b.quant(b.node("Tanh", z), b.about(0.008), 8, true)
		b.next("h", next)
		b.outs = []string{next}
	}, 1},
	{"no product with the state", func(b *body) {
		h := b.state("h", 4)
		decay := b.number(0.5, 0.25, 0.75, float64(float32(0.9)))
		next := b.quant(b.node("Add", b.node("Mul", h, decay), b.product("x", b.width, 4, b.about(0.01)/b.scale)),
			b.about(0.02), 8, true)
		b.next("h", next)
		b.outs = []string{next}
	}, 1},
	{"two layers in one body", func(b *body) {
		h1, h2 := b.state("h1", 4), b.state("h2", 3)
		one := b.tanh(h1, 4, 4)
		b.next("h1", one)
		two := b.quant(b.node("Tanh", b.bias(b.node("Add", b.product(one, 4, 3, b.about(0.05)),
			b.product(h2, 3, 3, b.about(0.05))), 3)), b.about(0.008), 8, true)
		b.next("h2", two)
		b.outs = []string{two}
	}, 3},
	{"peepholes", func(b *body) {
		h, c := b.state("h", 4), b.state("c", 4)
		z := b.node("Add", b.node("Mul", c, b.number(0.5, -1, 0.25, 0.125)), b.gate("Identity", h, 4, 4))
		f := b.quant(b.node("Sigmoid", z), b.about(0.0078), 7, false)
		next := b.quant(b.node("Add", b.node("Mul", f, c), b.tanh(h, 4, 4)), 0.03125, 8, true)
		b.next("c", next)
		b.next("h", b.quant(next, 0.0625, 6, true))
	}, 1},
	{"a quantiser in front of the product", func(b *body) {
		h := b.state("h", 4)
		next := b.tanh(b.quant(h, 0.015625, 6, true), 4, 4)
		b.next("h", b.quant(next, 0.015625, 6, true))
		b.outs = []string{next}
	}, 1},
	{"sums that go out", func(b *body) {
		h := b.state("h", 4)
		next := b.tanh(h, 4, 4)
		b.next("h", next)
		b.outs = []string{b.bias(b.product(next, 4, 3, 0.25), 3), b.quant(next, 0.0625, 4, true)}
	}, 2},
	{"two inputs, a state of what came before", func(b *body) {
		b.second, b.width = true, 4
		h, before := b.state("h", 4), b.state("before", 4)
		z := b.node("Add", b.gate("Identity", h, 4, 4),
			b.node("Add", b.product("v", 4, 4, 0.0078125), b.product(before, 4, 4, 0.0078125)))
		next := b.quant(b.node("Tanh", z), b.about(0.008), 8, true)
		b.next("h", next)
		b.b.Node("Identity", "x").Out("same")
		b.next("before", "same")
		b.outs = []string{next}
	}, 2},
	{"initial states", func(b *body) {
		h := b.state("h", 4)
		b.states[0].start = []float64{0.5, -0.25, 0, 0.125}
		next := b.quant(b.gate("Tanh", h, 4, 4), 0.015625, 8, true)
		b.next("h", next)
	}, 1},
	{"initial states beyond the quantiser, and between its codes", func(b *body) {
		h, c := b.state("h", 4), b.state("c", 4)
		b.states[0].start = []float64{0.5, -9, 3.0078125, 0.125}
		b.states[1].start = []float64{float64(float32(0.3)), 0, -1, 40}
		kept := b.quant(b.node("Add", b.node("Mul", c, b.number(0.5)), b.tanh(h, 4, 4)), 0.03125, 8, true)
		next := b.quant(b.node("Tanh", kept), 0.015625, 8, true)
		b.next("c", kept)
		b.next("h", next)
		b.outs = []string{next}
	}, 1},
	{"states that become constants, and others", func(b *body) {
		h, c, k := b.state("h", 4), b.state("c", 4), b.state("k", 4)
		b.states[0].start = []float64{0.25, 0, 2.25, -1}
		b.states[1].start = []float64{0.5, -1, 0.75, 8}
		b.states[2].start = []float64{0.0625, 1, 2, 3} // it does not change
		z := b.node("Add", b.gate("Identity", h, 4, 4), b.node("Add", c, k))
		b.next("h", b.quant(b.node("Tanh", z), 0.015625, 8, true))
		b.next("c", b.quant(b.node("Mul", h, b.number(0)), 0.25, 8, true))
		b.next("k", k)
	}, 2},
	{"a state of one that begins with another scale", func(b *body) {
		h, before := b.state("h", 4), b.state("before", 4)
		b.states[0].start = []float64{0.001953125, 1, -3, 0}
		b.states[1].start = []float64{0.5, 0.0009765625, 0, -1}
		z := b.node("Add", b.gate("Identity", h, 4, 4), b.product(before, 4, 4, 0.0078125))
		next := b.quant(b.node("Tanh", z), 0.0078125, 8, true)
		b.next("h", next)
		b.next("before", b.node("Identity", h))
		b.outs = []string{next}
	}, 2},
	{"values that never change", func(b *body) { // r*h, and the output
		h := b.state("h", 4)
		r := b.quant(b.node("Sigmoid", b.number(-8, -8, -8, -8)), 0.25, 7, false)
		reset := b.quant(b.node("Mul", b.node("Mul", h, r), b.number(0)), 0.0078125, 8, true)
		next := b.quant(b.node("Tanh", b.node("Add", b.gate("Identity", h, 4, 4), b.product(reset, 4, 4, 0.25))),
			0.015625, 8, true)
		b.next(h, next)
		b.outs = []string{b.quant(b.node("Relu", b.node("Sub", b.product(reset, 4, 3, 0.25), b.number(1, 2, 3))), 0.25,
			4, false), reset, b.quant(next, 0.0625, 6, true)}
	}, 3},
	{"initial states that arrive", func(b *body) {
		h := b.state("h", 4)
		b.states[0].quant = []float64{0.015625, 8, 1}
		next := b.quant(b.gate("Tanh", h, 4, 4), 0.015625, 8, true)
		b.next("h", next)
		b.outs = []string{next}
	}, 1},
}

// imported imports a body as layers.
func (b *body) imported(t *testing.T) *dataflow.Model {
	t.Helper()
	var d diag.List
	im, err := frontend.Import("model.onnx", b.model(), frontend.Options{Data: nil}, &d)
	if err != nil || im == nil || im.Model == nil {
		t.Fatal(err, d.Diags)
	}
	return im.Model
}

// engines lists the recurrent layers of a model.
func engines(m *dataflow.Model) (list []rnn.Params) {
	for _, n := range m.Graph.Nodes {
		if n.Op.Kind() == rnn.LayerKind.Name {
			list = append(list, n.Op.Params().(rnn.Params))
		}
	}
	return list
}

// agree compares the results of the layers with those of the model for random samples.
func agree(t *testing.T, m *dataflow.Model, r *rand.Rand, samples int) {
	t.Helper()
	seen := map[string]bool{}
	for range samples {
		var x []dataflow.RealTensor
		for _, in := range m.In {
			v := dataflow.RealTensor{Shape: in.Shape, Data: make([]float64, dataflow.Shape(in.Shape).ElementCount())}
			size := []float64{0, 1, 100}[r.IntN(3)]
			for i := range v.Data {
				v.Data[i] = float64(float32(r.NormFloat64() * size))
			}
			x = append(x, v)
		}
		want, err := m.Reference(x)
		if err != nil {
			t.Fatal(err)
		}
		in, err := m.Prefix.ToCodes(x)
		if err != nil {
			t.Fatal(err)
		}
		streams, err := m.Graph.EvalFirstFrameByStream(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		var last []dataflow.Tensor
		for _, s := range m.Graph.Out {
			last = append(last, streams[s])
		}
		got, err := m.Suffix.ToReal(x, last)
		if err != nil {
			t.Fatal(err)
		}
		for o := range want {
			if !slices.Equal(got[o].Data, want[o].Data) {
				t.Fatalf("output %d: the layers give %v, the model %v", o, got[o].Data, want[o].Data)
			}
		}
		seen[fmt.Sprint(got)] = true
	}
	if len(seen) < 2 {
		t.Logf("all outputs are the same")
	}
}

func newBody(r *rand.Rand, steps int) *body {
	return &body{r: r, b: onnxtest.New(14).Opset("qonnx.custom_op.general", 2), steps: steps, width: 3,
		scale: 1, apart: 1}
}

// seeds returns the seeds to try. From the third on, some weights are zero.
func seeds() []uint64 {
	if tier.Long() {
		return []uint64{0, 1, 2, 3, 4, 5}
	}
	return []uint64{1, 3}
}

// TestCells reads cells of every kind, with random numbers.
func TestCells(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range cells {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, seed := range seeds() {
				r := rand.New(rand.NewPCG(seed, 1))
				b := newBody(r, []int{6, 1, 100}[seed%3])
				b.scale = []float64{0.0078125, float64(float32(0.013)), float64(float32(3.1))}[seed%3]
				b.dead = seed >= 3
				c.write(b)
				m := b.imported(t)
				list := engines(m)
				if len(list) != 1 {
					t.Fatalf("seed %d: %d engines", seed, len(list))
				}
				if seed < 3 && len(list[0].Cells[0].Phases) != c.phases {
					t.Fatalf("seed %d: %d phases", seed, len(list[0].Cells[0].Phases))
				}
				agree(t, m, r, 4)
			}
		})
	}
}

// TestFarApart checks inputs whose scale is up to 2^24 times larger or smaller than that of the state.
func TestFarApart(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	step := 24
	if tier.Long() {
		step = 4
	}
	for exponent := -24; exponent <= 24; exponent += step {
		t.Run(fmt.Sprint(exponent), func(t *testing.T) {
			t.Parallel()
			for seed, name := range []string{"RNN", "LSTM, products not rounded", "GRU, reset after the product",
				"a function that rises and falls", "the sign of a sum"} {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(exponent+100)))
				b := newBody(r, 4)
				b.scale, b.apart, b.dead = float64(float32(0.013)), math.Ldexp(1, exponent), (seed+exponent)%2 != 0
				cells[slices.IndexFunc(cells, func(c cell) bool { return c.name == name })].write(b)
				m := b.imported(t)
				if list := engines(m); len(list) != 1 {
					t.Fatalf("%s: %d engines", name, len(list))
				}
				agree(t, m, r, 10)
			}
		})
	}
}

// TestDeadUnits quantises the outputs of a loop once more. Some of their elements are constants, different ones in
// each case.
func TestDeadUnits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	b := newBody(r, 3)
	h := b.state("h", 5)
	z := b.node("Mul", b.gate("Identity", h, 5, 5), b.number(0, 1, 0, 1, 0))
	next := b.quant(b.node("Tanh", z), 0.015625, 8, true)
	b.next(h, next)
	b.outs = []string{b.quant(b.node("Add", next, b.number(0.5, 0, -0.25, 0, 1)), 0.015625, 8, true)}
	b.behind = func(m *onnxtest.Model) {
		m.Init("half", graph.DTypeFloat32, nil, 0.5).Init("w", graph.DTypeFloat32, []int{5, 2}, 1, -1, 2, 0, 1, 1, 0,
			3, -2, 1)
		for i, o := range []string{"last0", "all0"} {
			q, y := fmt.Sprintf("q%d", i), fmt.Sprintf("y%d", i)
			quant(m, o, q, "half", "zero", "eight", 1)
			m.Node("MatMul", q, "w").Out(y)
			m.Output(y, graph.DTypeFloat32)
		}
	}
	m := b.imported(t)
	for _, e := range engines(m) {
		if units := e.Cells[0].Phases[0].Units; units != 2 {
			t.Errorf("%d units are computed", units)
		}
	}
	agree(t, m, r, 10)
}

// TestRefusals checks the reasons why bodies have no layer.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says string
		write      func(b *body)
	}{
		{"a state that is not quantised", `state "h" is not quantised before the next step`, func(b *body) {
			b.next(b.state("h", 3), b.gate("Tanh", "h", 3, 3))
		}},
		{"gates that are not quantised", "is no function of one sum or product of integers", func(b *body) {
			h := b.state("h", 3)
			b.next(h, b.quant(b.node("Mul", b.gate("Sigmoid", h, 3, 3), b.gate("Tanh", h, 3, 3)), 0.01, 8, true))
		}},
		{"a running maximum", "max(a, b), is b + relu(a - b)", func(b *body) {
			m := b.state("m", 3)
			b.next(m, b.quant(b.node("Max", m, b.quant("x", 0.25, 8, true)), 0.25, 8, true))
		}},
		{"the input in two places", "products of the input meet values of 3 elements in one place, and of 2 in another",
			func(b *body) {
				h1, h2 := b.state("h1", 3), b.state("h2", 2)
				b.next(h1, b.tanh(h1, 3, 3))
				b.next(h2, b.tanh(h2, 2, 2))
			}},
		{"data of another scale to begin with", `begins with integers of scale 0.0013, and later ones are of ` +
			"scale 0.015625: in the unit that both are multiples of, the state needs more than 32 bits", func(b *body) {
			h := b.state("h", 3)
			b.states[0].quant = []float64{0.0013, 8, 1}
			b.next(h, b.quant(b.gate("Tanh", h, 3, 3), 0.015625, 8, true))
		}},
		{"constants between codes", "begins with 0.0001, and later ones are of scale 0.013", func(b *body) {
			h := b.state("h", 3)
			b.states[0].start = []float64{0.0001, 0, 0}
			b.next(h, b.quant(b.gate("Tanh", h, 3, 3), float64(float32(0.013)), 8, true))
		}},
		{"constants far beyond the codes to begin with", "begins with 1e+30", func(b *body) {
			h := b.state("h", 3)
			b.states[0].start = []float64{0, 1e30, 0}
			b.next(h, b.quant(b.gate("Tanh", h, 3, 3), 0.015625, 8, true))
		}},
		{"real numbers to begin with", "arrives as real numbers", func(b *body) {
			h := b.state("h", 3)
			b.states[0].quant = []float64{}
			b.next(h, b.quant(b.gate("Tanh", h, 3, 3), 0.015625, 8, true))
		}},
	} {
		b := newBody(rand.New(rand.NewPCG(1, 1)), 100)
		c.write(b)
		var d diag.List
		if _, err := frontend.Import("model.onnx", b.model(), frontend.Options{}, &d); err != nil || !d.HasErrors() ||
			!strings.Contains(fmt.Sprint(d.Diags), c.says) {
			t.Errorf("%s: %v %v, want %q", c.name, err, d.Diags, c.says)
		}
	}
}
