package recur_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/onnxtest"
)

// A body is a model with one loop under construction. Its methods add nodes to the loop's body and return the names
// of their outputs.
type body struct {
	r      *rand.Rand
	b      *onnxtest.Model
	n      int
	steps  int
	width  int // of the input
	states []stateOf
	outs   []string
	scale  float64 // of the input
	apart  float64 // weight of the input relative to the state
	second bool    // there is another scanned input, "v"
	dead   bool    // some rows and columns are zeros

	behind func(outer *onnxtest.Model) // adds the readers of the loop, and the outputs instead of the loop's
}

type stateOf struct {
	name, next string
	units      int
	start      []float64
	quant      []float64 // scale, bits and sign of the quantiser of an initial value that is an input; empty for none
}

func (b *body) node(op string, in ...string) string {
	b.n++
	out := fmt.Sprintf("t%d", b.n)
	b.b.Node(op, in...).Out(out)
	return out
}

func (b *body) number(v ...float64) string {
	b.n++
	name := fmt.Sprintf("c%d", b.n)
	shape := []int{len(v)}
	if len(v) == 1 {
		shape = nil
	}
	b.b.Init(name, graph.DTypeFloat32, shape, v...)
	return name
}

// about returns a random float32 of about the given size, or a power of two.
func (b *body) about(size float64) float64 {
	if b.r.IntN(3) == 0 {
		return math.Exp2(math.Round(math.Log2(size)))
	}
	return float64(float32(size * (0.7 + 0.6*b.r.Float64())))
}

func quant(m *onnxtest.Model, in, out, scale, zero, bits string, signed int64) {
	m.Node("Quant", in, scale, zero, bits).Domain("qonnx.custom_op.general").Int("signed", signed).Int("narrow", 0).
		Str("rounding_mode", "ROUND").Out(out)
}

// quant adds a quantiser with the given number of bits.
func (b *body) quant(x string, scale float64, bits int, signed bool) string {
	sign := int64(0)
	if signed {
		sign = 1
	}
	return b.quantised(x, scale, 0, bits, sign, "ROUND")
}

// quantised adds a quantiser with a zero point and a mode of rounding.
func (b *body) quantised(x string, scale, zero float64, bits int, signed int64, mode string) string {
	s, z, w := b.number(scale), b.number(zero), b.number(float64(bits))
	b.n++
	out := fmt.Sprintf("q%d", b.n)
	b.b.Node("Quant", x, s, z, w).Domain("qonnx.custom_op.general").Int("signed", signed).Int("narrow", 0).
		Str("rounding_mode", mode).Out(out)
	return out
}

// product adds the product of x, which has n elements, and a random matrix with m columns and the given scale.
func (b *body) product(x string, n, m int, scale float64) string {
	f, e := math.Frexp(scale) // short enough for its multiples to be float32 numbers
	scale = math.Ldexp(math.Round(f*(1<<18)), e-18)
	w := make([]float64, n*m)
	zero := make([]bool, n+m)
	for i := range zero {
		zero[i] = b.dead && b.r.IntN(4) == 0
	}
	for i := range w {
		if !zero[i/m] && !zero[n+i%m] {
			w[i] = float64(b.r.IntN(15)-7) * scale
		}
	}
	b.n++
	name := fmt.Sprintf("w%d", b.n)
	b.b.Init(name, graph.DTypeFloat32, []int{n, m}, w...)
	return b.node("MatMul", x, name)
}

// bias adds a random number per unit.
func (b *body) bias(x string, n int) string {
	v := make([]float64, n)
	for i := range v {
		if v[i] = float64(float32(b.r.NormFloat64() / 2)); b.dead && b.r.IntN(3) == 0 {
			v[i] = 0
		}
	}
	return b.node("Add", x, b.number(v...))
}

// gate adds a function of the input, a state of n units, and a bias.
func (b *body) gate(f, h string, n, units int) string {
	return b.node(f, b.bias(b.node("Add", b.product("x", b.width, units, b.about(0.05)/b.scale*b.apart),
		b.product(h, n, units, b.about(0.05))), units))
}

func (b *body) sigmoid(h string, n, units int) string {
	return b.quant(b.gate("Sigmoid", h, n, units), b.about(0.0078), 7, false)
}

func (b *body) tanh(h string, n, units int) string {
	return b.quant(b.gate("Tanh", h, n, units), b.about(0.016), 7, true)
}

// state adds a state. Its next value is set later.
func (b *body) state(name string, units int) string {
	b.states = append(b.states, stateOf{name: name, units: units, start: make([]float64, units)})
	return name
}

func (b *body) next(name, x string) {
	for i := range b.states {
		if b.states[i].name == name {
			b.states[i].next = x
		}
	}
}

// model returns the model's bytes: the loop over the quantised input, forwards or in both directions.
func (b *body) model() []byte {
	outer := onnxtest.New(14).Opset("qonnx.custom_op.general", 2)
	outer.Input("input", graph.DTypeFloat32, b.steps, b.width).Init("zero", graph.DTypeFloat32, nil, 0).
		Init("eight", graph.DTypeFloat32, nil, 8).Init("scale", graph.DTypeFloat32, nil, b.scale)
	quant(outer, "input", "sequence", "scale", "zero", "eight", 1)
	var in, out []string
	for i, s := range b.states {
		b.b.Input(s.name, graph.DTypeFloat32, s.units)
		b.b.Output(s.next, graph.DTypeFloat32, s.units)
		name := "start_" + s.name
		if s.quant != nil && len(s.quant) == 0 {
			outer.Input(name, graph.DTypeFloat32, s.units)
		} else if s.quant != nil {
			outer.Input(name, graph.DTypeFloat32, s.units).Init(name+"_s", graph.DTypeFloat32, nil, s.quant[0]).
				Init(name+"_b", graph.DTypeFloat32, nil, s.quant[1])
			quant(outer, name, name+"_q", name+"_s", "zero", name+"_b", int64(s.quant[2]))
			name += "_q"
		} else {
			outer.Init(name, graph.DTypeFloat32, []int{s.units}, s.start...)
		}
		in, out = append(in, name), append(out, fmt.Sprintf("last%d", i))
	}
	b.b.Input("x", graph.DTypeFloat32, b.width)
	in = append(in, "sequence")
	scanned := int64(1)
	if b.second {
		b.b.Input("v", graph.DTypeFloat32, b.width)
		in = append(in, "other")
		quant(outer.Input("input2", graph.DTypeFloat32, b.steps, b.width), "input2", "other", "scale", "zero", "eight",
			1)
		scanned = 2
	}
	for i, o := range b.outs {
		same := fmt.Sprintf("out%d", i)
		b.b.Node("Identity", o).Out(same)
		b.b.Output(same, graph.DTypeFloat32, "n")
		out = append(out, fmt.Sprintf("all%d", i))
	}
	outer.Node("Scan", in...).Name("loop").Int("num_scan_inputs", scanned).Graph("body", b.b).Out(out...)
	if b.behind != nil {
		b.behind(outer)
		return outer.Bytes()
	}
	for _, o := range out {
		outer.Output(o, graph.DTypeFloat32)
	}
	return outer.Bytes()
}
