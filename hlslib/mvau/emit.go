package mvau

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	nf, sf := o.folds(f)
	config, tables := o.unit.Emit(f)
	return dataflow.Instance{
		Header: "mvau.hpp",
		Func:   "mvau",
		Config: append([]dataflow.Field{
			{Name: "vectors", Doc: "input vectors in a frame", Value: o.vectors},
			{Name: "groups", Doc: "parts of a vector, each with outputs of its own", Value: o.p.groups()},
			{Name: "nf", Doc: "output words of a group", Value: nf},
			{Name: "sf", Doc: "input words of a group", Value: sf},
			{Name: "pe", Doc: "outputs computed side by side", Value: f.PE},
			{Name: "simd", Doc: "inputs of each consumed a clock", Value: f.SIMD},
		}, config...),
		Tables:  tables,
		Storage: o.storage(f),
	}
}
