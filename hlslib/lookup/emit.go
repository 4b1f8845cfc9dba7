package lookup

import (
	"slices"

	"hlsgen/internal/dataflow"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "lookup.hpp",
		Func:   "lookup",
		Config: []dataflow.Field{
			{Name: "indices", Doc: "indices in a frame", Value: o.indices},
			{Name: "folds", Doc: "words given for an index", Value: o.depth / f.PE},
		},
		Tables: []dataflow.Table{
			{Name: "table", Doc: "by index and fold: element pe", Elem: o.out.Elem, Rows: o.table(f.PE)},
		},
		Storage: o.storage(f),
	}
}

// table is the rows of the memory.
func (o *op) table(pe int) [][]int64 {
	var rows [][]int64
	for _, row := range o.p.Table {
		rows = slices.AppendSeq(rows, slices.Chunk(row, pe))
	}
	return rows
}
