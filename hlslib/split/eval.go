package split

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := make([]dataflow.Tensor, len(o.out))
	rest := in[0].Data
	for range o.vectors {
		for k, c := range o.p.Channels {
			y[k].Data = append(y[k].Data, rest[:c]...)
			rest = rest[c:]
		}
	}
	for k, t := range o.out {
		y[k].Shape = t.Shape
	}
	return y
}
