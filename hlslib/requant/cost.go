package requant

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost counts a multiplier per PE by FINN's estimate of its MVAU's products, an adder per PE, and per limit that is
// reached a comparison and a choice. A shift is wiring. FINN has no formula for the whole.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	folds := o.channels / f.PE
	memory := cost.Distributed
	if f.Memory == dataflow.BRAM {
		memory = cost.Block
	}
	var products, tables, clip cost.Resources
	if o.multiplies() {
		products = cost.Multiplier(o.in.Elem.Width, o.multiplier.Width, f.Compute == dataflow.DSP).Times(f.PE)
	}
	if !common(o.p.Multiplier) {
		tables = cost.Table(f.PE*o.multiplier.Width, folds, memory)
	}
	if !common(o.p.Bias) {
		tables = tables.Plus(cost.Table(f.PE*o.bias.Width, folds, memory))
	}
	limits, width := o.out.Union(), max(1, o.sum.Width-o.p.Shift)
	if o.code.Lo < limits.Lo {
		clip = clip.Plus(cost.Maximum(width))
	}
	if o.code.Hi > limits.Hi {
		clip = clip.Plus(cost.Maximum(width))
	}
	return dataflow.Cost{
		{Name: "stream control", Resources: dataflow.Resources(cost.Counter(o.vectors).Plus(cost.Counter(folds)))},
		{Name: "parameter memory", Resources: dataflow.Resources(tables)},
		{Name: "multipliers", Resources: dataflow.Resources(products)},
		{Name: "adders", Resources: dataflow.Resources(cost.Adder(o.sum.Width).Times(f.PE))},
		{Name: "clipping", Resources: dataflow.Resources(clip.Times(f.PE))},
	}
}
