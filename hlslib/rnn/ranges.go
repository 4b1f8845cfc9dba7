package rnn

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// maxBits is the width in bits of the widest value, one less than that of an int64.
const maxBits = 63

// ranges holds the range of every value that any unit of any cell computes in any step of any sequence.
type ranges struct {
	in    []dataflow.StreamType
	p     Params
	state [][][]num.Range   // by cell, state and unit, at the beginning of a step
	of    [][][][]num.Range // by cell, phase, value and unit
}

// rounds is the number of times that the ranges are narrowed. The ranges are correct after every round; the
// first round narrows most.
const rounds = 3

// bindRanges derives the ranges. In the first round a state has the range that its step function or requantiser
// allows. Values computed from it may be unbounded, but another step function or requantiser bounds them again.
// Each later round takes the states' ranges from the round before, united with the initial states: no step
// finds other states.
func (g *program) bindRanges(in []dataflow.StreamType) (*ranges, error) {
	r := &ranges{in: in, p: g.params}
	for d, c := range g.params.Cells {
		var states [][]num.Range
		for s := range c.States {
			list := make([]num.Range, c.units(s))
			for u := range list {
				list[u] = c.stateRange(s)
			}
			states = append(states, list)
		}
		r.state, r.of = append(r.state, states), append(r.of, nil)
		r.start(d)
	}
	for d := range g.params.Cells {
		if err := r.step(d, true); err != nil {
			return nil, err
		}
	}
	for range rounds {
		for d := range g.params.Cells {
			if err := r.step(d, false); err != nil {
				return nil, fmt.Errorf("cell %d, %w", d, err)
			}
		}
	}
	return r, nil
}

// start unites the ranges of cell d's states with their initial values.
func (r *ranges) start(d int) {
	c := r.p.Cells[d]
	for s, state := range c.States {
		for u := range r.state[d][s] {
			x := &r.state[d][s][u]
			input := -1
			for i, started := range r.p.Starts {
				if started == s {
					input = 1 + i
				}
			}
			switch {
			case input >= 0:
				for n := range r.p.sequences() {
					*x = x.Union(channel(r.in[input], (n*len(r.p.Cells)+d)*c.units(s)+u))
				}
			case len(state.Start) > 0:
				*x = x.Union(num.SingleValueRange(state.Start[u]))
			default:
				*x = x.Union(num.SingleValueRange(0))
			}
		}
	}
}

// channel returns the range of element i of a step, where the elements of all sequences are numbered through.
func channel(t dataflow.StreamType, i int) num.Range {
	return t.ChannelRange(i % t.Shape.ChannelCount())
}

// step sets the ranges of all values of cell d from those of its states, and then those of the states. A range that
// exceeds 63 bits is an error; if first is true, it becomes unknown instead.
func (r *ranges) step(d int, first bool) error {
	c := r.p.Cells[d]
	r.of[d] = nil
	lost := make([][][]bool, len(c.Phases)) // by phase, value and unit
	for i, p := range c.Phases {
		values := make([][]num.Range, len(p.Values))
		lost[i] = make([][]bool, len(p.Values))
		r.of[d] = append(r.of[d], values)
		vector := r.vector(c, d, i)
		blind := p.Of != nil && contains(lost[p.Of.Phase][p.Of.Value])
		for k, v := range p.Values {
			values[k], lost[i][k] = make([]num.Range, p.Units), make([]bool, p.Units)
			for u := range p.Units {
				e := exact{lost: v.Op == OpDot && blind || v.Op == OpEarlierPhaseValue && lost[v.Phase][v.At][u]}
				for _, a := range v.Of {
					e.lost = e.lost || lost[i][a][u]
				}
				x := r.value(&e, c, d, i, v, u, vector)
				if e.lost && !first {
					return fmt.Errorf("phase %d, value %d (%s), unit %d: it leaves %d bits%s", i, k, v.Op, u, maxBits,
						r.found(d, u))
				}
				values[k][u], lost[i][k][u] = x, e.lost && v.Op != OpStepFunction && v.Op != OpRequant
			}
		}
	}
	for s, state := range c.States {
		copy(r.state[d][s], r.of[d][state.Next.Phase][state.Next.Value])
	}
	r.start(d)
	return nil
}

// found returns, as text for an error message, the ranges found for unit u's states in cell d.
func (r *ranges) found(d, u int) (text string) {
	for s, units := range r.state[d] {
		if u < len(units) {
			text += fmt.Sprintf(", state %d in %v", s, units[u])
		}
	}
	return text
}

func contains(list []bool) bool {
	for _, b := range list {
		if b {
			return true
		}
	}
	return false
}

// vector returns the ranges of the vector that phase i of cell d multiplies, or nil if it multiplies none.
func (r *ranges) vector(c Cell, d, i int) []num.Range {
	switch p := c.Phases[i]; {
	case p.State != nil:
		return r.state[d][*p.State]
	case p.Of != nil:
		return r.of[d][p.Of.Phase][p.Of.Value]
	}
	return nil
}

// value returns the range of the value v of unit u in phase i. If the arguments' ranges are unknown, it returns all
// that v's operation can yield.
func (r *ranges) value(e *exact, c Cell, d, i int, v CellOperation, u int, vector []num.Range) (z num.Range) {
	before := r.of[d][i]
	switch v.Op {
	case OpInput:
		lanes, units := c.InputLanesPerUnit(), c.Phases[0].Units
		for n := range r.p.sequences() {
			x := channel(r.in[0], ((n*len(r.p.Cells)+d)*units+u)*lanes+v.At)
			if n == 0 {
				z = x
			}
			z = z.Union(x)
		}
	case OpDot:
		dot := c.Phases[i].Dots[v.At]
		z = e.keep(mac.ChannelSumRange(dot.Weights[u], dot.Product, vector))
	case OpState:
		z = r.state[d][v.At][u]
	case OpEarlierPhaseValue:
		z = r.of[d][v.Phase][v.At][u]
	case OpLinear:
		if len(v.Bias) > 0 {
			z = num.SingleValueRange(layer.ElementForChannel(v.Bias, u))
		}
		for a, of := range v.Of {
			z = e.plus(z, e.times(before[of][u], layer.ElementForChannel(v.Factors[a], u)))
		}
	case OpProduct:
		z = e.product(before[v.Of[0]][u], before[v.Of[1]][u])
		if v.Of[0] == v.Of[1] { // a square
			if z.Lo = 0; !before[v.Of[0]][u].Contains(0) {
				x := before[v.Of[0]][u]
				z.Lo = min(x.Lo*x.Lo, x.Hi*x.Hi)
			}
		}
	case OpStepFunction:
		steps := layer.ElementForChannel(v.Steps, u)
		if e.lost {
			return num.RangeOfValues(steps.Value)
		}
		z = steps.ValueRangeOver(before[v.Of[0]][u])
	case OpRequant:
		if e.lost {
			return num.Range{Lo: v.Requant.Lo, Hi: v.Requant.Hi}
		}
		if z = e.keep(v.Requant.ResultRange(before[v.Of[0]][u])); e.lost {
			z = num.Range{Lo: v.Requant.Lo, Hi: v.Requant.Hi}
		}
	}
	return z
}

// union returns the range of value k of phase i over all units of all cells.
func (r *ranges) union(i, k int) num.Range {
	all := r.of[0][i][k][0]
	for d := range r.of {
		for _, x := range r.of[d][i][k] {
			all = all.Union(x)
		}
	}
	return all
}

// An exact computes with ranges, and sets lost when one leaves 64 bits or a requantiser's product leaves 63.
type exact struct{ lost bool }

func (e *exact) keep(r num.Range, ok bool) num.Range {
	e.lost = e.lost || !ok
	return r
}

func (e *exact) times(r num.Range, w int64) num.Range { return e.keep(r.TimesConstant(w)) }
func (e *exact) plus(a, b num.Range) num.Range        { return e.keep(a.Plus(b)) }
func (e *exact) product(a, b num.Range) num.Range     { return e.times(a, b.Lo).Union(e.times(a, b.Hi)) }
