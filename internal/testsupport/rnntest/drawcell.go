package rnntest

import (
	"fmt"
	"math"

	"hlsgen/frontend/operators"
)

// layer draws a recurrent layer. Its cells are of one kind and differ in numbers.
func (d *drawer) layer(x []vector) *Layer {
	l := &Layer{Form: "Scan"}
	kinds := []string{LSTM}
	if d.axes.GRU {
		kinds = append(kinds, GRU)
	}
	if d.axes.RNN {
		kinds = append(kinds, RNN)
	}
	kind := one(d.Choices, kinds...)
	d.has("%s", kind)
	switch way := d.below(4); {
	case way <= 1 || d.n.Pieces:
		l.Reverse = []bool{false}
	case way == 2:
		l.Reverse = []bool{true}
		d.has("reverse")
	default:
		l.Reverse = []bool{false, true}
		d.has("bidirectional")
	}
	if len(x) == 1 && d.on(d.axes.Nodes, 3, "an operator of ONNX") {
		l.Form = "Node"
		if kind == LSTM && len(l.Reverse) == 1 && d.on(true, 4, "Brevitas' cell") {
			l.Form = "QuantLSTMCell"
		}
	} else if d.n.Steps >= 4 && d.on(d.axes.Unrolled, 4, "unrolled") {
		l.Form = "Unrolled"
	} else if !l.Reverse[0] && d.on(d.axes.Loops, 3, "a Loop") {
		l.Form = "Loop"
	}
	first := d.cell(kind, x, l.Form)
	for k := range l.Reverse {
		c := first
		if k > 0 {
			c = d.again(first, x)
		}
		l.Cells, l.Starts = append(l.Cells, c), append(l.Starts, d.start(c))
	}
	if l.Form == "Node" {
		if d.n.Formats == nil {
			d.n.Formats = map[string]operators.CellFormats{}
		}
		d.n.Formats[fmt.Sprintf("l%d", len(d.n.Layers))] = first.formats()
	}
	l.Spelled = Spelling{Fused: d.rarely(4), Gemm: d.n.Form != "flat" && d.rarely(4), Early: d.rarely(2),
		Left: d.rarely(2)}
	inBody := l.Form == "Scan" || l.Form == "Loop"
	l.Spelled.Joined = inBody && !l.Spelled.Fused && d.on(d.axes.Joined, 6, "joined products")
	if l.Form == "Unrolled" {
		l.Spelled.Unroll = Unrolling{one(d.Choices, "Gather", "Slice", "Split"), d.rarely(2), d.rarely(2)}
	}
	if d.rarely(6) {
		l.Requant = d.quantiser(first.reachH(), true, 5)
		l.Requant.Zero = 0
		d.has("requantised")
	}
	return l
}

// reachH returns roughly the largest magnitude of h.
func (c *Cell) reachH() float64 { return vector{0, c.Hidden()}.reach() }

// cell draws the structure and the numbers of a cell.
func (d *drawer) cell(kind string, x []vector, form string) *Cell {
	c := &Cell{Kind: kind, Units: d.between(1, 5)}
	width := c.Units
	switch kind {
	case LSTM:
		d.lstm(c)
		width = c.Width()
	case GRU:
		d.gru(c)
	case RNN:
		a := d.activation("Tanh", "Relu")
		c.Gates = []Gate{{Activation: a, Code: d.coded(a)}}
	}
	for k := range c.Gates {
		g := &c.Gates[k]
		if d.rarely(2) || kind == LSTM && (form == "Node" || form == "QuantLSTMCell") {
			g.Sum = d.quantiser(one(d.Choices, 4., 8, 2), true, 8)
		}
		if kind == GRU && k == gateN {
			g.Sum = d.gruCandidate(c)
		}
	}
	switch form {
	case "Node":
		c.formatted()
		width = c.Units
		if d.rarely(4) {
			clip := one[float32](d.Choices, 1, 0.5, 0.7)
			d.has("clipped sums")
			for k := range c.Gates {
				c.Gates[k].Clip = clip
			}
		}
	case "QuantLSTMCell":
		c.formatted()
		width = c.Units
		for k, op := range []string{"Sigmoid", "Sigmoid", "Tanh", "Sigmoid"} {
			c.Gates[k].Activation = Activation{Op: op}
		}
		c.Squash = Activation{Op: "Tanh"}
	}
	peepholes := kind == LSTM && form != "QuantLSTMCell" && d.rarely(6)
	if peepholes {
		d.has("peepholes")
	}
	d.numbers(c, x, width, peepholes)
	if form == "QuantLSTMCell" {
		for k := range c.Gates {
			c.Gates[k].HiddenBias = nil
		}
	}
	return c
}

// again draws the numbers of a second cell with the same structure and the same quantisers.
func (d *drawer) again(first *Cell, x []vector) *Cell {
	c := *first
	if d.on(true, 8, "shared weights") {
		return &c
	}
	c.Gates = append([]Gate{}, first.Gates...)
	for k := range c.Gates {
		c.Gates[k].Input = nil
	}
	d.numbers(&c, x, c.Width(), first.Gates[0].Peephole != nil)
	return &c
}

// numbers draws the weights and biases of a cell whose structure is drawn already.
func (d *drawer) numbers(c *Cell, x []vector, width int, peepholes bool) {
	units := c.Units
	for k := range c.Gates {
		g := &c.Gates[k]
		for _, v := range x {
			g.Input = append(g.Input, d.matrix(units, v.width, v.reach()))
		}
		g.Hidden = d.matrix(units, width, c.reachH())
		if d.on(d.axes.Far, 4, "scales far apart") {
			d.far(g)
		}
		g.Bias = d.bias(units, 2)
		if d.rarely(4) {
			g.HiddenBias = d.bias(units, 1)
		}
		if g.Peephole = nil; peepholes && k != gateG {
			g.Peephole = make([]float32, units)
			for u := range g.Peephole {
				g.Peephole[u] = float32(d.between(0, 8)-4) / 4
			}
		}
	}
	if c.Projection != nil {
		m := d.matrix(len(c.Projection.Codes), units, vector{0, c.Output}.reach())
		c.Projection = &m
	}
	d.dead(c)
}

// far makes the scales of a gate's two products differ widely.
func (d *drawer) far(g *Gate) {
	by := float32(math.Exp2(float64(d.between(1, 20))))
	m := &g.Hidden
	switch d.below(4) {
	case 0: // the product with the input is the small one
		m, by = &g.Input[0], 1/by
	case 1:
		by = 1 / by
	case 2:
		m = &g.Input[0]
	}
	for i := range m.Scale {
		m.Scale[i] *= by
	}
}

// dead sets some weights to zero.
func (d *drawer) dead(c *Cell) {
	for range 2 {
		if !d.axes.Dead || !d.rarely(4) {
			continue
		}
		g := &c.Gates[d.below(len(c.Gates))]
		m := &g.Hidden
		if d.rarely(2) {
			m = &g.Input[0]
		}
		u := d.below(c.Units)
		switch d.below(6) {
		case 0:
			d.has("a dead row")
			m.clear(func(row, _ int) bool { return row == u })
		case 1:
			d.has("a dead column")
			k := d.below(len(m.Codes[0]))
			for i := range c.Gates {
				if m == &g.Hidden {
					c.Gates[i].Hidden.clear(func(_, col int) bool { return col == k })
				} else {
					c.Gates[i].Input[0].clear(func(_, col int) bool { return col == k })
				}
			}
		case 2:
			d.has("a dead matrix")
			m.clear(func(int, int) bool { return true })
		case 3:
			d.has("a dead gate")
			g.Hidden.clear(func(int, int) bool { return true })
			for i := range g.Input {
				g.Input[i].clear(func(int, int) bool { return true })
			}
		case 4:
			d.has("a dead unit")
			for i := range c.Gates {
				g := &c.Gates[i]
				g.Hidden.clear(func(row, _ int) bool { return row == u })
				for k := range g.Input {
					g.Input[k].clear(func(row, _ int) bool { return row == u })
				}
				if d.rarely(2) {
					g.Bias, g.HiddenBias = nil, nil
				}
			}
		case 5:
			d.has("no recurrence")
			for i := range c.Gates {
				c.Gates[i].Hidden.clear(func(int, int) bool { return true })
			}
		}
	}
}

// clear sets selected weights to zero. It widens a bipolar matrix to two bits.
func (m *Matrix) clear(which func(row, col int) bool) {
	for u := range m.Codes {
		for k := range m.Codes[u] {
			if which(u, k) {
				m.Codes[u][k] = 0
			}
		}
	}
	m.Bits = max(m.Bits, 2)
}

// activation draws a function: one of the usual functions, or another.
func (d *drawer) activation(usual ...string) Activation {
	op := one(d.Choices, usual...)
	if d.on(d.axes.Functions, 3, "other functions") {
		op = one(d.Choices, "Relu", "LeakyRelu", "HardSigmoid", "Clip", "Softsign", "Elu", "Affine", "ScaledTanh",
			"Identity", "Sigmoid", "Tanh")
	}
	a := Activation{Op: op}
	switch op {
	case "LeakyRelu", "Elu", "ScaledTanh":
		a.Alpha, a.Beta = one[float32](d.Choices, 0.25, 0.1, 1.5), one[float32](d.Choices, 0.5, 0.7)
	case "HardSigmoid", "Affine":
		a.Alpha, a.Beta = one[float32](d.Choices, 0.25, 0.2), one[float32](d.Choices, 0.5, 0.4)
	}
	return a
}

// coded draws the quantiser behind an activation function.
func (d *drawer) coded(a Activation) *Quantiser {
	signed := a.Op != "Sigmoid" && a.Op != "HardSigmoid" && a.Op != "Relu" || d.rarely(5)
	return d.quantiser(1, signed, 6)
}

// lstm draws the structure of an LSTM cell.
func (d *drawer) lstm(c *Cell) {
	for _, usual := range []string{"Sigmoid", "Sigmoid", "Tanh", "Sigmoid"} {
		a := d.activation(usual)
		c.Gates = append(c.Gates, Gate{Activation: a, Code: d.coded(a)})
	}
	c.State = d.quantiser(one(d.Choices, 2., 4, 1), true, 8)
	if !d.on(d.axes.Sums, 2, "c = Q(f*c + i*g)") {
		// No requantiser rounds away from zero. Also, 2^16 codes of a sum of any two scales may need more than 61
		// bits.
		if !c.State.Linear && c.State.Mode != "UP" && d.on(true, 6, "a wide state") {
			c.State.Scale /= float32(int64(1) << (16 - c.State.Bits))
			c.State.Bits, c.State.Zero = 16, 0
		}
		c.Keep, c.Add = c.State, c.State
		if d.rarely(4) {
			c.Keep, c.Add = d.quantiser(2, true, 8), d.quantiser(1, true, 8)
		}
	}
	c.Squash = d.activation("Tanh")
	c.Squashed = d.coded(c.Squash)
	c.Output = d.quantiser(1, true, 8)
	if d.rarely(6) {
		c.Coupled = one(d.Choices, "forget", "input")
		d.has("coupled: %s", c.Coupled)
		if d.rarely(2) {
			c.One = c.Gates[gateI].Code
		}
	}
	if d.on(d.axes.Projections, 6, "a projection") {
		c.Projection = &Matrix{Codes: make([][]int64, d.between(1, 4))}
		c.Projected = d.quantiser(1, true, 8)
	}
}

// gru draws the structure of a GRU cell.
func (d *drawer) gru(c *Cell) {
	for _, usual := range []string{"Sigmoid", "Sigmoid", "Tanh"} {
		a := d.activation(usual)
		c.Gates = append(c.Gates, Gate{Activation: a, Code: d.coded(a)})
	}
	c.Output = d.quantiser(1, true, 8)
	if c.ResetAfter = d.rarely(2); c.ResetAfter {
		d.has("reset after")
	}
	c.Difference = d.rarely(4)
	if !d.on(d.axes.Sums, 2, "h = Q((1-z)*n + z*h)") {
		c.Keep, c.Add = c.Output, c.Output
		if d.rarely(4) {
			c.Keep, c.Add = d.quantiser(1, true, 8), d.quantiser(1, true, 8)
		}
	}
	if d.rarely(3) {
		c.One = c.Gates[gateZ].Code
	}
}

// gruCandidate draws the quantisers of the products around the reset gate, and returns that of the candidate's sum.
func (d *drawer) gruCandidate(c *Cell) *Quantiser {
	if d.rarely(3) && d.axes.Sums {
		d.has("reset without quantisers")
	} else if c.ResetAfter {
		c.ResetSum, c.Reset = d.quantiser(2, true, 8), d.quantiser(2, true, 8)
	} else {
		c.Reset = d.quantiser(1, true, 8)
	}
	if d.rarely(2) {
		return d.quantiser(4, true, 8)
	}
	return nil
}

// start draws the initial states of a cell.
func (d *drawer) start(c *Cell) (s Start) {
	if d.on(d.axes.Data && !d.n.Pieces, 4, "states as data") {
		s.Data = true
		return s
	}
	codes := func(q *Quantiser, size int) []int64 {
		lo, hi := q.Limits()
		if q.Zero == 0 && d.below(3) < 2 { // zeros, which have a code
			return nil
		}
		out := make([]int64, size)
		for u := range out {
			out[u] = lo + int64(d.below(int(hi-lo+1)))
		}
		d.has("constant states")
		return out
	}
	s.H = codes(c.Hidden(), c.Width())
	if c.Kind == LSTM {
		s.C = codes(c.State, c.Units)
	}
	return s
}
