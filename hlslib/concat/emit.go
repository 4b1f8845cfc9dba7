package concat

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	types := make([]num.Type, len(o.in))
	for k, t := range o.in {
		types[k] = t.Elem
	}
	return dataflow.Instance{
		Header: "concat.hpp",
		Func:   "concat",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "words", Doc: "words of an output vector", Value: o.out.Shape.Channels() / f.SIMD},
			{Name: "in_words", Doc: "words of a vector, by input", Value: o.words(f.SIMD)},
			{Name: "in_types", Doc: "elements, by input", Value: types},
		},
	}
}
