package reorder

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape}
	for b := range o.blocks {
		block := in[0].Data[b*o.p.Block*o.p.Chunk:]
		for _, i := range o.p.Order {
			y.Data = append(y.Data, block[i*o.p.Chunk:(i+1)*o.p.Chunk]...)
		}
	}
	return []dataflow.Tensor{y}
}
