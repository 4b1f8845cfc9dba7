package dwc

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost is FINN's estimate.
func (o *op) Cost(dataflow.Fold, dataflow.Target) dataflow.Cost {
	var c dataflow.Cost
	for _, p := range cost.WidthConverterFINN(o.p.In*o.typ.Elem.Width, o.p.Out*o.typ.Elem.Width) {
		c = append(c, dataflow.Part{Name: p.Name, Resources: dataflow.Resources(p.Resources)})
	}
	return c
}
