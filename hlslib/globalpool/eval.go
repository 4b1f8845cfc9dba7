package globalpool

import (
	"slices"

	"hlsgen/internal/dataflow"
)

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: slices.Clone(in[0].Data[:o.channels])}
	for i, x := range in[0].Data[o.channels:] {
		c := i % o.channels
		if o.p.Op == Sum {
			y.Data[c] += x
		} else {
			y.Data[c] = max(y.Data[c], x)
		}
	}
	return []dataflow.Tensor{y}
}
