package dwc

import (
	"slices"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the RTL. It has one form each for equal widths, narrower words, wider words, and widths of which
// neither divides the other.
func (o *op) Circuit(_ dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	in, out := o.P.In*o.typ.Elem.Width, o.P.Out*o.typ.Elem.Width
	switch {
	case in == out:
		b.Output(b.Input(in, b.Constant(1)), b.Constant(1))
	case in%out == 0:
		narrow(b, in, out)
	case out%in == 0:
		widen(b, in, out)
	default:
		o.mix(b)
	}
	return b.Layer()
}

// narrow builds the converter of words of in bits into parts of out bits, where out divides in. A register keeps the
// parts that have not left yet.
func narrow(b *circuit.Builder, in, out int) {
	part := b.Counter("part", in/out, b.Constant(1))
	word := b.Input(in, part.First)
	rest := b.WordRegister("rest", 0, in-out)
	left := rest.Value()
	after := circuit.BitRange(word, in-out, out)
	if in > 2*out {
		after = circuit.Joined(circuit.MuxByCondition(part.First, circuit.BitRange(word, out, in-2*out),
			circuit.BitRange(left, out, in-2*out)), after)
	}
	rest.Set(after, b.Constant(1))
	b.Output(circuit.MuxByCondition(part.First, circuit.BitRange(word, 0, out), circuit.BitRange(left, 0, out)),
		b.Constant(1))
}

// widen builds the converter that joins words of in bits to words of out bits, where in divides out. A register keeps
// the words that have arrived; each one enters at the high end.
func widen(b *circuit.Builder, in, out int) {
	part := b.Counter("part", out/in, b.Constant(1))
	gathered := b.WordRegister("gathered", 0, out-in)
	word := circuit.Joined(gathered.Value(), b.Input(in, b.Constant(1)))
	gathered.Set(circuit.BitRange(word, in, out-in), b.Constant(1))
	b.Output(word, part.Last)
}

// A mixer builds the converter for words of which neither width divides the other. All counts are in units: the largest
// groups of elements of which the words of both ends consist.
type mixer struct {
	b       *circuit.Builder
	in, out int // units per word
	width   int // bits per unit

	fill          circuit.Value // units left over from earlier iterations
	turn          circuit.Value // fill modulo in, when a word is read
	reads, writes circuit.Value
}

func (o *op) mix(b *circuit.Builder) {
	unit := dataflow.GCD(o.P.In, o.P.Out)
	m := mixer{b: b, in: o.P.In / unit, out: o.P.Out / unit, width: unit * o.typ.Elem.Width}
	m.count()
	word := m.turned(b.Input(m.in*m.width, m.reads))
	most := m.most()
	was := make([]circuit.Value, most) // by number: a unit with the number is left over
	for i := range was {
		was[i] = circuit.GreaterThan(m.fill, b.Constant(int64(i)))
	}
	at := circuit.WithSlack(2, slices.Concat(was, word, []circuit.Value{m.writes})...)
	was, word = at[:most], at[most:most+m.in]
	left := b.WordRegister("left", circuit.Stage(at...), most*m.width)
	units := make([]circuit.Value, m.in+m.out-1)
	b.WithoutStageLimit(func() circuit.Value {
		for i := range units {
			units[i] = word[i%m.in]
			if i < most {
				units[i] = circuit.MuxByCondition(was[i], circuit.BitRange(left.Value(), i*m.width, m.width), units[i])
			}
		}
		next := slices.Clone(units[:most])
		for i, u := range units[m.out:] {
			next[i] = circuit.MuxByCondition(at[len(at)-1], u, next[i])
		}
		left.Set(circuit.Joined(next...), b.Constant(1))
		return left.Value()
	})
	b.Output(circuit.Joined(units[:m.out]...), m.writes)
}

// most returns the largest number of units that are left over for the next iteration.
func (m *mixer) most() int { return max(m.in, m.out) - 1 }

// count builds the counter of units that are left over, and sets fill, turn, reads and writes by it.
func (m *mixer) count() {
	b := m.b
	always, none := b.Constant(1), b.Constant(0)
	in, out := b.Constant(int64(m.in)), b.Constant(int64(m.out))
	fill := b.Register("fill", 0, num.Range{Hi: int64(m.most())}).WithInitial(0)
	m.fill, m.turn, m.reads, m.writes = fill.Value(), fill.Value(), always, always
	b.WithoutStageLimit(func() circuit.Value {
		if m.in > m.out {
			m.reads = circuit.GreaterThan(out, m.fill)
		}
		filled := circuit.Sum(m.fill, circuit.MuxByCondition(m.reads, in, none))
		if m.in < m.out {
			m.writes = circuit.Not(circuit.GreaterThan(out, filled))
			m.turn = m.turns()
		}
		after := circuit.Difference(filled, circuit.MuxByCondition(m.writes, out, none))
		fill.Set(circuit.AssumeRange(after, num.Range{Hi: int64(m.most())}), always)
		return after
	})
}

// turns returns a register with fill modulo in, the place of a new word's first unit. Only writing a word changes it.
func (m *mixer) turns() circuit.Value {
	r := num.Range{Hi: int64(m.in - 1)}
	turn := m.b.Register("turn", 0, r).WithInitial(0)
	at, by := turn.Value(), m.b.Constant(int64(m.out%m.in))
	after := circuit.MuxByCondition(circuit.GreaterThan(by, at), circuit.Sum(at, m.b.Constant(int64(m.in-m.out%m.in))),
		circuit.Difference(at, by))
	turn.Set(circuit.AssumeRange(after, r), m.writes)
	return at
}

// turned returns the units of a word, rotated so that its first unit is at place m.turn.
func (m *mixer) turned(word circuit.Value) []circuit.Value {
	units := make([]circuit.Value, m.in)
	for i := range units {
		units[i] = circuit.BitRange(word, i*m.width, m.width)
	}
	for bit := range m.turn.Width() {
		turns, from := circuit.Bit(m.turn, bit), units
		units = make([]circuit.Value, m.in)
		for i := range units {
			units[i] = circuit.MuxByCondition(turns, from[((i-1<<bit)%m.in+m.in)%m.in], from[i])
		}
	}
	return units
}
