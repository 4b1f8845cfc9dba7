package globalpool

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Cost counts one join per PE, and the words that are kept. FINN estimates nothing.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.Priced(o, f, t); ok {
		return c
	}
	m, width := estimate.Model(t), o.Out[0].Elem.Width
	var join cost.Resources
	if o.Vectors > 1 {
		join = o.P.Op.Joiner(width)
	}
	return estimate.Layer(m, o.storage(f),
		m.Control(o.Counters(f)),
		join.Times(f.PE).As("pooling"),
		m.Registers(f.PE*width),
	)
}

// storage is the layer's memories: the accumulators go round in shift registers, or, where they are many, lie in LUTs.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	rows := o.Words(f)
	if o.Vectors == 1 {
		rows = 0
	}
	kept := dataflow.RAM("kept", "accumulators", rows, f.PE*o.Out[0].Elem.Width)
	return []dataflow.Storage{kept.At(dataflow.LUTRAM).Shifted()}
}

// Delay is that of joining a value with what is kept.
func (o *op) Delay(dataflow.Fold, dataflow.Target) float64 { return o.P.Op.Delay() }
