package firstlast

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the RTL, which reads a frame and then writes the output. Its memory is written and read at one
// pipeline stage, because the next frame overwrites the last word that is read.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	in, _ := o.P.words(f)
	writing := b.Register("writing", 0, num.Range{Hi: 1}).WithInitial(0)
	writes, reads := writing.Value(), circuit.Not(writing.Value())
	both := func(x, y circuit.Value) circuit.Value {
		return b.WithoutStageLimit(func() circuit.Value { return circuit.All(x, y) })
	}
	at := b.Counter("at", in, reads)
	word := b.Counter("word", o.P.Chunk/f.SIMD, writes)
	chunk := b.Counter("chunk", len(o.P.Order), both(writes, word.Last))
	written := both(writes, both(word.Last, chunk.Last))
	s := o.stepped(b, both(reads, at.Last), written)
	writing.Set(reads, b.WithoutStageLimit(func() circuit.Value { return circuit.Any(written, s.end) }))

	rows := num.Range{Hi: int64(o.rows(f) - 1)}
	source := circuit.Sum(circuit.MultiplyByConstant(o.source(b, f, chunk.Index, s.several), int64(o.P.Chunk/f.SIMD)),
		word.Index)
	source = circuit.AssumeRange(source, rows)
	zero := b.Constant(0)
	behind := b.Constant(int64(o.rows(f) - in)) // address of the latest step
	to := circuit.Sum(at.Index, circuit.MuxByCondition(s.first, zero, behind))
	stage := circuit.Stage(source, to)

	x := b.Input(f.SIMD*o.In[0].Elem.Width, reads)
	kept := b.Array("kept", dataflow.StyleOf(o.storage(f), "kept"), o.rows(f), x.Width())
	kept.Write(to, x.At(stage), reads)
	b.Output(kept.Row(source.At(stage)), writes)
	return b.Layer()
}

// A position says where an iteration stands among the steps of its frame.
type position struct {
	first   circuit.Value // the step that is read is the first
	end     circuit.Value // the last step has been read
	several circuit.Value // while writing: the frame has several steps
}

// stepped builds the counter of steps. For sequences of any length, the input's signal of the sequence's end takes its
// place. read and written hold when the last word of a step is read, and that of the output is written.
func (o *op) stepped(b *circuit.Builder, read, written circuit.Value) (p position) {
	if !o.sequence {
		step := b.Counter("step", o.steps, read)
		end := b.WithoutStageLimit(func() circuit.Value { return circuit.All(read, step.Last) })
		several := b.Constant(1)
		if o.steps == 1 {
			several = b.Constant(0)
		}
		return position{step.First, end, several}
	}
	end := circuit.SequenceEndInput(read)
	several := b.Register("several", 0, num.Range{Hi: 1}).WithInitial(0)
	b.WithoutStageLimit(func() circuit.Value {
		goes := circuit.All(read, circuit.Not(end))
		several.Set(goes, circuit.Any(goes, written))
		return goes
	})
	return position{circuit.Not(several.Value()), end, several.Value()}
}

// source returns where an output chunk lies in the memory, counted in chunks: that of Order[chunk]. several holds if
// the frame has more than one step; with a single step, the first is also the last.
func (o *op) source(b *circuit.Builder, f dataflow.Fold, chunk, several circuit.Value) circuit.Value {
	order := o.P.table()
	from := circuit.Element(order.Circuit(b, o.storage(f)[1])[0].Row(chunk), 0, order.Elem)
	chunks := b.Constant(int64(o.P.chunks()))
	single := circuit.MuxByCondition(circuit.GreaterThan(chunks, from), from, circuit.Difference(from, chunks))
	if !o.P.first() {
		return single // the first step is not kept
	}
	return circuit.MuxByCondition(several, from, single) // with a single step, the first is also the last
}
