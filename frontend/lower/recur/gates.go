package recur

import (
	"math/big"
	"slices"

	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/num"
)

// gateOf puts gate k of a cell together: z = Factors[0]*x + Factors[1]*h + Bias + Peephole*c, and its code's steps over
// z.
func (b *reader) gateOf(c *Cell, k int, g *gate, peephole string) error {
	if g.state != "" && g.state != peephole {
		return NotLSTM("a gate looks at %q", g.state)
	}
	hName := b.body.Graph.Inputs[c.States[0]].Name
	var x, h *dot
	var xAt, hAt int
	for i, d := range g.dots {
		switch {
		case d.of == b.input.Tensor && x == nil:
			x, xAt = d, i
		case d.of == hName && h == nil:
			h, hAt = d, i
		default:
			return NotLSTM("a gate adds up several products of the same vector, or of another one than the input " +
				"and the hidden state")
		}
	}
	if x == nil || h == nil || len(x.rows) != c.Units || len(h.rows) != c.Units || len(g.inner) != c.Units {
		return NotLSTM("a gate is not made of the input and the hidden state")
	}
	if c.Input[gateO] == nil && c.Input[gateC] == nil && c.Input[gateF] == nil && c.Input[gateI] == nil {
		c.Product, c.Params.Product = x.product, h.product
	}
	if !sameRequant(c.Product, x.product) || !sameRequant(c.Params.Product, h.product) {
		return NotLSTM("the products of the gates are rounded in different ways")
	}
	out := &c.Params.Gates[k]
	rowsX, rowsH := make([][]int64, c.Units), make([][]int64, c.Units)
	units := make([]*big.Rat, c.Units) // of z, per unit
	factors := make([][2]int64, c.Units)
	for j, l := range g.inner {
		scales := []*big.Rat{l.Scale[xAt], l.Scale[hAt]}
		if g.state != "" {
			scales = append(scales, l.Scale[len(l.Scale)-1])
		}
		u := whole.Unit(scales)
		units[j] = u
		var whole3 [3]int64
		for i, v := range scales {
			m, reject := whole.Times(v, u)
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
			return NotLSTM("a gate's units have scales of their own, and products that are rounded")
		}
		for j, f := range factors {
			rowsX[j], rowsH[j] = times(rowsX[j], f[0]), times(rowsH[j], f[1])
			if rowsX[j] == nil || rowsH[j] == nil {
				return tooFar()
			}
		}
	} else {
		out.Factors = factors[0]
	}
	c.Input[k], c.Params.Recurrent[k] = rowsX, rowsH
	if !b.within(g, units) {
		return tooFar()
	}
	return activateGate(out, g, units)
}

func tooFar() error {
	return NotLSTM("the scales of a gate's input and hidden state are too far apart")
}

// times multiplies weights; nil where they become too wide.
func times(row []int64, m int64) []int64 {
	out := make([]int64, len(row))
	for i, v := range row {
		if max(m, -m) >= 1<<whole.MaxBits || max(v*m, -v*m) >= 1<<whole.MaxBits {
			return nil
		}
		out[i] = v * m
	}
	return out
}

// zSpan is the sums over which a gate's steps are looked for: wide enough for all of them to show, so that those of
// units that differ by a bias only are the same, and narrow enough for a float64 to hold each of them.
var zSpan = num.Range{Lo: -1 << 52, Hi: 1 << 52}

// within reports whether the sums of a gate's units lie in zSpan.
func (b *reader) within(g *gate, units []*big.Rat) bool {
	for j, l := range g.inner {
		most := new(big.Rat)
		for i, d := range g.dots {
			span := b.codeOf(d.of).Span
			sum := new(big.Int)
			for _, w := range d.rows[j] {
				term := new(big.Int).Mul(big.NewInt(w), big.NewInt(max(span.Hi, -span.Lo)))
				sum.Add(sum, term.Abs(term))
			}
			most.Add(most, new(big.Rat).Mul(new(big.Rat).SetInt(sum), new(big.Rat).Abs(l.Scale[i])))
		}
		if g.state != "" {
			span := b.codeOf(g.state).Span
			most.Add(most, new(big.Rat).Mul(big.NewRat(max(span.Hi, -span.Lo), 1),
				new(big.Rat).Abs(l.Scale[len(l.Scale)-1])))
		}
		if most.Quo(most, units[j]); most.Cmp(big.NewRat(zSpan.Hi, 1)) > 0 {
			return false
		}
	}
	return true
}

// maxFiner is the bits by which z may be finer than its sums, for the sake of a bias between two of them.
const maxFiner = 8

// activateGate finds the gate's steps over z, of which each unit's step is units[j]. Steps that are those of the first
// unit moved by a constant are its bias; z becomes as much finer as it takes for all units to be so.
func activateGate(out *lstm.Gate, g *gate, units []*big.Rat) error {
	steps := make([]num.Step, len(units))
	for j := range units {
		if j > 0 && units[j].Cmp(units[j-1]) == 0 && g.outer[j].Equal(g.outer[j-1]) {
			steps[j] = steps[j-1]
			continue
		}
		var err error
		if steps[j], err = g.stepOf(j, units[j]); err != nil {
			return whole.Stepless(err, whole.MaxSteps)
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
	return real.Compile(e).StepOver(zSpan, whole.MaxSteps)
}

// finerGate gives a gate whose units have steps of their own, which would be a table of them, steps for all units and a
// bias over a finer z, if there is one.
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
