package dwc

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: in[0].Shape, Data: append([]int64(nil), in[0].Data...)}
	return []dataflow.Tensor{y}
}
