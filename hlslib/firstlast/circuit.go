package firstlast

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit reads a frame, and then writes. What is kept is written and read at one stage, since the next frame comes
// where the last word that is read was.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	in, _ := o.P.words(f)
	writing := b.Register("writing", 0, num.Range{Hi: 1}).Starts(0)
	writes, reads := writing.Value(), circuit.Not(writing.Value())
	both := func(x, y circuit.Value) circuit.Value {
		return b.Now(func() circuit.Value { return circuit.All(x, y) })
	}
	at := b.Counter("at", in, reads)
	step := b.Counter("step", o.steps, both(reads, at.Last))
	word := b.Counter("word", o.P.Chunk/f.SIMD, writes)
	chunk := b.Counter("chunk", len(o.P.Order), both(writes, word.Last))
	writing.Set(reads, b.Now(func() circuit.Value {
		return circuit.Choice(writes, circuit.All(word.Last, chunk.Last), circuit.All(at.Last, step.Last))
	}))

	rows := num.Range{Hi: int64(o.rows(f) - 1)}
	source := circuit.Sum(circuit.Times(o.source(b, f, chunk.Index), int64(o.P.Chunk/f.SIMD)), word.Index)
	source = circuit.Kept(source, rows)
	zero := b.Constant(0)
	behind := b.Constant(int64(o.rows(f) - in)) // where the latest step lies
	to := circuit.Sum(at.Index, circuit.Choice(step.First, zero, behind))
	stage := circuit.Stage(source, to)

	x := b.Input(f.SIMD*o.In[0].Elem.Width, reads)
	kept := b.Array("kept", dataflow.StyleOf(o.storage(f), "kept"), o.rows(f), x.Width())
	kept.Write(to, x.At(stage), reads)
	b.Output(kept.Row(source.At(stage)), writes)
	return b.Layer()
}

// source is where a chunk lies among those that are kept: the order has the first step's in front of the last one's.
func (o *op) source(b *circuit.Builder, f dataflow.Fold, chunk circuit.Value) circuit.Value {
	order := o.P.table()
	from := circuit.Element(order.Circuit(b, o.storage(f)[1])[0].Row(chunk), 0, order.Elem)
	if o.P.first() && o.steps > 1 {
		return from
	}
	chunks := b.Constant(int64(o.P.chunks())) // the first step is the last one, or is not kept
	return circuit.Choice(circuit.Exceeds(chunks, from), from, circuit.Difference(from, chunks))
}
