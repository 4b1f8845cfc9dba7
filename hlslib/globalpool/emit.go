package globalpool

import "hlsgen/internal/dataflow"

// shallow is the most words that are kept in a shift register: what one LUT holds of it.
const shallow = 32

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "globalpool.hpp",
		Func:   "globalpool",
		Config: []dataflow.Field{
			{Name: "vectors", Doc: "vectors in a frame", Value: o.vectors},
			{Name: "folds", Doc: "words of a vector", Value: o.channels / f.PE},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
			{Name: "shallow", Doc: "what is kept lies in a shift register", Value: o.channels/f.PE <= shallow},
			{Name: "sum", Doc: "add up, else take the maximum", Value: o.p.Op == Sum},
		},
	}
}
