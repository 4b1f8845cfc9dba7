package lookup

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL. It reads an index, looks up the words of the row one after the other, and keeps the
// index meanwhile.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	words := o.words(f)
	fold := b.AddCounter("fold", words, b.ConstantNumber(1))
	index := circuit.AssumeRange(circuit.ElementOf(b.AddInputStream(o.in.Elem.Width, fold.First), 0, o.in.Elem),
		o.in.UnionOfRanges())
	if words > 1 {
		kept := b.AddRegister("index", circuit.FirstCommonStage(index), index.Range())
		index = circuit.MuxByCondition(fold.First, index, kept.ValueBefore())
		kept.SetNext(index, b.ConstantNumber(1))
	}
	row := circuit.SumOfTwo(circuit.MultiplyByConstant(index, int64(words)), fold.Index)
	table := b.AddTable("rows", dataflow.CircuitStyleOf(o.Storage(f), "table"), o.out.Elem, f.PE, o.rows(f),
		func() [][]int64 { return o.table(f.PE) })
	b.AddOutputStream(table.ReadRow(row), b.ConstantNumber(1))
	return b.FinishLayer()
}
