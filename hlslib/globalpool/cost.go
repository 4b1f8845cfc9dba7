package globalpool

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost counts one join per PE, and the words that are kept. FINN estimates nothing.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	width, folds := o.out.Elem.Width, o.channels/f.PE
	join := cost.Maximum(width)
	if o.p.Op == Sum {
		join = cost.Adder(width)
	}
	if o.vectors == 1 { // nothing is joined
		join = cost.Resources{}
	}
	m := estimate.Model(t)
	return estimate.Layer(m, o.storage(f),
		m.Control(cost.Counter(folds).Plus(cost.Counter(o.vectors))),
		join.Times(f.PE).As("pooling"),
		m.Registers(f.PE*width),
	)
}

// storage is the layer's memories: the accumulators go round in shift registers, or, where they are many, lie in LUTs.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	rows := o.channels / f.PE
	if o.vectors == 1 {
		rows = 0
	}
	kept := dataflow.RAM("kept", "accumulators", rows, f.PE*o.out.Elem.Width)
	return []dataflow.Storage{kept.At(dataflow.LUTRAM).Shifted()}
}

// Delay is a sum's adder, or a comparison and a choice.
func (o *op) Delay(dataflow.Fold, dataflow.Target) float64 {
	if o.p.Op == Sum {
		return cost.CarriedDelay(1)
	}
	return cost.CarriedDelay(2)
}
