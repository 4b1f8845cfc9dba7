package concat

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape}
	for v := range o.vectors {
		for _, t := range in {
			c := t.Shape.Channels()
			y.Data = append(y.Data, t.Data[v*c:(v+1)*c]...)
		}
	}
	return []dataflow.Tensor{y}
}
