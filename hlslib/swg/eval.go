package swg

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	height, width := o.in.Shape[0], o.in.Shape[1]
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, 0, o.out.Shape.Size())}
	for oy := range o.out.Shape[0] {
		for ox := range o.out.Shape[1] {
			for i := range o.p.Kernel[0] {
				for j := range o.p.Kernel[1] {
					row := oy*o.p.Stride[0] - o.p.Before[0] + i*o.p.Dilation[0]
					column := ox*o.p.Stride[1] - o.p.Before[1] + j*o.p.Dilation[1]
					for c := range o.channels {
						v := o.p.Pad
						if 0 <= row && row < height && 0 <= column && column < width {
							v = in[0].Data[(row*width+column)*o.channels+c]
						}
						y.Data = append(y.Data, v)
					}
				}
			}
		}
	}
	return []dataflow.Tensor{y}
}
