package globalpool

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL, which joins every word with the kept values of its channels. Registers keep them if all
// channels fit in one word, or a memory.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	always := b.Constant(1)
	fold := b.Counter("fold", o.Words(f), always)
	vector := b.Counter("vector", o.Vectors, fold.Last)
	in, out := o.In[0], o.Out[0]
	x := layer.Elements(b.Input(f.PE*in.Elem.Width, always), in.Elem)
	for pe, v := range x {
		x[pe] = circuit.AssumeRange(v, in.Union())
	}
	if o.Words(f) > 1 && o.Vectors > 1 {
		b.Output(o.turn(b, f, fold.Index, vector.First, x), vector.Last)
		return b.Layer()
	}
	for pe, v := range x {
		if name := fmt.Sprint("kept", pe); o.P.Op == Sum {
			x[pe] = b.RunningSum(name, out.Elem, vector.First, v)
		} else {
			x[pe] = circuit.RunningMaximum(name, vector.First, v)
		}
	}
	b.Output(circuit.Packed(out.Elem, x...), vector.Last)
	return b.Layer()
}

// turn adds the values x to the kept row of their channels, or takes the maximum of both, and stores and returns the
// row. The next access to a row comes at least two iterations later. So one clock is left to read it, and one to
// compute and write.
func (o *op) turn(b *circuit.Builder, f dataflow.Fold, fold, first circuit.Value, x []circuit.Value) circuit.Value {
	elem := o.Out[0].Elem
	kept := b.Array("kept", dataflow.StyleOf(o.storage(f), "kept"), o.Words(f), f.PE*elem.Width)
	row := kept.Row(fold).Delayed(1)
	stage := row.Stage()
	next := b.WithoutStageLimit(func() circuit.Value {
		for pe, v := range x {
			before := circuit.Element(row, pe, elem)
			v = v.At(stage)
			if o.P.Op == Sum {
				x[pe] = circuit.Wrapped(circuit.Sum(circuit.MuxByCondition(first.At(stage), b.Constant(0), before), v),
					elem)
			} else {
				x[pe] = circuit.MuxByCondition(circuit.Any(first.At(stage), circuit.GreaterThan(v, before)), v, before)
			}
		}
		return circuit.Packed(elem, x...)
	})
	kept.Write(fold, next, b.Constant(1))
	return next
}
