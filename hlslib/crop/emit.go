package crop

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "crop.hpp",
		Func:   "crop",
		Config: []dataflow.Field{
			{Name: "rows", Doc: "rows read in a frame", Value: o.rows.Length},
			{Name: "first_row", Doc: "the first that stays", Value: o.rows.First},
			{Name: "end_row", Doc: "the first behind those", Value: o.rows.End},
			{Name: "row_step", Doc: "from one that stays to the next", Value: o.rows.Step},
			{Name: "columns", Doc: "and so for columns", Value: o.columns.Length},
			{Name: "first_column", Value: o.columns.First},
			{Name: "end_column", Value: o.columns.End},
			{Name: "column_step", Value: o.columns.Step},
			{Name: "words", Doc: "words of a pixel", Value: o.in.Shape.Channels() / f.SIMD},
		},
	}
}
