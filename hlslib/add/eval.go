package add

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, len(in[0].Data))}
	for i, a := range in[0].Data {
		b, c := in[1].Data[i], i%o.channels
		y.Data[i] = o.p.factor(0, c)*a + o.p.factor(1, c)*b
		if n := len(o.p.Steps); n > 0 {
			y.Data[i] = o.p.Steps[min(c, n-1)].Apply(y.Data[i])
		}
	}
	return []dataflow.Tensor{y}
}
