package threshold

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	config, tables := dataflow.StepTables(o.compare, f.PE, o.in.Elem)
	return dataflow.Instance{
		Header: "threshold.hpp",
		Func:   "threshold",
		Config: append([]dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "folds", Doc: "words of a vector", Value: o.channels / f.PE},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
		}, config...),
		Tables:  tables,
		Storage: o.storage(f),
	}
}
