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
	step := b.AddRegister("step", 0, num.Range{Hi: int64(longer - 1)}).WithResetValue(0)
	phase := b.AddRegister("phase", 0, num.Range{Hi: int64(blocks)}).WithResetValue(0)
	p.step = step.ValueBefore()
	next := func(r circuit.Register, last circuit.Value) circuit.Value {
		at := r.ValueBefore()
		return circuit.AssumeRange(circuit.MuxByCondition(last, b.ConstantNumber(0), circuit.SumOfTwo(at,
			b.ConstantNumber(1))),
			at.Range())
	}
	b.BuildWithoutStageLimit(func() circuit.Value {
		first := circuit.IsEqual(phase.ValueBefore(), b.ConstantNumber(0))
		final := circuit.IsEqual(phase.ValueBefore(), b.ConstantNumber(int64(blocks)))
		ends := func(n int) circuit.Value { return circuit.IsEqual(p.step, b.ConstantNumber(int64(n-1))) }
		p.last = circuit.MuxByCondition(first, ends(in), circuit.MuxByCondition(final, ends(out), ends(longer)))
		p.reads = circuit.AllHold(circuit.Not(final), circuit.IsGreater(b.ConstantNumber(int64(in)), p.step))
		p.writes = circuit.AllHold(circuit.Not(first), circuit.IsGreater(b.ConstantNumber(int64(out)), p.step))
		step.SetNext(next(step, p.last), b.ConstantNumber(1))
		phase.SetNext(next(phase, final), p.last)
		return p.last
	})
	return p
}

// told builds the counters for sequences of any length, each of whose steps is the given number of blocks. Blocks have
// in input words and out output words. With a step's last block it reads whether the sequence ends; if so, the next
// phase only writes.
func told(b *circuit.Builder, blocks, in, out int) (p position) {
	longer := max(in, out)
	step := b.AddRegister("step", 0, num.Range{Hi: int64(longer - 1)}).WithResetValue(0)
	reading := b.AddRegister("reading", 0, num.Range{Hi: 1}).WithResetValue(1)
	writing := b.AddRegister("writing", 0, num.Range{Hi: 1}).WithResetValue(0)
	p.step = step.ValueBefore()
	b.BuildWithoutStageLimit(func() circuit.Value {
		ends := func(n int) circuit.Value { return circuit.IsEqual(p.step, b.ConstantNumber(int64(n-1))) }
		p.last = circuit.MuxByCondition(writing.ValueBefore(), circuit.MuxByCondition(reading.ValueBefore(),
			ends(longer),
			ends(out)), ends(in))
		p.reads = circuit.AllHold(reading.ValueBefore(), circuit.IsGreater(b.ConstantNumber(int64(in)), p.step))
		p.writes = circuit.AllHold(writing.ValueBefore(), circuit.IsGreater(b.ConstantNumber(int64(out)), p.step))
		next := circuit.MuxByCondition(p.last, b.ConstantNumber(0), circuit.SumOfTwo(p.step, b.ConstantNumber(1)))
		step.SetNext(circuit.AssumeRange(next, p.step.Range()), b.ConstantNumber(1))
		block := b.AddCounter("block", blocks, circuit.AllHold(p.last, reading.ValueBefore()))
		over := circuit.AddSequenceEndInput(circuit.AllHold(p.last, reading.ValueBefore(), block.Last))
		reading.SetNext(circuit.Not(over), p.last)
		writing.SetNext(reading.ValueBefore(), p.last)
		return p.last
	})
	return p
}

// Circuit returns the layer's RTL, which writes one bank while it reads the other. Both happen at one pipeline stage,
// because the next block overwrites the last word that is read. Sequences of any length that are read before anything
// is written have a circuit of their own, atOnce.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	if s := o.among; s != nil && s.whole.holds() {
		return s.whole.atOnce(f, t, s.longest)
	}
	b := circuit.NewBuilder(t.CircuitTiming())
	in, out := o.P.words(f)
	var p position
	if s := o.among; s != nil {
		p = told(b, s.whole.blocks/s.longest, in, out)
	} else {
		p = positions(b, o.blocks, in, out)
	}
	bank := b.AddCounter("bank", 2, p.last)
	word := b.AddCounter("word", o.P.Chunk/f.SIMD, p.writes)
	chunk := b.AddCounter("chunk", len(o.P.Order),
		b.BuildWithoutStageLimit(func() circuit.Value { return circuit.AllHold(p.writes, word.Last) }))

	order := o.P.table()
	from := circuit.ElementOf(order.AddToCircuit(b, o.storage(f)[1])[0].ReadRow(chunk.Index), 0, order.Elem)
	from = circuit.MultiplyByConstant(circuit.AssumeRange(from, num.Range{Hi: int64(o.P.Block - 1)}),
		int64(o.P.Chunk/f.SIMD))
	second, zero := b.ConstantNumber(int64(in)), b.ConstantNumber(0)
	source := circuit.SumAsTree(circuit.MuxByCondition(bank.First, second, zero), word.Index, from)
	x := b.AddInputStream(f.SIMD*o.In[0].Elem.Width, p.reads)
	to := circuit.SumOfTwo(p.step, circuit.MuxByCondition(bank.First, zero, second))
	stage := circuit.FirstCommonStage(source, to)

	banks := b.AddArray("banks", dataflow.CircuitStyleOf(o.storage(f), "banks"), 2*in, x.Width())
	banks.WriteRow(circuit.AssumeRange(to, num.Range{Hi: int64(2*in - 1)}), x.AtStage(stage), p.reads)
	b.AddOutputStream(banks.ReadRowBefore(source.AtStage(stage)), p.writes)
	return b.FinishLayer()
}

// atOnce returns the RTL for sequences of up to longest steps, each of which is read completely before anything is
// written.
func (o *op) atOnce(f dataflow.Fold, t dataflow.Target, longest int) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	step, order := o.step(longest)
	in, _ := step.words(f)
	rows, last := num.Range{Hi: int64(longest*in - 1)}, num.Range{Hi: int64(longest - 1)}
	writing := b.AddRegister("writing", 0, num.Range{Hi: 1}).WithResetValue(0)
	at := b.AddRegister("at", 0, rows).WithResetValue(0)         // address of the word that arrives
	latest := b.AddRegister("latest", 0, last).WithResetValue(0) // step that is read, or was read last
	now := b.AddRegister("now", 0, last).WithResetValue(0)       // step that is written
	writes, reads := writing.ValueBefore(), circuit.Not(writing.ValueBefore())
	var word, chunk circuit.LoopLevel
	b.BuildWithoutStageLimit(func() circuit.Value {
		next := func(r circuit.Register, restarts circuit.Value) circuit.Value {
			v := r.ValueBefore()
			return circuit.AssumeRange(circuit.MuxByCondition(restarts, b.ConstantNumber(0), circuit.SumOfTwo(v,
				b.ConstantNumber(1))),
				v.Range())
		}
		read := circuit.AllHold(reads, b.AddCounter("arrived", in, reads).Last)
		end := circuit.AddSequenceEndInput(read)
		word = b.AddCounter("word", step.Chunk/f.SIMD, writes)
		chunk = b.AddCounter("chunk", len(step.Order), circuit.AllHold(writes, word.Last))
		stepped := circuit.AllHold(writes, word.Last, chunk.Last)
		written := circuit.AllHold(stepped, circuit.IsEqual(now.ValueBefore(), latest.ValueBefore()))
		at.SetNext(next(at, end), reads)
		latest.SetNext(next(latest, written), circuit.AnyHolds(circuit.AllHold(read, circuit.Not(end)), written))
		now.SetNext(next(now, written), stepped)
		writing.SetNext(end, circuit.AnyHolds(end, written))
		return end
	})

	table := order.AddToCircuit(b, order.StorageForCostPart("order").MovedToMemory(dataflow.MemoryLUTRAM))[0]
	from := circuit.ElementOf(table.ReadRow(chunk.Index), 0, order.Elem)
	chunks := b.ConstantNumber(int64(step.Block))
	turned := circuit.Not(circuit.IsGreater(chunks, from))
	source := circuit.MuxByCondition(turned, circuit.AssumeRange(circuit.Subtract(latest.ValueBefore(),
		now.ValueBefore()), last),
		now.ValueBefore())
	from = circuit.MuxByCondition(turned, circuit.Subtract(from, chunks), from)
	from = circuit.AssumeRange(from, num.Range{Hi: int64(step.Block - 1)})
	source = circuit.SumAsTree(circuit.MultiplyByConstant(source, int64(in)), circuit.MultiplyByConstant(from,
		int64(step.Chunk/f.SIMD)), word.Index)
	source = circuit.AssumeRange(source, rows)

	x := b.AddInputStream(f.SIMD*o.In[0].Elem.Width, reads)
	stage := circuit.FirstCommonStage(source)
	banks := b.AddArray("banks", dataflow.CircuitStyleOf(o.storage(f), "banks"), longest*in, x.Width())
	banks.WriteRow(at.ValueBefore(), x.AtStage(stage), reads)
	b.AddOutputStream(banks.ReadRowBefore(source), writes)
	return b.FinishLayer()
}
