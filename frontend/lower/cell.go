package lower

import (
	"math/big"
	"slices"

	"hlsgen/frontend/real"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/num"
)

// The gates in the order of the layer.
const (
	gateI = iota
	gateF
	gateC
	gateO
)

// assemble finds the parts of a cell: the hidden state is the product of the output gate and a table of the cell's state; that
// is the sum of the products of the forget gate and the state before, and of the input gate and the candidate.
func (b *reader) assemble() (*cell, *Reject) {
	if len(b.states) != 2 {
		return nil, notLSTM("it has %d states, not a hidden one and a cell's", len(b.states))
	}
	for h := range 2 {
		hidden, state := b.cells[b.states[h].tensor], b.cells[b.states[1-h].tensor]
		if hidden != nil && !hidden.sum && state != nil && state.sum {
			return b.cell(h, hidden, state)
		}
	}
	return nil, notLSTM("no state is a product of a gate and a table of the other, which is a sum of two products")
}

func (b *reader) cell(h int, hidden, state *joint) (*cell, *Reject) {
	c := &cell{body: b.body, codes: b.codes, h: b.states[h], c: b.states[1-h], states: [2]int{h, 1 - h}}
	p := &c.params
	p.Hidden, p.Cell = hidden.requant, state.requant
	cName := b.body.Graph.Inputs[1-h].Name
	// h' = o * tanh(c')
	o, th := hidden.of[0], hidden.of[1]
	atO, atTh := 0, 1
	if b.gates[o] == nil {
		o, th, atO, atTh = th, o, 1, 0
	}
	t := b.tables[th]
	if b.gates[o] == nil || t == nil || t.of != c.c.tensor {
		return nil, notLSTM("the hidden state is not made of a gate and of the new state")
	}
	p.Tanh = hidden.factor(atTh, t.steps)
	// c' = f*c + i*g
	fc, ig := b.cells[state.of[0]], b.cells[state.of[1]]
	p.CellFactors = state.factors
	if fc == nil || ig == nil || fc.sum || ig.sum {
		return nil, notLSTM("the cell's state is no sum of two quantised products")
	}
	if fc.of[0] != cName && fc.of[1] != cName {
		fc, ig = ig, fc
		p.CellFactors[0], p.CellFactors[1] = p.CellFactors[1], p.CellFactors[0]
	}
	atC := slices.Index(fc.of[:], cName)
	if atC < 0 || !fc.plain(atC) || b.gates[fc.of[1-atC]] == nil {
		return nil, notLSTM("no product of a gate and the state before")
	}
	f := fc.of[1-atC]
	p.Forget, p.Input = fc.requant, ig.requant
	atI := slices.Index(ig.of[:], f)
	gates := [4]*gate{gateF: b.gates[f], gateO: b.gates[o]}
	factors := [4]func([]num.Step) []num.Step{
		gateF: func(s []num.Step) []num.Step { return fc.factor(1-atC, s) },
		gateO: func(s []num.Step) []num.Step { return hidden.factor(atO, s) },
	}
	switch {
	case atI >= 0: // what the forget gate leaves
		if !ig.falls[atI] || fc.falls[1-atC] {
			return nil, notLSTM("the input gate is the forget gate")
		}
		k := fc.offsets[1-atC] - ig.offsets[atI]
		p.CIFG = &k
	default:
		if atI = 0; b.isCandidate(ig.of[0], ig.of[1]) {
			atI = 1
		}
		gates[gateI] = b.gates[ig.of[atI]]
		factors[gateI] = func(s []num.Step) []num.Step { return ig.factor(atI, s) }
	}
	gates[gateC] = b.gates[ig.of[1-atI]]
	factors[gateC] = func(s []num.Step) []num.Step { return ig.factor(1-atI, s) }
	if gates[gateC] == nil || p.CIFG == nil && gates[gateI] == nil {
		return nil, notLSTM("no product of an input gate and a candidate")
	}
	c.units = len(gates[gateF].inner)
	for k, gate := range gates {
		if gate == nil {
			continue
		}
		peephole := cName
		if k == gateO {
			peephole = c.c.tensor
		}
		if reject := b.gateOf(c, k, gate, peephole); reject != nil {
			return nil, reject
		}
		p.Gates[k].Steps = factors[k](p.Gates[k].Steps)
	}
	return c, nil
}

// isCandidate reports whether of the two factors of a product, which both are gates, the first is the candidate: it is the one
// that can be negative. Which is which matters to names only.
func (b *reader) isCandidate(x, y string) bool {
	return b.codeOf(x).span.Lo < 0 && b.codeOf(y).span.Lo >= 0
}

// gateOf puts gate k of a cell together: z = Factors[0]*x + Factors[1]*h + Bias + Peephole*c, and its code's steps over z.
func (b *reader) gateOf(c *cell, k int, g *gate, peephole string) *Reject {
	if g.state != "" && g.state != peephole {
		return notLSTM("a gate looks at %q", g.state)
	}
	hName := b.body.Graph.Inputs[c.states[0]].Name
	var x, h *dot
	var xAt, hAt int
	for i, name := range g.dots {
		switch d := b.dots[name]; {
		case d.of == b.input.tensor && x == nil:
			x, xAt = d, i
		case d.of == hName && h == nil:
			h, hAt = d, i
		default:
			return notLSTM("a gate adds up several products of the same vector, or of another one than the input and the hidden state")
		}
	}
	if x == nil || h == nil || len(x.rows) != c.units || len(h.rows) != c.units || len(g.inner) != c.units {
		return notLSTM("a gate is not made of the input and the hidden state")
	}
	if c.input[gateO] == nil && c.input[gateC] == nil && c.input[gateF] == nil && c.input[gateI] == nil {
		c.product, c.params.Product = x.product, h.product
	}
	if !sameRequant(c.product, x.product) || !sameRequant(c.params.Product, h.product) {
		return notLSTM("the products of the gates are rounded in different ways")
	}
	out := &c.params.Gates[k]
	rowsX, rowsH := make([][]int64, c.units), make([][]int64, c.units)
	units := make([]*big.Rat, c.units) // of z, per unit
	factors := make([][2]int64, c.units)
	for j, l := range g.inner {
		scales := []*big.Rat{l.Scale[xAt], l.Scale[hAt]}
		if g.state != "" {
			scales = append(scales, l.Scale[len(l.Scale)-1])
		}
		u := commonUnit(scales)
		units[j] = u
		var whole3 [3]int64
		for i, v := range scales {
			m, reject := whole(v, u)
			if reject != nil {
				return reject
			}
			whole3[i] = m
		}
		factors[j] = [2]int64{whole3[0], whole3[1]}
		if g.state != "" {
			out.Peephole = append(out.Peephole, whole3[2])
		}
		rowsX[j], rowsH[j] = x.rows[j], h.rows[j]
	}
	out.Factors = [2]int64{1, 1}
	if slices.ContainsFunc(factors, func(f [2]int64) bool { return f != factors[0] }) {
		if x.product != nil || h.product != nil {
			return notLSTM("a gate's units have scales of their own, and products that are rounded")
		}
		for j, f := range factors {
			if rowsX[j] = times(rowsX[j], f[0]); rowsX[j] == nil {
				return tooFar()
			}
			if rowsH[j] = times(rowsH[j], f[1]); rowsH[j] == nil {
				return tooFar()
			}
		}
	} else {
		out.Factors = factors[0]
	}
	c.input[k], c.params.Recurrent[k] = rowsX, rowsH
	if !b.within(g, units) {
		return tooFar()
	}
	return activateGate(out, g, units)
}

func tooFar() *Reject {
	return notLSTM("the scales of a gate's input and hidden state are too far apart")
}

// times multiplies weights; nil where they become too wide.
func times(row []int64, m int64) []int64 {
	out := make([]int64, len(row))
	for i, v := range row {
		if max(m, -m) >= 1<<maxWeightBits || max(v*m, -v*m) >= 1<<maxWeightBits {
			return nil
		}
		out[i] = v * m
	}
	return out
}

// zSpan is the sums over which a gate's steps are looked for: wide enough for all of them to show, so that those of units
// that differ by a bias only are the same, and narrow enough for a float64 to hold each of them.
var zSpan = num.Range{Lo: -1 << 52, Hi: 1 << 52}

// within reports whether the sums of a gate's units lie in zSpan.
func (b *reader) within(g *gate, units []*big.Rat) bool {
	for j, l := range g.inner {
		most := new(big.Rat)
		for i, name := range g.dots {
			d := b.dots[name]
			span := b.codeOf(d.of).span
			sum := new(big.Int)
			for _, w := range d.rows[j] {
				term := new(big.Int).Mul(big.NewInt(w), big.NewInt(max(span.Hi, -span.Lo)))
				sum.Add(sum, term.Abs(term))
			}
			most.Add(most, new(big.Rat).Mul(new(big.Rat).SetInt(sum), new(big.Rat).Abs(l.Scale[i])))
		}
		if g.state != "" {
			span := b.codeOf(g.state).span
			most.Add(most, new(big.Rat).Mul(big.NewRat(max(span.Hi, -span.Lo), 1), new(big.Rat).Abs(l.Scale[len(l.Scale)-1])))
		}
		if most.Quo(most, units[j]); most.Cmp(big.NewRat(zSpan.Hi, 1)) > 0 {
			return false
		}
	}
	return true
}

// maxFiner is the bits by which z may be finer than its sums, for the sake of a bias between two of them.
const maxFiner = 8

// activateGate finds the gate's steps over z, of which each unit's step is units[j]. Steps that are those of the first unit moved by
// a constant are its bias; z becomes as much finer as it takes for all units to be so.
func activateGate(out *lstm.Gate, g *gate, units []*big.Rat) *Reject {
	steps := make([]num.Step, len(units))
	for j := range units {
		if j > 0 && units[j].Cmp(units[j-1]) == 0 && g.outer[j].Equal(g.outer[j-1]) {
			steps[j] = steps[j-1]
			continue
		}
		var err error
		if steps[j], err = g.stepOf(j, units[j]); err != nil {
			return stepsRejected(err, maxSteps)
		}
	}
	if bias := moved(steps); bias != nil {
		out.Steps, out.Bias = steps[:1], bias
	} else {
		out.Steps = steps
		finerGate(out, g, units)
	}
	if !slices.ContainsFunc(out.Bias, func(v int64) bool { return v != 0 }) {
		out.Bias = nil
	}
	return nil
}

// stepOf is unit j's steps over z.
func (g *gate) stepOf(j int, unit *big.Rat) (num.Step, error) {
	e := g.outer[j].Substitute([]*real.Expr{real.Mul(real.Var(0), real.Rat(unit))})
	return real.Compile(e).StepOver(zSpan, maxSteps)
}

// finerGate gives a gate whose units have steps of their own, which would be a table of them, steps for all units and a bias
// over a finer z, if there is one.
func finerGate(out *lstm.Gate, g *gate, units []*big.Rat) {
next:
	for finer := 1; finer <= maxFiner; finer++ {
		var first num.Step
		bias := make([]int64, len(units))
		for j, u := range units {
			f, err := g.stepOf(j, new(big.Rat).Quo(u, big.NewRat(1<<finer, 1)))
			if err != nil {
				return
			}
			if j == 0 {
				first = f
			}
			d := moved([]num.Step{first, f})
			if d == nil {
				continue next
			}
			bias[j] = d[1]
		}
		out.Steps, out.Bias = []num.Step{first}, bias
		for i := range out.Factors {
			out.Factors[i] <<= finer
		}
		for i := range out.Peephole {
			out.Peephole[i] <<= finer
		}
		return
	}
}

// moved is by how much each of several steps is the first one moved; nil where one is another function.
func moved(steps []num.Step) []int64 {
	bias := make([]int64, len(steps))
	for j, f := range steps {
		if len(f.At) != len(steps[0].At) || !slices.Equal(f.Value, steps[0].Value) {
			return nil
		}
		for i, at := range f.At {
			if d := steps[0].At[i] - at; i == 0 {
				bias[j] = d
			} else if d != bias[j] {
				return nil
			}
		}
	}
	return bias
}

func sameRequant(a, b *num.Requant) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
