package add

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost counts a multiplier per PE and input whose factors need one, by FINN's estimate of its MVAU's products, an adder
// per PE, and the step functions by FINN's estimate of its Thresholding. FINN estimates nothing for its AddStreams.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	folds := o.channels / f.PE
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
			products = products.Plus(cost.Multiplier(in.Elem.Width, factor, f.Compute == dataflow.DSP).Times(f.PE))
		}
	}
	if o.table() {
		factors = cost.Table(2*f.PE*o.tableElem().Width, folds, memory)
	}
	c := dataflow.Cost{
		{Name: "stream control", Resources: dataflow.Resources(cost.Counter(o.vectors).Plus(cost.Counter(folds)))},
		{Name: "factor memory", Resources: dataflow.Resources(factors)},
		{Name: "multipliers", Resources: dataflow.Resources(products)},
		{Name: "adders", Resources: dataflow.Resources(cost.Adder(o.sum.Width).Times(f.PE))},
	}
	if len(o.compare.Over) > 0 {
		rows := folds
		if o.compare.Shared() {
			rows = 1
		}
		for _, p := range (cost.Thresholding{InBits: o.sum.Width, PE: f.PE, Rows: rows, Memory: memory}).FINN() {
			c = append(c, dataflow.Part{Name: p.Name, Resources: dataflow.Resources(p.Resources)})
		}
	}
	return c
}
