package upsample

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "upsample.hpp",
		Func:   "upsample",
		Config: []dataflow.Field{
			{Name: "rows", Doc: "rows read in a frame", Value: o.in.Shape[0]},
			{Name: "columns", Doc: "pixels of a row read", Value: o.in.Shape[1]},
			{Name: "words", Doc: "words of a pixel", Value: o.in.Shape.Channels() / f.SIMD},
			{Name: "row_scale", Doc: "times that a row is written", Value: o.p.Scale[0]},
			{Name: "column_scale", Doc: "times that a pixel is written in a row", Value: o.p.Scale[1]},
		},
		Storage: o.storage(f),
	}
}
