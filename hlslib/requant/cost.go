package requant

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// narrowerFactorBits returns the bits of the narrower factor of the products: an input or the multiplier.
func (o *op) narrowerFactorBits() int {
	return min(o.In[0].Elem.Width, max(o.multiplier.Width, o.low.multiplier.Width))
}

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts counters, registers, and the
// step functions, or the multiplier and what follows it, whichever the fold is built of. FINN itself has no formula for
// this layer; by its formulas the multiplier costs what it costs in FINN's MVAU.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	control, registers := m.StreamControlCost(o.CounterCost(f)), m.RegisterCost(f.PE*(o.sum.Width+o.Out[0].Elem.Width))
	if form := o.form(f); form != nil {
		registers = m.RegisterCost(f.PE * (o.In[0].Elem.Width + o.Out[0].Elem.Width))
		return estimate.MemoryAndLogicCost(m, form.Storage(), append(form.LogicCost(m), control, registers)...)
	}
	return estimate.MemoryAndLogicCost(m, o.Storage(f), append(o.logic(f, m), control, registers)...)
}

// logic returns the cost of an adder per PE, of a multiplier per PE if one is needed, and of rounding and clipping.
// These take an increment unless the layer rounds down, and a comparison and a choice for each limit that is exceeded.
func (o *op) logic(f dataflow.Fold, m cost.CostModel) []cost.CostPart {
	width := max(1, o.sum.Width-o.P.Shift)
	var products cost.Resources
	if o.P.multiplies() {
		products = m.MultiplierCost(o.In[0].Elem.Width, o.multiplier.Width,
			f.Compute == dataflow.MultiplierInDSPs).Times(f.PE)
	}
	adders := cost.AdderCost(o.sum.Width).Times(f.PE)
	if n := len(o.P.Low); n > 0 {
		products = products.Plus(m.MultiplierCost(o.In[0].Elem.Width, o.low.multiplier.Width,
			f.Compute == dataflow.MultiplierInDSPs).Times(f.PE * n))
		adders = adders.Times(2).Plus(cost.AdderCost(o.low.sum.Width).Times(f.PE * (2*n - 1)))
	}
	if o.P.Below != nil {
		adders = adders.Plus(cost.AdderCost(o.In[0].Elem.Width).Times(f.PE)) // the comparison
	}
	return []cost.CostPart{
		products.AsPart("multipliers"),
		adders.AsPart("adders"),
		layer.RoundingCost(o.P.Shift, o.P.mode(), width).Times(f.PE).AsPart("rounding"),
		layer.ClippingCost(o.code, o.limits, width).Times(f.PE).AsPart("clipping"),
	}
}

// Storage returns the memories of multipliers, biases and limits, which a fold has unless it is built of step
// functions.
func (o *op) Storage(f dataflow.Fold) []dataflow.Storage {
	list := make([]dataflow.Storage, 0, 3)
	for _, t := range o.tables(f) {
		list = append(list, t.StorageForCostPart("parameter memory").MovedToMemory(f.Memory))
	}
	return list
}
