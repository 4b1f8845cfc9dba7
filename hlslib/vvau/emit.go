package vvau

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	config, tables := o.unit.Emit(f)
	return dataflow.Instance{
		Header: "vvau.hpp",
		Func:   "vvau",
		Config: append([]dataflow.Field{
			{Name: "vectors", Doc: "windows in a frame", Value: o.vectors},
			{Name: "nf", Doc: "output words of a window", Value: o.channels / f.PE},
			{Name: "sf", Doc: "input words of an output word", Value: o.positions / f.SIMD},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
			{Name: "simd", Doc: "positions of each consumed a clock", Value: f.SIMD},
		}, config...),
		Tables:  tables,
		Storage: o.unit.Storage(f),
	}
}
