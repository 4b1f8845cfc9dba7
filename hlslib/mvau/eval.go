package mvau

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, 0, o.vectors*o.mh)}
	for v := range o.vectors {
		x := in[0].Data[v*o.mw : (v+1)*o.mw]
		for c, row := range o.p.Weights {
			sum := int64(0)
			for k, w := range row {
				sum += w * x[k]
			}
			if s, ok := o.activation(c); ok {
				sum = s.Apply(sum)
			}
			y.Data = append(y.Data, sum)
		}
	}
	return []dataflow.Tensor{y}
}
