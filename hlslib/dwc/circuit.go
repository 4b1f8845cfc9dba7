package dwc

import (
	"slices"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the layer's RTL. It has one form each for equal widths, narrower words, wider words, and widths of
// which neither divides the other.
func (o *op) Circuit(_ dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	in, out := o.P.In*o.typ.Elem.Width, o.P.Out*o.typ.Elem.Width
	switch {
	case in == out:
		b.AddOutputStream(b.AddInputStream(in, b.ConstantNumber(1)), b.ConstantNumber(1))
	case in%out == 0:
		narrow(b, in, out)
	case out%in == 0:
		widen(b, in, out)
	default:
		o.mix(b)
	}
	return b.FinishLayer()
}

// narrow builds the converter of words of in bits into parts of out bits, where out divides in. A register keeps the
// parts that have not left yet.
func narrow(b *circuit.Builder, in, out int) {
	part := b.AddCounter("part", in/out, b.ConstantNumber(1))
	word := b.AddInputStream(in, part.First)
	rest := b.AddWordRegister("rest", 0, in-out)
	left := rest.ValueBefore()
	after := circuit.SliceBits(word, in-out, out)
	if in > 2*out {
		after = circuit.ConcatenateWords(circuit.MuxByCondition(part.First, circuit.SliceBits(word, out, in-2*out),
			circuit.SliceBits(left, out, in-2*out)), after)
	}
	rest.SetNext(after, b.ConstantNumber(1))
	b.AddOutputStream(circuit.MuxByCondition(part.First, circuit.SliceBits(word, 0, out), circuit.SliceBits(left, 0,
		out)),
		b.ConstantNumber(1))
}

// widen builds the converter that joins words of in bits to words of out bits, where in divides out. A register keeps
// the words that have arrived; each one enters at the high end.
func widen(b *circuit.Builder, in, out int) {
	part := b.AddCounter("part", out/in, b.ConstantNumber(1))
	gathered := b.AddWordRegister("gathered", 0, out-in)
	word := circuit.ConcatenateWords(gathered.ValueBefore(), b.AddInputStream(in, b.ConstantNumber(1)))
	gathered.SetNext(circuit.SliceBits(word, in, out-in), b.ConstantNumber(1))
	b.AddOutputStream(word, part.Last)
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
	word := m.turned(b.AddInputStream(m.in*m.width, m.reads))
	most := m.most()
	was := make([]circuit.Value, most) // by number: a unit with the number is left over
	for i := range was {
		was[i] = circuit.IsGreater(m.fill, b.ConstantNumber(int64(i)))
	}
	at := circuit.AlignWithLUTSlack(2, slices.Concat(was, word, []circuit.Value{m.writes})...)
	was, word = at[:most], at[most:most+m.in]
	left := b.AddWordRegister("left", circuit.FirstCommonStage(at...), most*m.width)
	units := make([]circuit.Value, m.in+m.out-1)
	b.BuildWithoutStageLimit(func() circuit.Value {
		for i := range units {
			units[i] = word[i%m.in]
			if i < most {
				units[i] = circuit.MuxByCondition(was[i], circuit.SliceBits(left.ValueBefore(), i*m.width, m.width),
					units[i])
			}
		}
		next := slices.Clone(units[:most])
		for i, u := range units[m.out:] {
			next[i] = circuit.MuxByCondition(at[len(at)-1], u, next[i])
		}
		left.SetNext(circuit.ConcatenateWords(next...), b.ConstantNumber(1))
		return left.ValueBefore()
	})
	b.AddOutputStream(circuit.ConcatenateWords(units[:m.out]...), m.writes)
}

// most returns the largest number of units that are left over for the next iteration.
func (m *mixer) most() int { return max(m.in, m.out) - 1 }

// count builds the counter of units that are left over, and sets the mixer's fill, turn, reads and writes by it.
func (m *mixer) count() {
	b := m.b
	always, none := b.ConstantNumber(1), b.ConstantNumber(0)
	in, out := b.ConstantNumber(int64(m.in)), b.ConstantNumber(int64(m.out))
	fill := b.AddRegister("fill", 0, num.Range{Hi: int64(m.most())}).WithResetValue(0)
	m.fill, m.turn, m.reads, m.writes = fill.ValueBefore(), fill.ValueBefore(), always, always
	b.BuildWithoutStageLimit(func() circuit.Value {
		if m.in > m.out {
			m.reads = circuit.IsGreater(out, m.fill)
		}
		filled := circuit.SumOfTwo(m.fill, circuit.MuxByCondition(m.reads, in, none))
		if m.in < m.out {
			m.writes = circuit.Not(circuit.IsGreater(out, filled))
			m.turn = m.turns()
		}
		after := circuit.Subtract(filled, circuit.MuxByCondition(m.writes, out, none))
		fill.SetNext(circuit.AssumeRange(after, num.Range{Hi: int64(m.most())}), always)
		return after
	})
}

// turns returns a register that holds fill modulo in: the place of a new word's first unit. It changes only when a word
// is written.
func (m *mixer) turns() circuit.Value {
	r := num.Range{Hi: int64(m.in - 1)}
	turn := m.b.AddRegister("turn", 0, r).WithResetValue(0)
	at, by := turn.ValueBefore(), m.b.ConstantNumber(int64(m.out%m.in))
	after := circuit.MuxByCondition(circuit.IsGreater(by, at), circuit.SumOfTwo(at,
		m.b.ConstantNumber(int64(m.in-m.out%m.in))),
		circuit.Subtract(at, by))
	turn.SetNext(circuit.AssumeRange(after, r), m.writes)
	return at
}

// turned returns the units of an input word, rotated so that its first unit is at place m.turn.
func (m *mixer) turned(word circuit.Value) []circuit.Value {
	units := make([]circuit.Value, m.in)
	for i := range units {
		units[i] = circuit.SliceBits(word, i*m.width, m.width)
	}
	for bit := range m.turn.Width() {
		turns, from := circuit.BitOf(m.turn, bit), units
		units = make([]circuit.Value, m.in)
		for i := range units {
			units[i] = circuit.MuxByCondition(turns, from[((i-1<<bit)%m.in+m.in)%m.in], from[i])
		}
	}
	return units
}
