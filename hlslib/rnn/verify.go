package rnn

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/hlslib/mac"
	"hlsgen/internal/num"
)

// has reports whether the cell has the value that r names.
func (c Cell) has(r ValueRef) bool {
	return r.Phase >= 0 && r.Phase < len(c.Phases) && r.Value >= 0 && r.Value < len(c.Phases[r.Phase].Values)
}

// units returns the number of elements of the state with this number.
func (c Cell) units(state int) int { return c.Phases[c.States[state].Next.Phase].Units }

// length returns the length of the vector that a phase multiplies, or 0 if there is none.
func (c Cell) length(p CellPhase) int {
	switch {
	case p.State != nil:
		return c.units(*p.State)
	case p.Of != nil:
		return c.Phases[p.Of.Phase].Units
	}
	return 0
}

// product returns the requantiser that all products of the cell's dots pass, or nil.
func (c Cell) product() *num.Requant {
	for _, p := range c.Phases {
		for _, d := range p.Dots {
			return d.Product
		}
	}
	return nil
}

func (c Cell) verify() error {
	if len(c.Phases) == 0 || len(c.States) == 0 {
		return errors.New("there are no phases or no states")
	}
	if c.InputLanesPerUnit() == 0 {
		return errors.New("no value of the first phase reads the input")
	}
	for s, state := range c.States {
		if !c.has(state.Next) {
			return fmt.Errorf("state %d becomes no value of a phase", s)
		}
		if op := c.Phases[state.Next.Phase].Values[state.Next.Value].Op; op != OpStepFunction && op != OpRequant {
			return fmt.Errorf("state %d becomes a value of %q, which does not bound it", s, op)
		}
		if n := len(state.Start); n != 0 && n != c.units(s) {
			return fmt.Errorf("state %d starts with %d values for %d units", s, n, c.units(s))
		}
	}
	for i, p := range c.Phases {
		if err := c.verifyPhase(i, p); err != nil {
			return fmt.Errorf("phase %d: %w", i, err)
		}
	}
	return nil
}

func (c Cell) verifyPhase(i int, p CellPhase) error {
	switch {
	case p.Units < 1 || len(p.Values) == 0:
		return fmt.Errorf("%d units and %d values, want at least one of each", p.Units, len(p.Values))
	case p.State != nil && p.Of != nil || (p.State == nil && p.Of == nil) != (len(p.Dots) == 0):
		return fmt.Errorf("%d dots; they look at a state, or at a value of an earlier phase: at one of them",
			len(p.Dots))
	case p.State != nil && (*p.State < 0 || *p.State >= len(c.States)):
		return fmt.Errorf("it looks at state %d of %d", *p.State, len(c.States))
	case p.Of != nil && (!c.has(*p.Of) || p.Of.Phase >= i):
		return errors.New("it looks at no value of an earlier phase")
	}
	for k, d := range p.Dots {
		if len(d.Weights) != p.Units {
			return fmt.Errorf("dot %d: %d rows of weights, want %d", k, len(d.Weights), p.Units)
		}
		for u, row := range d.Weights {
			if len(row) != c.length(p) {
				return fmt.Errorf("dot %d, unit %d: %d weights, want %d", k, u, len(row), c.length(p))
			}
			for i, w := range row {
				if w > mac.MaxWeightMagnitude || w < -mac.MaxWeightMagnitude {
					return fmt.Errorf("dot %d, unit %d: weight %d is %d, beyond 2^40", k, u, i, w)
				}
			}
		}
		if !same(d.Product, c.product()) {
			return fmt.Errorf("dot %d: products are requantised in another way than those of the first", k)
		}
		if d.Product != nil {
			if err := d.Product.Verify(); err != nil {
				return fmt.Errorf("dot %d: the products: %w", k, err)
			}
		}
	}
	for k, v := range p.Values {
		if err := c.verifyValue(i, k, v); err != nil {
			return fmt.Errorf("value %d (%s): %w", k, v.Op, err)
		}
	}
	return nil
}

// verifyValue returns an error if value k of phase i is malformed.
func (c Cell) verifyValue(i, k int, v CellOperation) error {
	p := c.Phases[i]
	arguments, limit := 0, -1 // limit of At; -1 if At is not used
	switch v.Op {
	case OpInput:
		if limit = 1 << 16; i > 0 {
			return errors.New("the input is read in the first phase")
		}
	case OpDot:
		limit = len(p.Dots)
	case OpState:
		if limit = len(c.States); v.At >= 0 && v.At < limit && c.units(v.At) != p.Units {
			return fmt.Errorf("state %d has %d units, the phase %d", v.At, c.units(v.At), p.Units)
		}
	case OpEarlierPhaseValue:
		if v.Phase < 0 || v.Phase >= i || c.Phases[v.Phase].Units != p.Units {
			return fmt.Errorf("phase %d is no earlier one with as many units", v.Phase)
		}
		limit = len(c.Phases[v.Phase].Values)
	case OpLinear:
		arguments = max(1, len(v.Of))
	case OpProduct:
		arguments = 2
	case OpStepFunction, OpRequant:
		arguments = 1
	default:
		return errors.New("unknown operation")
	}
	if limit >= 0 && (v.At < 0 || v.At >= limit) {
		return fmt.Errorf("it is of number %d, of %d", v.At, limit)
	}
	if len(v.Of) != arguments || slices.ContainsFunc(v.Of, func(a int) bool { return a < 0 || a >= k }) {
		return fmt.Errorf("made of the values %v, want %d earlier ones", v.Of, arguments)
	}
	return v.verifyNumbers(p.Units)
}

// verifyNumbers returns an error if the numbers of v's operation are wrong, for a phase of the given units.
func (v CellOperation) verifyNumbers(units int) error {
	each := func(what string, n int) error {
		if n != 1 && n != units {
			return fmt.Errorf("%d %s for %d units, want one or %d", n, what, units, units)
		}
		return nil
	}
	if v.Op == OpLinear {
		if len(v.Factors) != len(v.Of) {
			return fmt.Errorf("%d factors for %d values", len(v.Factors), len(v.Of))
		}
		for _, f := range v.Factors {
			if err := each("factors", len(f)); err != nil {
				return err
			}
		}
		if len(v.Bias) > 0 {
			return each("biases", len(v.Bias))
		}
		return nil
	}
	if len(v.Factors)+len(v.Bias) > 0 || (v.Op == OpStepFunction) != (len(v.Steps) > 0) ||
		(v.Op == OpRequant) != (v.Requant != nil) {
		return errors.New("parameters of another operation, or none")
	}
	if v.Op == OpRequant {
		return v.Requant.Verify()
	}
	if v.Op == OpStepFunction {
		for u, s := range v.Steps {
			if err := s.Verify(); err != nil {
				return fmt.Errorf("unit %d: %w", u, err)
			}
		}
		return each("step functions", len(v.Steps))
	}
	return nil
}

// like reports whether two cells differ only in numbers, so that they can share the hardware.
func (c Cell) like(o Cell) bool {
	return same(c.product(), o.product()) &&
		slices.EqualFunc(c.States, o.States, func(a, b StateDefinition) bool { return a.Next == b.Next }) &&
		slices.EqualFunc(c.Phases, o.Phases, func(a, b CellPhase) bool {
			return a.Units == b.Units && same(a.State, b.State) && same(a.Of, b.Of) && len(a.Dots) == len(b.Dots) &&
				slices.EqualFunc(a.Values, b.Values, func(v, w CellOperation) bool {
					return v.Op == w.Op && slices.Equal(v.Of, w.Of) && v.At == w.At && v.Phase == w.Phase
				})
		})
}

// same reports whether both pointers are nil or point to equal values.
func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// sequences returns the number of sequences that are interleaved in a frame, at least 1.
func (p Params) sequences() int { return max(1, p.Sequences) }

// InputLanesPerUnit returns the number of elements of the input that each unit of the first phase reads.
func (c Cell) InputLanesPerUnit() int {
	n := 0
	for _, v := range c.Phases[0].Values {
		if v.Op == OpInput {
			n = max(n, v.At+1)
		}
	}
	return n
}

// stateRange returns the range of values that the state with this number can take, whatever the inputs are.
func (c Cell) stateRange(state int) num.Range {
	next := c.States[state].Next
	v := c.Phases[next.Phase].Values[next.Value]
	if v.Op == OpRequant {
		return num.Range{Lo: v.Requant.Lo, Hi: v.Requant.Hi}
	}
	r := num.RangeOfValues(v.Steps[0].Value)
	for _, s := range v.Steps[1:] {
		r = r.Union(num.RangeOfValues(s.Value))
	}
	return r
}
