package globalpool

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/estimate"
)

// Cost counts one join per PE, and the words that are kept: up to 32 of them in shift registers, a LUT per bit,
// more in distributed RAM, four LUTs per 64 words of 3 bits. FINN estimates nothing.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	width, folds := o.out.Elem.Width, o.channels/f.PE
	join := cost.Maximum(width)
	if o.p.Op == Sum {
		join = cost.Adder(width)
	}
	kept := cost.Resources{}
	switch word := f.PE * width; {
	case o.vectors == 1: // nothing is joined
		join = cost.Resources{}
	case folds == 1:
		kept.FF = word
	case folds <= shallow:
		kept.LUT = word
	default:
		kept.LUT = 4 * ((word + 2) / 3) * ((folds + 63) / 64)
	}
	m := estimate.Model(t)
	return estimate.Parts(
		m.Control(cost.Counter(folds).Plus(cost.Counter(o.vectors))),
		join.Times(f.PE).As("pooling"),
		kept.As("accumulators"),
		m.Registers(f.PE*width),
	)
}

// Delay is a sum's adder, or a comparison and a choice.
func (o *op) Delay(dataflow.Fold, dataflow.Target) float64 {
	if o.p.Op == Sum {
		return cost.CarriedDelay(1)
	}
	return cost.CarriedDelay(2)
}
