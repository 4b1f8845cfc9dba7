package lookup

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL. It reads an index, looks up the words of the row one after the other, and keeps the index
// meanwhile.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	words := o.words(f)
	fold := b.Counter("fold", words, b.Constant(1))
	index := circuit.AssumeRange(circuit.Element(b.Input(o.in.Elem.Width, fold.First), 0, o.in.Elem), o.in.Union())
	if words > 1 {
		kept := b.Register("index", circuit.Stage(index), index.Range())
		index = circuit.MuxByCondition(fold.First, index, kept.Value())
		kept.Set(index, b.Constant(1))
	}
	row := circuit.Sum(circuit.MultiplyByConstant(index, int64(words)), fold.Index)
	table := b.Table("rows", dataflow.StyleOf(o.Storage(f), "table"), o.out.Elem, f.PE, o.rows(f),
		func() [][]int64 { return o.table(f.PE) })
	b.Output(table.Row(row), b.Constant(1))
	return b.Layer()
}
