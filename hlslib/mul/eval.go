package mul

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, len(in[0].Data))}
	for i, a := range in[0].Data {
		b := in[1].Data[i%len(in[1].Data)] // a gate starts again with every vector
		y.Data[i] = (a + o.p.Offset[0]) * (b + o.p.Offset[1])
		if n := len(o.p.Steps); n > 0 {
			y.Data[i] = o.p.Steps[min(i%o.channels, n-1)].Apply(y.Data[i])
		}
		if o.p.Requant != nil {
			y.Data[i] = o.p.Requant.Apply(y.Data[i])
		}
	}
	return []dataflow.Tensor{y}
}
