package add

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// narrowerFactorBits returns the least width among the inputs and factors that are multiplied, or num.MaxTypeBits if
// none are.
func (o *op) narrowerFactorBits() int {
	bits := num.MaxTypeBits
	for i, in := range o.In {
		if o.P.multiplies(i) {
			bits = min(bits, in.Elem.Width, o.factor[i].Width)
		}
	}
	return bits
}

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts a multiplier per PE for each
// input that needs one, an adder per PE, and the step functions as Thresholding does. It also counts counters,
// registers and the tables' memories. FINN itself has no estimate for its AddStreams.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	var products cost.Resources
	for i, in := range o.In {
		factor := o.factor[i].Width
		if o.table() {
			factor = o.tableElem().Width
		}
		if o.P.multiplies(i) {
			products = products.Plus(m.MultiplierCost(in.Elem.Width, factor,
				f.Compute == dataflow.MultiplierInDSPs).Times(f.PE))
		}
	}
	return estimate.MemoryAndLogicCost(m, o.Storage(f), append([]cost.CostPart{
		m.StreamControlCost(o.CounterCost(f)),
		products.AsPart("multipliers"),
		cost.AdderCost(o.sum.Width).Times(f.PE).AsPart("adders"),
		m.RegisterCost(f.PE * o.sum.Width),
	}, o.steps.LogicCost(m, f)...)...)
}

// Storage returns the memories of the layer's tables: of the factors, if these need one, and of the step functions.
func (o *op) Storage(f dataflow.Fold) (list []dataflow.Storage) {
	if o.table() {
		width := 2 * f.PE * o.tableElem().Width
		list = append(list, dataflow.NewTableStorage("factors", "factor memory", o.WordsPerVector(f),
			width).MovedToMemory(f.Memory))
	}
	return append(list, o.steps.Storage(f)...)
}
