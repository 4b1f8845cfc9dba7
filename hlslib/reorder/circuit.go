package reorder

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A position is where an iteration stands in a frame, all at stage 0.
type position struct {
	step          circuit.Value // of the phase
	last          circuit.Value // of the phase
	reads, writes circuit.Value
}

// positions counts steps and phases. In the first one nothing is written, and in the last one nothing read.
func positions(b *circuit.Builder, blocks, in, out int) (p position) {
	longer := max(in, out)
	step := b.Register("step", 0, num.Range{Hi: int64(longer - 1)}).Starts(0)
	phase := b.Register("phase", 0, num.Range{Hi: int64(blocks)}).Starts(0)
	p.step = step.Value()
	next := func(r circuit.Register, last circuit.Value) circuit.Value {
		at := r.Value()
		return circuit.Kept(circuit.Choice(last, b.Constant(0), circuit.Sum(at, b.Constant(1))), at.Range())
	}
	b.Now(func() circuit.Value {
		first := circuit.Same(phase.Value(), b.Constant(0))
		final := circuit.Same(phase.Value(), b.Constant(int64(blocks)))
		ends := func(n int) circuit.Value { return circuit.Same(p.step, b.Constant(int64(n-1))) }
		p.last = circuit.Choice(first, ends(in), circuit.Choice(final, ends(out), ends(longer)))
		p.reads = circuit.All(circuit.Not(final), circuit.Exceeds(b.Constant(int64(in)), p.step))
		p.writes = circuit.All(circuit.Not(first), circuit.Exceeds(b.Constant(int64(out)), p.step))
		step.Set(next(step, p.last), b.Constant(1))
		phase.Set(next(phase, final), p.last)
		return p.last
	})
	return p
}

// Circuit writes a bank where it reads the other: at one stage, since the next block comes where the last word that is
// read was.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	in, out := o.P.words(f)
	p := positions(b, o.blocks, in, out)
	bank := b.Counter("bank", 2, p.last)
	word := b.Counter("word", o.P.Chunk/f.SIMD, p.writes)
	chunk := b.Counter("chunk", len(o.P.Order),
		b.Now(func() circuit.Value { return circuit.All(p.writes, word.Last) }))

	order := o.P.table()
	from := circuit.Element(order.Circuit(b, o.storage(f)[1])[0].Row(chunk.Index), 0, order.Elem)
	from = circuit.Times(circuit.Kept(from, num.Range{Hi: int64(o.P.Block - 1)}), int64(o.P.Chunk/f.SIMD))
	second, zero := b.Constant(int64(in)), b.Constant(0)
	source := circuit.Total(circuit.Choice(bank.First, second, zero), word.Index, from)
	x := b.Input(f.SIMD*o.In[0].Elem.Width, p.reads)
	to := circuit.Sum(p.step, circuit.Choice(bank.First, zero, second))
	stage := circuit.Stage(source, to)

	banks := b.Array("banks", dataflow.StyleOf(o.storage(f), "banks"), 2*in, x.Width())
	banks.Write(circuit.Kept(to, num.Range{Hi: int64(2*in - 1)}), x.At(stage), p.reads)
	b.Output(banks.Row(source.At(stage)), p.writes)
	return b.Layer()
}
