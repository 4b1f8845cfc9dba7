package dwc

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is that of FINN's StreamingDataWidthConverter, or the fitted one.
func (o *op) Cost(_ dataflow.Fold, t dataflow.Target) dataflow.Cost {
	width := o.typ.Elem.Width
	return estimate.Of(t, cost.WidthConverter{In: o.P.In * width, Out: o.P.Out * width})
}
