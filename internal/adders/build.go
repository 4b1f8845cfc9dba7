package adders

import (
	"cmp"
	"slices"

	"hlsgen/internal/num"
)

// A builder adds sums to a graph. It makes no sum twice.
type builder struct {
	Graph
	parts [][]part // by signal: what it is of the inputs
	made  map[Sum]Signal
}

// A part is an input times a factor.
type part struct {
	input  int32
	factor int64
}

func newBuilder(inputs []num.Range) *builder {
	b := &builder{Graph: Graph{Inputs: inputs}, made: map[Sum]Signal{}}
	for i, r := range inputs {
		b.ranges = append(b.ranges, r)
		b.levels = append(b.levels, 0)
		b.parts = append(b.parts, []part{{int32(i), 1}})
	}
	return b
}

// pairOf returns t + u as a sum times 2^shift, or its negative.
func pairOf(t, u Term) (s Sum, shift int, minus bool) {
	if c := cmp.Compare(t.Shift, u.Shift); c > 0 || c == 0 && t.Signal > u.Signal {
		t, u = u, t
	}
	return Sum{t.Signal, u.Signal, u.Shift - t.Shift, t.Minus != u.Minus}, t.Shift, t.Minus
}

// plus returns the term t + u.
func (b *builder) plus(t, u Term) Term {
	s, shift, minus := pairOf(t, u)
	return Term{b.sum(s), shift, minus}
}

// sum returns the signal of a sum.
func (b *builder) sum(s Sum) Signal {
	if known, ok := b.made[s]; ok {
		return known
	}
	at := Signal(len(b.ranges))
	b.made[s] = at
	b.Sums = append(b.Sums, s)
	p := combined(b.parts[s.A], b.parts[s.B], s.Shift, s.Minus)
	b.parts = append(b.parts, p)
	b.ranges = append(b.ranges, rangeOf(p, b.Inputs))
	b.levels = append(b.levels, max(b.levels[s.A], b.levels[s.B])+1)
	return at
}

// combined returns the parts of x + y*2^shift, or of x - y*2^shift.
func combined(x, y []part, shift int, minus bool) (sum []part) {
	sum = make([]part, 0, len(x)+len(y))
	for len(x) > 0 || len(y) > 0 {
		if len(y) == 0 || len(x) > 0 && x[0].input < y[0].input {
			sum, x = append(sum, x[0]), x[1:]
			continue
		}
		p := y[0]
		if p.factor <<= shift; minus {
			p.factor = -p.factor
		}
		y = y[1:]
		if len(x) > 0 && x[0].input == p.input {
			p.factor += x[0].factor
			x = x[1:]
		}
		if p.factor != 0 {
			sum = append(sum, p)
		}
	}
	return slices.Clip(sum)
}

// rangeOf returns the range of a sum of parts of independent inputs.
func rangeOf(parts []part, inputs []num.Range) (r num.Range) {
	for _, p := range parts {
		in := inputs[p.input]
		lo, hi := p.factor*in.Lo, p.factor*in.Hi
		r.Lo += min(lo, hi)
		r.Hi += max(lo, hi)
	}
	return r
}

// bitsOf returns the bits of the adder of a sum that is not made yet. It takes the operands for independent, so that
// the adder may have a bit less.
func (b *builder) bitsOf(s Sum) int {
	x, y := b.ranges[s.A], b.ranges[s.B]
	term := shifted(y, s.Shift)
	if s.Minus {
		term = term.Negated()
	}
	return adderBits(s, x, y, num.Range{Lo: x.Lo + term.Lo, Hi: x.Hi + term.Hi})
}

// prune removes the sums that no output reads.
func (b *builder) prune() {
	n := len(b.Inputs)
	read := make([]bool, len(b.ranges))
	for _, o := range b.Outputs {
		if o.Signal != NoSignal {
			read[o.Signal] = true
		}
	}
	for i, s := range slices.Backward(b.Sums) {
		if read[n+i] {
			read[s.A], read[s.B] = true, true
		}
	}
	now := make([]Signal, len(read))
	kept := n
	for i := range read {
		if now[i] = Signal(i); i < n {
			continue
		}
		if !read[i] {
			continue
		}
		now[i] = Signal(kept)
		s := b.Sums[i-n]
		s.A, s.B = now[s.A], now[s.B]
		b.Sums[kept-n], b.ranges[kept], b.levels[kept] = s, b.ranges[i], b.levels[i]
		kept++
	}
	b.Sums, b.ranges, b.levels = b.Sums[:kept-n], b.ranges[:kept], b.levels[:kept]
	for i, o := range b.Outputs {
		if o.Signal != NoSignal {
			b.Outputs[i].Signal = now[o.Signal]
		}
	}
}
