package pad

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	h, w, channels := o.in.Shape[0], o.in.Shape[1], o.in.Shape[2]
	width := o.out.Shape[1]
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, o.out.Shape.Size())}
	for i := range y.Data {
		y.Data[i] = o.p.Code
	}
	for row := range h {
		for column := range w {
			to := (o.p.Before[0]+row*(1+o.p.Between[0]))*width + o.p.Before[1] + column*(1+o.p.Between[1])
			copy(y.Data[to*channels:(to+1)*channels], in[0].Data[(row*w+column)*channels:])
		}
	}
	return []dataflow.Tensor{y}
}
