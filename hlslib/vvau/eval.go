package vvau

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, o.vectors*o.channels)}
	for v := range o.vectors {
		out := y.Data[v*o.channels : (v+1)*o.channels]
		for c, row := range o.p.Weights {
			for k, w := range row {
				out[c] += w * in[0].Data[(v*o.positions+k)*o.channels+c]
			}
			if s, ok := o.unit.Step(c); ok {
				out[c] = s.Apply(out[c])
			}
		}
	}
	return []dataflow.Tensor{y}
}
