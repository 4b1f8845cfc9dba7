package labelselect

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "labelselect.hpp",
		Func:   "labelselect",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "folds", Doc: "words of a vector", Value: o.p.Labels / f.PE},
			{Name: "pe", Doc: "labels taken side by side", Value: f.PE},
			{Name: "k", Doc: "indices given of a vector", Value: o.p.K},
			{Name: "largest", Doc: "the largest label comes first, else the smallest", Value: o.p.First == Largest},
			{Name: "last_first", Doc: "of equal labels the one with the higher index comes first", Value: o.p.Ties == HigherIndex},
		},
	}
}
