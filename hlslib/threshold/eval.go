package threshold

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, len(in[0].Data))}
	for i, x := range in[0].Data {
		y.Data[i] = o.step(i % o.channels).Apply(x)
	}
	return []dataflow.Tensor{y}
}
