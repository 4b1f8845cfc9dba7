package reorder

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A position says where an iteration stands in a frame, which takes several phases. Each phase reads a block and writes
// the one before. All its values are available at stage 0.
type position struct {
	step          circuit.Value // number of the step in the phase
	last          circuit.Value // the step is the phase's last
	reads, writes circuit.Value
}

// positions builds the counters of steps and phases, for frames of blocks blocks with in input words and out output
// words. The first phase only reads, and the last phase only writes.
func positions(b *circuit.Builder, blocks, in, out int) (p position) {
	longer := max(in, out)
	step := b.Register("step", 0, num.Range{Hi: int64(longer - 1)}).WithInitial(0)
	phase := b.Register("phase", 0, num.Range{Hi: int64(blocks)}).WithInitial(0)
	p.step = step.Value()
	next := func(r circuit.Register, last circuit.Value) circuit.Value {
		at := r.Value()
		return circuit.AssumeRange(circuit.MuxByCondition(last, b.Constant(0), circuit.Sum(at, b.Constant(1))),
			at.Range())
	}
	b.WithoutStageLimit(func() circuit.Value {
		first := circuit.EqualTo(phase.Value(), b.Constant(0))
		final := circuit.EqualTo(phase.Value(), b.Constant(int64(blocks)))
		ends := func(n int) circuit.Value { return circuit.EqualTo(p.step, b.Constant(int64(n-1))) }
		p.last = circuit.MuxByCondition(first, ends(in), circuit.MuxByCondition(final, ends(out), ends(longer)))
		p.reads = circuit.All(circuit.Not(final), circuit.GreaterThan(b.Constant(int64(in)), p.step))
		p.writes = circuit.All(circuit.Not(first), circuit.GreaterThan(b.Constant(int64(out)), p.step))
		step.Set(next(step, p.last), b.Constant(1))
		phase.Set(next(phase, final), p.last)
		return p.last
	})
	return p
}

// told builds the counters for sequences of any length, whose steps are blocks blocks of in input words and out output
// words. With a step's last block it reads whether the sequence ends; if so, the next phase only writes.
func told(b *circuit.Builder, blocks, in, out int) (p position) {
	longer := max(in, out)
	step := b.Register("step", 0, num.Range{Hi: int64(longer - 1)}).WithInitial(0)
	reading := b.Register("reading", 0, num.Range{Hi: 1}).WithInitial(1)
	writing := b.Register("writing", 0, num.Range{Hi: 1}).WithInitial(0)
	p.step = step.Value()
	b.WithoutStageLimit(func() circuit.Value {
		ends := func(n int) circuit.Value { return circuit.EqualTo(p.step, b.Constant(int64(n-1))) }
		p.last = circuit.MuxByCondition(writing.Value(), circuit.MuxByCondition(reading.Value(), ends(longer),
			ends(out)), ends(in))
		p.reads = circuit.All(reading.Value(), circuit.GreaterThan(b.Constant(int64(in)), p.step))
		p.writes = circuit.All(writing.Value(), circuit.GreaterThan(b.Constant(int64(out)), p.step))
		next := circuit.MuxByCondition(p.last, b.Constant(0), circuit.Sum(p.step, b.Constant(1)))
		step.Set(circuit.AssumeRange(next, p.step.Range()), b.Constant(1))
		block := b.Counter("block", blocks, circuit.All(p.last, reading.Value()))
		over := circuit.SequenceEndInput(circuit.All(p.last, reading.Value(), block.Last))
		reading.Set(circuit.Not(over), p.last)
		writing.Set(reading.Value(), p.last)
		return p.last
	})
	return p
}

// Circuit returns the RTL, which writes one bank while it reads the other. Both happen at one pipeline stage, because
// the next block overwrites the last word that is read.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	if s := o.among; s != nil && s.whole.Holds() {
		return s.whole.atOnce(f, t, s.longest)
	}
	b := circuit.New(t.Rate())
	in, out := o.P.words(f)
	var p position
	if s := o.among; s != nil {
		p = told(b, s.whole.blocks/s.longest, in, out)
	} else {
		p = positions(b, o.blocks, in, out)
	}
	bank := b.Counter("bank", 2, p.last)
	word := b.Counter("word", o.P.Chunk/f.SIMD, p.writes)
	chunk := b.Counter("chunk", len(o.P.Order),
		b.WithoutStageLimit(func() circuit.Value { return circuit.All(p.writes, word.Last) }))

	order := o.P.table()
	from := circuit.Element(order.Circuit(b, o.storage(f)[1])[0].Row(chunk.Index), 0, order.Elem)
	from = circuit.MultiplyByConstant(circuit.AssumeRange(from, num.Range{Hi: int64(o.P.Block - 1)}),
		int64(o.P.Chunk/f.SIMD))
	second, zero := b.Constant(int64(in)), b.Constant(0)
	source := circuit.Total(circuit.MuxByCondition(bank.First, second, zero), word.Index, from)
	x := b.Input(f.SIMD*o.In[0].Elem.Width, p.reads)
	to := circuit.Sum(p.step, circuit.MuxByCondition(bank.First, zero, second))
	stage := circuit.Stage(source, to)

	banks := b.Array("banks", dataflow.StyleOf(o.storage(f), "banks"), 2*in, x.Width())
	banks.Write(circuit.AssumeRange(to, num.Range{Hi: int64(2*in - 1)}), x.At(stage), p.reads)
	b.Output(banks.Row(source.At(stage)), p.writes)
	return b.Layer()
}

// atOnce returns the RTL for sequences of up to longest steps, each of which is read completely before anything is
// written.
func (o *op) atOnce(f dataflow.Fold, t dataflow.Target, longest int) *circuit.Module {
	b := circuit.New(t.Rate())
	step, order := o.step(longest)
	in, _ := step.words(f)
	rows, last := num.Range{Hi: int64(longest*in - 1)}, num.Range{Hi: int64(longest - 1)}
	writing := b.Register("writing", 0, num.Range{Hi: 1}).WithInitial(0)
	at := b.Register("at", 0, rows).WithInitial(0)         // address of the word that arrives
	latest := b.Register("latest", 0, last).WithInitial(0) // step that is read, or was read last
	now := b.Register("now", 0, last).WithInitial(0)       // step that is written
	writes, reads := writing.Value(), circuit.Not(writing.Value())
	var word, chunk circuit.LoopLevel
	b.WithoutStageLimit(func() circuit.Value {
		next := func(r circuit.Register, restarts circuit.Value) circuit.Value {
			v := r.Value()
			return circuit.AssumeRange(circuit.MuxByCondition(restarts, b.Constant(0), circuit.Sum(v, b.Constant(1))),
				v.Range())
		}
		read := circuit.All(reads, b.Counter("arrived", in, reads).Last)
		end := circuit.SequenceEndInput(read)
		word = b.Counter("word", step.Chunk/f.SIMD, writes)
		chunk = b.Counter("chunk", len(step.Order), circuit.All(writes, word.Last))
		stepped := circuit.All(writes, word.Last, chunk.Last)
		written := circuit.All(stepped, circuit.EqualTo(now.Value(), latest.Value()))
		at.Set(next(at, end), reads)
		latest.Set(next(latest, written), circuit.Any(circuit.All(read, circuit.Not(end)), written))
		now.Set(next(now, written), stepped)
		writing.Set(end, circuit.Any(end, written))
		return end
	})

	table := order.Circuit(b, order.Storage("order").At(dataflow.LUTRAM))[0]
	from := circuit.Element(table.Row(chunk.Index), 0, order.Elem)
	chunks := b.Constant(int64(step.Block))
	turned := circuit.Not(circuit.GreaterThan(chunks, from))
	source := circuit.MuxByCondition(turned, circuit.AssumeRange(circuit.Difference(latest.Value(), now.Value()), last),
		now.Value())
	from = circuit.MuxByCondition(turned, circuit.Difference(from, chunks), from)
	from = circuit.AssumeRange(from, num.Range{Hi: int64(step.Block - 1)})
	source = circuit.Total(circuit.MultiplyByConstant(source, int64(in)), circuit.MultiplyByConstant(from,
		int64(step.Chunk/f.SIMD)), word.Index)
	source = circuit.AssumeRange(source, rows)

	x := b.Input(f.SIMD*o.In[0].Elem.Width, reads)
	stage := circuit.Stage(source)
	banks := b.Array("banks", dataflow.StyleOf(o.storage(f), "banks"), longest*in, x.Width())
	banks.Write(at.Value(), x.At(stage), reads)
	b.Output(banks.Row(source), writes)
	return b.Layer()
}
