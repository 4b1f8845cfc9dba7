package crop

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	w, channels := o.in.Shape[1], o.in.Shape[2]
	y := dataflow.Tensor{Shape: o.out.Shape}
	for row := o.p.Start[0]; row < o.p.Stop[0]; row += o.p.Step[0] {
		for column := o.p.Start[1]; column < o.p.Stop[1]; column += o.p.Step[1] {
			y.Data = append(y.Data, in[0].Data[(row*w+column)*channels:][:channels]...)
		}
	}
	return []dataflow.Tensor{y}
}
