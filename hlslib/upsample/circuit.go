package upsample

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL. A word leaves when it is read, and again from a memory as often as it is repeated.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	trips := o.trips(f)
	levels := b.AddLoopCounters("at", trips[1:]...)
	row, column, again, word := levels[0], levels[1], levels[2], levels[3]
	reads := b.BuildWithoutStageLimit(func() circuit.Value { return circuit.AllHold(row.First, again.First) })
	x := b.AddInputStream(f.SIMD*o.In[0].Elem.Width, reads)
	if trips[1]*trips[3] > 1 {
		address := word.Index
		if trips[1] > 1 {
			address = circuit.SumOfTwo(circuit.MultiplyByConstant(column.Index, int64(trips[4])), word.Index)
		}
		kept := b.AddArray("kept", dataflow.CircuitStyleOf(o.storage(f), "kept"), o.kept(f), x.Width())
		kept.WriteRow(address, x, reads)
		x = circuit.MuxByCondition(reads, x, kept.ReadRowBefore(address))
	}
	b.AddOutputStream(x, b.ConstantNumber(1))
	return b.FinishLayer()
}
