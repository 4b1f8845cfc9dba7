package threshold

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost is FINN's estimate of its Thresholding_hls.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	memory := cost.Distributed
	if f.Memory == dataflow.BRAM {
		memory = cost.Block
	}
	var c dataflow.Cost
	for _, p := range (cost.Thresholding{InBits: o.in.Elem.Width, PE: f.PE, Rows: o.rows(f.PE), Memory: memory}).FINN() {
		c = append(c, dataflow.Part{Name: p.Name, Resources: dataflow.Resources(p.Resources)})
	}
	return c
}
