package requant

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, len(in[0].Data))}
	for i, x := range in[0].Data {
		y.Data[i] = o.p.apply(i%o.channels, x)
	}
	return []dataflow.Tensor{y}
}

// apply is the output of channel c at x, where the sum stays within 64 bits.
func (p Params) apply(c int, x int64) int64 {
	return p.clip(p.code(of(p.Multiplier, c)*x + of(p.Bias, c)))
}
