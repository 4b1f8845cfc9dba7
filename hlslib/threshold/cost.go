package threshold

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is that of FINN's Thresholding_hls, or the fitted one.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	return estimate.Storing(t, cost.Thresholding{
		InBits: o.in.Elem.Width, PE: f.PE, Rows: o.rows(f.PE), Memory: estimate.Memory(f.Memory),
		Fabric: estimate.Model(t).Fabric, Steps: o.compare.Steps(),
	}, o.storage(f))
}

// storage is the layer's memories: its tables.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	return dataflow.StepStorage(o.compare, f.PE, o.in.Elem, f.Memory)
}

// Delay is that of the counter of words: values come and go.
func (o *op) Delay(dataflow.Fold, dataflow.Target) float64 { return cost.CarriedDelay(1) }
