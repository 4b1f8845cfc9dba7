package rnntest

import (
	"fmt"
	"math"
	"slices"
)

// Axes select what Draw may draw beyond plain LSTM cells whose products are all quantised.
type Axes struct {
	GRU, RNN    bool
	Sums        bool // cells without quantisers on single products
	Projections bool
	Inputs      bool // several scanned inputs
	Data        bool // initial states that arrive with the data
	Far         bool // sums of terms whose scales differ by up to 2^20
	Dead        bool // rows, columns, units, gates and matrices of zeros
	Functions   bool // activation functions other than sigmoid and tanh
	Zeros       bool // zero points
	Joined      bool // one product with the concatenation of inputs and hidden state
	Nodes       bool // operators of ONNX, with formats
	Pieces      bool // samples that are pieces of one stream
	Turns       bool // samples that take turns in an engine
	Unrolled    bool // recurrences that are written out step by step
	Loops       bool // recurrences as an ONNX Loop
	Shared      bool // equal initializers that are shared, or stand outside of bodies
}

// All selects every axis.
var All = Axes{true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
	true, true}

// A drawer draws a network.
type drawer struct {
	*Choices
	axes Axes
	n    *Network
}

// has adds a note on a special feature of the network.
func (d *drawer) has(format string, args ...any) {
	if what := fmt.Sprintf(format, args...); !slices.Contains(d.n.Has, what) {
		d.n.Has = append(d.n.Has, what)
	}
}

// on chooses true once in the given number of times, if the axis is selected. It then notes the feature what.
func (d *drawer) on(axis bool, times int, what string) bool {
	if !axis || !d.rarely(times) {
		return false
	}
	d.has("%s", what)
	return true
}

// Draw draws a network.
func Draw(c *Choices, axes Axes) *Network {
	d := &drawer{c, axes, &Network{}}
	n := d.n
	n.Steps = d.between(1, 6)
	n.Form = one(c, "time first", "flat", "samples first")
	d.has("%s", n.Form)
	n.Turns = 1
	switch {
	case d.on(axes.Pieces, 8, "pieces of a stream"):
		n.Pieces = true
	case d.on(axes.Turns, 6, "samples take turns"):
		n.Turns = one(c, 2, 4)
	}
	inputs := 1
	if d.on(axes.Inputs, 8, "two inputs") {
		inputs = 2
	}
	var x []vector
	for range inputs {
		q := d.quantiser(one(c, 1, 2, 0.5), d.below(3) < 2, 8)
		s := Sequence{d.between(1, 5), q}
		n.Inputs, x = append(n.Inputs, s), append(x, vector{s.Features, q})
	}
	if inputs == 1 && d.rarely(5) {
		n.Front = d.dense(x[0], true)
		if d.rarely(2) {
			n.Front.Kernel = 3
			n.Front.Weights = d.matrix(len(n.Front.Weights.Codes), x[0].width*3, x[0].reach())
			d.has("convolution in front")
		} else {
			d.has("dense in front")
		}
		x[0] = vector{len(n.Front.Weights.Codes), n.Front.Quantiser}
	}
	layers := 1
	if d.rarely(5) {
		layers = 2
		d.has("two layers")
	}
	for range layers {
		l := d.layer(x)
		n.Layers = append(n.Layers, l)
		q, width := l.Cells[0].Hidden(), 0
		for _, cell := range l.Cells {
			width += cell.Width()
		}
		if l.Requant != nil {
			q = l.Requant
		}
		x = []vector{{width, q}}
	}
	d.outputs(x[0])
	n.Shared = d.on(axes.Shared, 4, "shared initializers")
	n.Captured = d.on(axes.Shared, 4, "captured initializers")
	n.Choices = c.Made
	return n
}

// A vector describes a vector that a layer reads.
type vector struct {
	width     int
	quantiser *Quantiser
}

// reach returns roughly the largest magnitude of an element.
func (v vector) reach() float64 {
	lo, hi := v.quantiser.Limits()
	return float64(max(hi-v.quantiser.Zero, v.quantiser.Zero-lo)) * float64(v.quantiser.Scale)
}

// scale draws a scale near a value: a power of two, or a number with any mantissa.
func (d *drawer) scale(near float64) float32 {
	e := math.Exp2(math.Round(math.Log2(near)))
	if d.below(2) == 0 {
		return float32(e)
	}
	return float32(e * (0.75 + float64(d.below(1<<23))/(1<<24)))
}

// quantiser draws a quantiser with at most the given bits, whose values reach roughly to reach.
func (d *drawer) quantiser(reach float64, signed bool, most int) *Quantiser {
	q := &Quantiser{Bits: d.between(2, most), Signed: signed, Mode: "ROUND"}
	switch {
	case d.rarely(6):
		q.Bits, q.Linear = 8, true
	case d.rarely(4):
		q.Mode = one(d.Choices, "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN", "ROUND_TO_ZERO", "HALF_EVEN")
		d.has("rounding %s", q.Mode)
	}
	q.Narrow = !q.Linear && d.rarely(5)
	lo, hi := q.Limits()
	q.Scale = d.scale(reach / float64(hi+1))
	if d.on(d.axes.Zeros, 12, "zero points") {
		q.Zero = max(lo, min(hi, int64(d.between(-2, 2))))
	}
	return q
}

// matrix draws weights for input elements up to reach, such that the sums stay small.
func (d *drawer) matrix(units, length int, reach float64) Matrix {
	m := Matrix{Bits: d.between(1, 8)}
	if d.rarely(6) {
		m.Bits, m.Linear = 8, true
	}
	lo, hi := -(int64(1) << (m.Bits - 1)), int64(1)<<(m.Bits-1)-1
	near := 4 / (max(reach, 1e-6) * math.Sqrt(float64(length)) * float64(max(1, hi)))
	count := 1
	if d.rarely(3) {
		count = units
	}
	for range count {
		m.Scale = append(m.Scale, d.scale(near))
	}
	for range units {
		row := make([]int64, length)
		for k := range row {
			if m.Bits == 1 {
				row[k] = int64(2*d.below(2) - 1)
				continue
			}
			v := int64(d.below(int(hi - lo + 1))) // 0, -1, 1, -2 ...
			if row[k] = v / 2; v%2 == 1 {
				row[k] = -(v + 1) / 2
			}
		}
		m.Codes = append(m.Codes, row)
	}
	return m
}

// bias draws biases up to roughly reach: none, one for all units, or one per unit. They lie on a grid that causes
// ties, or anywhere.
func (d *drawer) bias(units int, reach float64) []float32 {
	var n int
	switch d.below(4) {
	case 0:
		return nil
	case 1:
		n = 1
	default:
		n = units
	}
	fine := d.below(2) == 1
	out := make([]float32, n)
	for i := range out {
		if out[i] = float32(float64(d.between(0, 64)-32) / 32 * reach); fine {
			out[i] = float32((float64(d.below(1<<20))/(1<<19) - 1) * reach)
		}
	}
	return out
}

// dense draws a product of a matrix with the vectors of a sequence. With quantised, it always has a quantiser behind
// it, otherwise sometimes.
func (d *drawer) dense(x vector, quantised bool) *Dense {
	units := d.between(1, 4)
	out := &Dense{Weights: d.matrix(units, x.width, x.reach()), Bias: d.bias(units, 1)}
	if quantised || d.rarely(2) {
		out.Relu = d.rarely(2)
		out.Quantiser = d.quantiser(2, !out.Relu, 5)
		out.Quantiser.Zero = 0
	}
	return out
}

// outputs draws one to three outputs.
func (d *drawer) outputs(last vector) {
	all := []string{"sequence", "last", "h"}
	l := d.n.Layers[len(d.n.Layers)-1]
	if l.Cells[0].Kind == LSTM {
		all = append(all, "c")
	}
	for range d.between(1, 3) {
		o := Output{Of: one(d.Choices, all...)}
		if slices.ContainsFunc(d.n.Outputs, func(p Output) bool { return p.Of == o.Of }) {
			continue
		}
		v := last
		if o.Of == "h" {
			v.quantiser = l.Cells[0].Hidden()
		}
		if o.Of != "c" && d.rarely(3) {
			o.Dense = d.dense(v, false)
			d.has("dense behind")
		}
		d.has("output %s", o.Of)
		d.n.Outputs = append(d.n.Outputs, o)
	}
}

// First returns the first network, by seed, that has all the given features, and its seed.
func First(axes Axes, has ...string) (n *Network, seed uint64) {
	for ; ; seed++ {
		n = Draw(Seeded(seed), axes)
		if !slices.ContainsFunc(has, func(what string) bool { return !slices.Contains(n.Has, what) }) {
			return n, seed
		}
	}
}
