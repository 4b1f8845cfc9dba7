package pad

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "pad.hpp",
		Func:   "pad",
		Config: []dataflow.Field{
			{Name: "rows", Doc: "rows written in a frame", Value: o.rows.Length},
			{Name: "first_row", Doc: "the first that is of the frame read", Value: o.rows.First},
			{Name: "end_row", Doc: "the first behind it", Value: o.rows.End},
			{Name: "row_step", Doc: "from one that is of the frame read to the next", Value: o.rows.Step},
			{Name: "columns", Doc: "and so for columns", Value: o.columns.Length},
			{Name: "first_column", Value: o.columns.First},
			{Name: "end_column", Value: o.columns.End},
			{Name: "column_step", Value: o.columns.Step},
			{Name: "words", Doc: "words of a pixel", Value: o.in.Shape.Channels() / f.SIMD},
			{Name: "code", Doc: "the padding", Value: int(o.p.Code)},
		},
	}
}
