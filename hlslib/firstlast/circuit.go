package firstlast

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the layer's RTL, which reads a frame and then writes the output. Its memory is written and read at
// one pipeline stage, because the next frame overwrites the last word that is read.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	in, _ := o.P.words(f)
	writing := b.AddRegister("writing", 0, num.Range{Hi: 1}).WithResetValue(0)
	writes, reads := writing.ValueBefore(), circuit.Not(writing.ValueBefore())
	both := func(x, y circuit.Value) circuit.Value {
		return b.BuildWithoutStageLimit(func() circuit.Value { return circuit.AllHold(x, y) })
	}
	at := b.AddCounter("at", in, reads)
	word := b.AddCounter("word", o.P.Chunk/f.SIMD, writes)
	chunk := b.AddCounter("chunk", len(o.P.Order), both(writes, word.Last))
	written := both(writes, both(word.Last, chunk.Last))
	s := o.stepped(b, both(reads, at.Last), written)
	writing.SetNext(reads, b.BuildWithoutStageLimit(func() circuit.Value { return circuit.AnyHolds(written, s.end) }))

	rows := num.Range{Hi: int64(o.rows(f) - 1)}
	source := circuit.SumOfTwo(circuit.MultiplyByConstant(o.source(b, f, chunk.Index, s.several),
		int64(o.P.Chunk/f.SIMD)),
		word.Index)
	source = circuit.AssumeRange(source, rows)
	zero := b.ConstantNumber(0)
	behind := b.ConstantNumber(int64(o.rows(f) - in)) // address of the latest step
	to := circuit.SumOfTwo(at.Index, circuit.MuxByCondition(s.first, zero, behind))
	stage := circuit.FirstCommonStage(source, to)

	x := b.AddInputStream(f.SIMD*o.In[0].Elem.Width, reads)
	kept := b.AddArray("kept", dataflow.CircuitStyleOf(o.storage(f), "kept"), o.rows(f), x.Width())
	kept.WriteRow(to, x.AtStage(stage), reads)
	b.AddOutputStream(kept.ReadRowBefore(source.AtStage(stage)), writes)
	return b.FinishLayer()
}

// A position says where an iteration stands among the steps of its frame.
type position struct {
	first   circuit.Value // the step that is read is the first
	end     circuit.Value // the last step has been read
	several circuit.Value // while writing: the frame has several steps
}

// stepped builds the counter of a frame's steps, and returns the position that it gives. For sequences of any length,
// the input's signal of the sequence's end takes the counter's place. read holds when the last word of a step is read;
// written holds when the last word of the output is written.
func (o *op) stepped(b *circuit.Builder, read, written circuit.Value) (p position) {
	if !o.sequence {
		step := b.AddCounter("step", o.steps, read)
		end := b.BuildWithoutStageLimit(func() circuit.Value { return circuit.AllHold(read, step.Last) })
		several := b.ConstantNumber(1)
		if o.steps == 1 {
			several = b.ConstantNumber(0)
		}
		return position{step.First, end, several}
	}
	end := circuit.AddSequenceEndInput(read)
	several := b.AddRegister("several", 0, num.Range{Hi: 1}).WithResetValue(0)
	b.BuildWithoutStageLimit(func() circuit.Value {
		goes := circuit.AllHold(read, circuit.Not(end))
		several.SetNext(goes, circuit.AnyHolds(goes, written))
		return goes
	})
	return position{circuit.Not(several.ValueBefore()), end, several.ValueBefore()}
}

// source returns the address of the chunk Order[chunk] in the memory, counted in chunks. several holds if the frame has
// more than one step; with a single step, the first is also the last.
func (o *op) source(b *circuit.Builder, f dataflow.Fold, chunk, several circuit.Value) circuit.Value {
	order := o.P.table()
	from := circuit.ElementOf(order.AddToCircuit(b, o.storage(f)[1])[0].ReadRow(chunk), 0, order.Elem)
	chunks := b.ConstantNumber(int64(o.P.chunks()))
	single := circuit.MuxByCondition(circuit.IsGreater(chunks, from), from, circuit.Subtract(from, chunks))
	if !o.P.first() {
		return single // the first step is not kept
	}
	return circuit.MuxByCondition(several, from, single) // with a single step, the first is also the last
}
