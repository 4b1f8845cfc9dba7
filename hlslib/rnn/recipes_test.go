package rnn_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// program collects the values of a phase.
type program struct{ values []rnn.CellOperation }

func (p *program) add(v rnn.CellOperation) int {
	p.values = append(p.values, v)
	return len(p.values) - 1
}

func (p *program) input(lane int) int { return p.add(rnn.CellOperation{Op: rnn.OpInput, At: lane}) }
func (p *program) sum(dot int) int    { return p.add(rnn.CellOperation{Op: rnn.OpDot, At: dot}) }
func (p *program) state(s int) int    { return p.add(rnn.CellOperation{Op: rnn.OpState, At: s}) }

func (p *program) earlier(phase, value int) int {
	return p.add(rnn.CellOperation{Op: rnn.OpEarlierPhaseValue, Phase: phase, At: value})
}

func (p *program) linear(bias []int64, of []int, factors ...[]int64) int {
	return p.add(rnn.CellOperation{Op: rnn.OpLinear, Of: of, Factors: factors, Bias: bias})
}

func (p *program) requant(q num.Requant, of int) int {
	return p.add(rnn.CellOperation{Op: rnn.OpRequant, Of: []int{of}, Requant: &q})
}

func (p *program) steps(s []num.StepFunction, of int) int {
	return p.add(rnn.CellOperation{Op: rnn.OpStepFunction, Of: []int{of}, Steps: s})
}

func (p *program) product(a, b int) int {
	return p.add(rnn.CellOperation{Op: rnn.OpProduct, Of: []int{a, b}})
}

// one is the factor of a sum of values as they are.
var one = []int64{1}

// smooth is a step function of values that f reaches around the scale.
func smooth(f func(float64) float64, scale, lo, hi int64) num.StepFunction {
	var s num.StepFunction
	for x := -8 * scale; x <= 8*scale; x++ {
		y := max(lo, min(hi, int64(math.Round(f(float64(x)/float64(scale))*float64(hi)))))
		if n := len(s.Value); n == 0 {
			s.Value = []int64{y}
		} else if y != s.Value[n-1] {
			s.At, s.Value = append(s.At, x), append(s.Value, y)
		}
	}
	return s
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// hump rises and falls.
func hump(x float64) float64 { return math.Exp(-x * x) }

// A recipe says which of the options a random layer has.
type recipe struct {
	kind                                      string // of cell
	cells, units, sequences                   int
	cifg, peepholes, product, perUnit, differ bool // differ: cells have constants of their own
	sequence, states, started, scaled         bool
	plain                                     bool // single products are not requantised
	falling                                   bool // step functions fall, too
	dead                                      bool // a dot, and units of others, have no weights
	arrive                                    bool // states start with inputs
	keeps                                     bool
	apart                                     bool // inputs have an axis of sequences
}

// An lstmGate has the parts of a gate's code.
type lstmGate struct {
	factors        [2]int64
	bias, peephole []int64
	steps          []num.StepFunction
}

// A lstmCell has its gates in the order of the lanes: i, f, the candidate and o.
type lstmCell struct {
	recurrent     [4][][]int64
	product       *num.Requant
	gates         [4]lstmGate
	cifg          *int64
	forget, input num.Requant
	factors       [2]int64
	cell          num.Requant
	tanh          []num.StepFunction
	hidden        num.Requant
	h0, c0        []int64
	plain         bool
	project       [][]int64 // of LSTMP
	projected     num.Requant
}

// program is the cell as a program.
func (c lstmCell) program() rnn.Cell {
	phase := rnn.CellPhase{Units: len(c.recurrent[1]), State: new(int)}
	var b program
	old := b.state(1)
	gate := func(g, seen int) int {
		q := c.gates[g]
		of := []int{b.input(g), b.sum(len(phase.Dots))}
		factors := [][]int64{q.factors[:1], q.factors[1:]}
		phase.Dots = append(phase.Dots, rnn.CellMatrixProduct{Weights: c.recurrent[g], Product: c.product})
		if len(q.peephole) > 0 {
			of, factors = append(of, seen), append(factors, q.peephole)
		}
		return b.steps(q.steps, b.linear(q.bias, of, factors...))
	}
	f, g := gate(1, old), gate(2, old)
	var i int
	if c.cifg != nil {
		i = b.linear([]int64{*c.cifg}, []int{f}, []int64{-1})
	} else {
		i = gate(0, old)
	}
	kept, taken := b.product(f, old), b.product(i, g)
	if !c.plain {
		kept, taken = b.requant(c.forget, kept), b.requant(c.input, taken)
	}
	now := b.requant(c.cell, b.linear(nil, []int{kept, taken}, c.factors[:1], c.factors[1:]))
	h := b.requant(c.hidden, b.product(gate(3, now), b.steps(c.tanh, now)))
	phase.Values = b.values
	cell := rnn.Cell{Phases: []rnn.CellPhase{phase}, States: []rnn.StateDefinition{{Next: rnn.ValueRef{Value: h},
		Start: c.h0},
		{Next: rnn.ValueRef{Value: now}, Start: c.c0}}}
	if c.project != nil {
		var b program
		out := b.requant(c.projected, b.sum(0))
		cell.Phases = append(cell.Phases, rnn.CellPhase{Units: len(c.project), Of: &rnn.ValueRef{Value: h},
			Dots: []rnn.CellMatrixProduct{{Weights: c.project, Product: c.product}}, Values: b.values})
		cell.States[0].Next = rnn.ValueRef{Phase: 1, Value: out}
	}
	return cell
}

// A gruCell has its gates in the order of the lanes: z, r, and the candidate.
type gruCell struct {
	recurrent [3][][]int64
	product   *num.Requant
	gates     [3]lstmGate
	whole     int64 // what stands for 1
	reset     num.Requant
	hidden    num.Requant
	h0        []int64
}

// after is the form in which the reset gate multiplies the sum: linear_before_reset = 1.
func (c gruCell) after() rnn.Cell {
	phase := rnn.CellPhase{Units: len(c.recurrent[0]), State: new(int)}
	for _, w := range c.recurrent {
		phase.Dots = append(phase.Dots, rnn.CellMatrixProduct{Weights: w, Product: c.product})
	}
	var b program
	gate := func(g, sum int, factor []int64) int {
		q := c.gates[g]
		return b.steps(q.steps, b.linear(q.bias, []int{b.input(g), sum}, q.factors[:1], factor))
	}
	z, r := gate(0, b.sum(0), c.gates[0].factors[1:]), gate(1, b.sum(1), c.gates[1].factors[1:])
	n := gate(2, b.product(r, b.sum(2)), one)
	c.mix(&b, z, n, b.state(0))
	phase.Values = b.values
	return rnn.Cell{Phases: []rnn.CellPhase{phase},
		States: []rnn.StateDefinition{{Next: rnn.ValueRef{Value: len(b.values) - 1}, Start: c.h0}}}
}

// mix is h' = (1-z)*n + z*h.
func (c gruCell) mix(b *program, z, n, h int) {
	rest := b.linear([]int64{c.whole}, []int{z}, []int64{-1})
	b.requant(c.hidden, b.linear(nil, []int{b.product(rest, n), b.product(z, h)}, one, one))
}

// before is the form in which the reset gate multiplies the state: linear_before_reset = 0.
func (c gruCell) before() rnn.Cell {
	units := len(c.recurrent[0])
	first := rnn.CellPhase{Units: units, State: new(int), Dots: []rnn.CellMatrixProduct{{Weights: c.recurrent[0],
		Product: c.product},
		{Weights: c.recurrent[1], Product: c.product}}}
	var b program
	gate := func(g int) int {
		q := c.gates[g]
		return b.steps(q.steps, b.linear(q.bias, []int{b.input(g), b.sum(g)}, q.factors[:1], q.factors[1:]))
	}
	z, r := gate(0), gate(1)
	rh, x := b.requant(c.reset, b.product(r, b.state(0))), b.input(2)
	first.Values = b.values
	second := rnn.CellPhase{Units: units, Of: &rnn.ValueRef{Value: rh},
		Dots: []rnn.CellMatrixProduct{{Weights: c.recurrent[2], Product: c.product}}}
	var s program
	q := c.gates[2]
	n := s.steps(q.steps, s.linear(q.bias, []int{s.earlier(0, x), s.sum(0)}, q.factors[:1], q.factors[1:]))
	c.mix(&s, s.earlier(0, z), n, s.state(0))
	second.Values = s.values
	return rnn.Cell{Phases: []rnn.CellPhase{first, second},
		States: []rnn.StateDefinition{{Next: rnn.ValueRef{Phase: 1, Value: len(s.values) - 1}, Start: c.h0}}}
}

// layer makes a random layer, whose states saturate.
func (o recipe) layer(r *rand.Rand) rnn.Params {
	p := rnn.Params{Sequence: o.sequence, Sequences: o.sequences, Keeps: o.keeps}
	common := o.common(r)
	for range o.cells {
		c := common
		if o.differ {
			c = o.common(r)
		}
		p.Cells = append(p.Cells, o.cell(r, o.weights(r, c)))
	}
	first := p.Cells[0]
	p.Outputs = []rnn.ValueRef{first.States[0].Next}
	if o.states {
		for s := range first.States[1:] {
			p.Outputs = append(p.Outputs, first.States[1+s].Next)
		}
		p.Outputs = append(p.Outputs, rnn.ValueRef{Value: 0})
	}
	if o.arrive {
		for s := range first.States {
			p.Starts = append(p.Starts, s)
		}
	}
	return p
}

// cell is the program of a cell with the numbers of an LSTM's.
func (o recipe) cell(r *rand.Rand, c lstmCell) rnn.Cell {
	gru := gruCell{recurrent: [3][][]int64(c.recurrent[1:]), gates: [3]lstmGate(c.gates[1:]), whole: 16,
		product: c.product, reset: c.forget, hidden: c.hidden, h0: c.h0}
	gru.gates[1].steps, gru.gates[2].steps = gru.gates[2].steps, gru.gates[1].steps
	switch o.kind {
	case "gru":
		return gru.after()
	case "gru, reset first":
		return gru.before()
	case "rnn":
		g := c.gates[2]
		var b program
		of := []int{b.input(0), b.sum(0)}
		b.steps(g.steps, b.linear(g.bias, of, g.factors[:1], g.factors[1:]))
		return rnn.Cell{States: []rnn.StateDefinition{{Next: rnn.ValueRef{Value: 3}, Start: c.h0}},
			Phases: []rnn.CellPhase{{
				Units: o.units, State: new(int), Dots: []rnn.CellMatrixProduct{{Weights: c.recurrent[2],
					Product: c.product}},
				Values: b.values}}}
	case "lstmp":
		n := o.units / 2
		for g := range c.recurrent {
			for u, row := range c.recurrent[g] {
				c.recurrent[g][u] = row[:n]
			}
		}
		c.project = layertest.Weights(r, n, o.units, num.Range{Lo: -2, Hi: 3}, true)
		c.projected = num.Requant{Multiplier: 3, Shift: 3, Mode: num.RoundingHalfEven, Lo: -8, Hi: 7}
		c.h0 = c.h0[:min(n, len(c.h0))]
	}
	return c.program()
}

// common returns the number formats and functions that all cells of the recipe share.
func (o recipe) common(r *rand.Rand) lstmCell {
	mode := num.Roundings[r.IntN(len(num.Roundings))]
	c := lstmCell{
		forget:  num.Requant{Multiplier: 1, Shift: 4, Mode: mode, Lo: -64, Hi: 63},
		input:   num.Requant{Multiplier: 1 + r.Int64N(3), Shift: 3, Mode: num.RoundingHalfEven, Lo: -64, Hi: 63},
		factors: [2]int64{1, 1},
		cell:    num.Requant{Multiplier: 1, Mode: num.RoundingFloor, Lo: -48, Hi: 47},
		tanh:    []num.StepFunction{smooth(math.Tanh, 12, -7, 7)},
		hidden:  num.Requant{Multiplier: 1 + r.Int64N(40), Shift: 8, Mode: num.RoundingHalfAwayFromZero, Lo: -8, Hi: 7},
		plain:   o.plain,
	}
	if o.plain {
		c.cell.Shift = 3
	}
	for g := range c.gates {
		c.gates[g] = lstmGate{factors: [2]int64{1, 1}, steps: []num.StepFunction{smooth(sigmoid, 4, 0, 16)}}
	}
	c.gates[2].steps[0] = smooth(math.Tanh, 5, -16, 16)
	if o.falling {
		c.gates[2].steps[0], c.tanh[0] = smooth(hump, 5, -16, 16), smooth(hump, 12, -7, 7)
	}
	if o.scaled {
		c.factors = [2]int64{1 + r.Int64N(3), -2}
		c.cell.Multiplier, c.cell.Shift = 5, 3
		for g := range c.gates {
			c.gates[g].factors = [2]int64{r.Int64N(7) - 3, 1 + r.Int64N(3)}
		}
	}
	if o.product {
		c.product = &num.Requant{Multiplier: 1, Shift: 2, Mode: num.RoundingHalfTowardZero, Lo: math.MinInt64,
			Hi: math.MaxInt64}
	}
	return c
}

// weights makes a cell of its own: weights, biases, peepholes, functions per unit, a start.
func (o recipe) weights(r *rand.Rand, c lstmCell) lstmCell {
	perUnit := func(most int64) (list []int64) {
		for range o.units {
			list = append(list, r.Int64N(2*most+1)-most)
		}
		return list
	}
	shifted := func(s num.StepFunction) (steps []num.StepFunction) {
		for range o.units {
			by := num.StepFunction{At: slices.Clone(s.At), Value: s.Value}
			for i := range by.At {
				by.At[i] += int64(len(steps)) - 2
			}
			steps = append(steps, by)
		}
		return steps
	}
	for g := range c.gates {
		c.recurrent[g] = layertest.Weights(r, o.units, o.units, num.Range{Lo: -3, Hi: 3}, true)
		if o.dead {
			clear(c.recurrent[g][r.IntN(o.units)])
		}
		c.gates[g].bias = perUnit(6)
		if o.peepholes && g != 2 {
			c.gates[g].peephole = perUnit(2)
		}
		if o.perUnit {
			c.gates[g].steps = shifted(c.gates[g].steps[0])
		}
	}
	if o.dead {
		for _, row := range c.recurrent[1] {
			clear(row)
		}
	}
	if o.perUnit {
		c.tanh = shifted(c.tanh[0])
	}
	if o.cifg {
		k := int64(16)
		c.cifg, c.recurrent[0], c.gates[0] = &k, nil, lstmGate{}
	}
	if o.started {
		c.h0, c.c0 = perUnit(9), perUnit(60)
	}
	return c
}

// inputs returns types for the given number of steps, with which gates and c saturate, and the initial states.
func (o recipe) inputs(r *rand.Rand, p rnn.Params, steps int) []dataflow.StreamType {
	first := p.Cells[0]
	sequences := max(1, o.sequences)
	shape := func(n int, steps ...int) dataflow.Shape {
		if o.apart {
			return append(steps, sequences, o.cells*n)
		}
		return append(steps, sequences*o.cells*n)
	}
	in := []dataflow.StreamType{layertest.RandomType(r, shape(o.units*first.InputLanesPerUnit(), steps), 7)}
	for _, s := range p.Starts {
		in = append(in, layertest.RandomType(r, shape(first.Phases[first.States[s].Next.Phase].Units), 5))
	}
	return in
}
