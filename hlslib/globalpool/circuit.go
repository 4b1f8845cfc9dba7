package globalpool

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL, which adds every word to the kept values of its channels, or takes their maximum.
// Registers keep them if all channels fit in one word, or if a frame is a single vector; otherwise a memory does.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	always := b.ConstantNumber(1)
	fold := b.AddCounter("fold", o.WordsPerVector(f), always)
	vector := b.AddCounter("vector", o.Vectors, fold.Last)
	in, out := o.In[0], o.Out[0]
	x := layer.ElementsOfWord(b.AddInputStream(f.PE*in.Elem.Width, always), in.Elem)
	for pe, v := range x {
		x[pe] = circuit.AssumeRange(v, in.UnionOfRanges())
	}
	if o.WordsPerVector(f) > 1 && o.Vectors > 1 {
		b.AddOutputStream(o.turn(b, f, fold.Index, vector.First, x), vector.Last)
		return b.FinishLayer()
	}
	for pe, v := range x {
		if name := fmt.Sprint("kept", pe); o.P.Op == PoolingSum {
			x[pe] = b.AddRunningSum(name, out.Elem, vector.First, v)
		} else {
			x[pe] = circuit.AddRunningMaximum(name, vector.First, v)
		}
	}
	b.AddOutputStream(circuit.PackIntoWord(out.Elem, x...), vector.Last)
	return b.FinishLayer()
}

// turn builds an iteration's part of the circuit: it combines the values x with the kept row of their channels, by
// addition or maximum. It overwrites x, stores the new row and returns it as a word. first holds in a frame's first
// vector. The next access to a row comes at least two iterations later: one clock to read, one to compute and write.
func (o *op) turn(b *circuit.Builder, f dataflow.Fold, fold, first circuit.Value, x []circuit.Value) circuit.Value {
	elem := o.Out[0].Elem
	kept := b.AddArray("kept", dataflow.CircuitStyleOf(o.storage(f), "kept"), o.WordsPerVector(f), f.PE*elem.Width)
	row := kept.ReadRowBefore(fold).DelayedByClocks(1)
	stage := row.Stage()
	next := b.BuildWithoutStageLimit(func() circuit.Value {
		for pe, v := range x {
			before := circuit.ElementOf(row, pe, elem)
			v = v.AtStage(stage)
			if o.P.Op == PoolingSum {
				x[pe] = circuit.LowBitsAsType(circuit.SumOfTwo(circuit.MuxByCondition(first.AtStage(stage),
					b.ConstantNumber(0), before), v),
					elem)
			} else {
				x[pe] = circuit.MuxByCondition(circuit.AnyHolds(first.AtStage(stage), circuit.IsGreater(v, before)), v,
					before)
			}
		}
		return circuit.PackIntoWord(elem, x...)
	})
	kept.WriteRow(fold, next, b.ConstantNumber(1))
	return next
}
