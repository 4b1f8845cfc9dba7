package add

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/estimate"
)

// Cost counts a multiplier per PE and input whose factors need one, an adder per PE, and the step functions like a
// Thresholding. FINN estimates nothing for its AddStreams.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, folds := estimate.Model(t), o.channels/f.PE
	memory := cost.Distributed
	if f.Memory == dataflow.BRAM {
		memory = cost.Block
	}
	var products, factors cost.Resources
	for i, in := range o.in {
		factor := o.factor[i].Width
		if o.table() {
			factor = o.tableElem().Width
		}
		if o.multiplies(i) {
			products = products.Plus(m.Multiplier(in.Elem.Width, factor, f.Compute == dataflow.DSP).Times(f.PE))
		}
	}
	if o.table() {
		factors = m.Table(2*f.PE*o.tableElem().Width, folds, memory)
	}
	parts := []cost.Part{
		m.Control(cost.Counter(o.vectors).Plus(cost.Counter(folds))),
		factors.As("factor memory"),
		products.As("multipliers"),
		cost.Adder(o.sum.Width).Times(f.PE).As("adders"),
		m.Registers(f.PE * o.sum.Width),
	}
	if len(o.compare.Over) > 0 {
		rows := folds
		if o.compare.Shared() {
			rows = 1
		}
		parts = append(parts, m.Steps(cost.Thresholding{InBits: o.sum.Width, PE: f.PE, Rows: rows, Memory: memory, Steps: o.compare.Steps()})...)
	}
	return estimate.Parts(parts...)
}
