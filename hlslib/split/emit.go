package split

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "split.hpp",
		Func:   "split",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "words", Doc: "words of an input vector", Value: o.in.Shape.Channels() / f.SIMD},
			{Name: "out_words", Doc: "words of a vector, by output", Value: o.words(f.SIMD)},
		},
	}
}
