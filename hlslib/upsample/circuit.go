package upsample

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL. A word leaves when it is read, and again from a memory as often as it is repeated.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	trips := o.trips(f)
	levels := b.LoopPosition("at", trips[1:]...)
	row, column, again, word := levels[0], levels[1], levels[2], levels[3]
	reads := b.WithoutStageLimit(func() circuit.Value { return circuit.All(row.First, again.First) })
	x := b.Input(f.SIMD*o.In[0].Elem.Width, reads)
	if trips[1]*trips[3] > 1 {
		address := word.Index
		if trips[1] > 1 {
			address = circuit.Sum(circuit.MultiplyByConstant(column.Index, int64(trips[4])), word.Index)
		}
		kept := b.Array("kept", dataflow.StyleOf(o.storage(f), "kept"), o.kept(f), x.Width())
		kept.Write(address, x, reads)
		x = circuit.MuxByCondition(reads, x, kept.Row(address))
	}
	b.Output(x, b.Constant(1))
	return b.Layer()
}
