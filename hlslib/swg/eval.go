package swg

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	height, width := o.in.Shape[0], o.in.Shape[1]
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, 0, o.out.Shape.Size())}
	for oy := range o.out.Shape[0] {
		for ox := range o.out.Shape[1] {
			for i := range o.P.Kernel[0] {
				for j := range o.P.Kernel[1] {
					row := oy*o.P.Stride[0] - o.P.Before[0] + i*o.P.Dilation[0]
					column := ox*o.P.Stride[1] - o.P.Before[1] + j*o.P.Dilation[1]
					for c := range o.channels {
						v := o.P.Pad
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
