package dwc

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it returns the estimate for a width
// converter by the target's formula, FINN's or the fitted one.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	width := o.typ.Elem.Width
	return estimate.CostByTargetFormula(t, cost.WidthConverterShape{In: o.P.In * width, Out: o.P.Out * width})
}
