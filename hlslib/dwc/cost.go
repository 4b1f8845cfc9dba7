package dwc

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is that of FINN's StreamingDataWidthConverter, or the fitted one.
func (o *op) Cost(_ dataflow.Fold, t dataflow.Target) dataflow.Cost {
	return estimate.Of(t, cost.WidthConverter{In: o.p.In * o.typ.Elem.Width, Out: o.p.Out * o.typ.Elem.Width})
}
