package pool

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "pool.hpp",
		Func:   "pool",
		Config: []dataflow.Field{
			{Name: "words", Doc: "words that are written in a frame", Value: o.windows * o.channels / f.PE},
			{Name: "sf", Doc: "words of a window's tile", Value: o.positions / f.SIMD},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
			{Name: "simd", Doc: "positions of each taken a clock", Value: f.SIMD},
			{Name: "sum", Doc: "add up, else take the maximum", Value: o.p.Op == Sum},
		},
	}
}
