package swg

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Dependence is that along a line of pixels, where frames are one.
func (o *op) Dependence() dataflow.Dependence {
	return layer.Along(o.in.Shape, o.out.Shape, func(axis, columns int) dataflow.Op {
		p := o.P
		if p.Kernel[1-axis] != 1 {
			return nil // its padding has weights
		}
		p.Kernel, p.Stride = layer.Axis(axis, p.Kernel, 1), layer.Axis(axis, p.Stride, 1)
		p.Dilation = layer.Axis(axis, p.Dilation, 1)
		p.Before, p.After = layer.Axis(axis, p.Before, 0), layer.Axis(axis, p.After, 0)
		return New(p)
	})
}

// Computation is Eval as data.
func (o *op) Computation() dataflow.Computation {
	height, width, kernel, before := o.in.Shape[0], o.in.Shape[1], o.P.Kernel, o.P.Before
	// pixel is the one of the input that lies at a place of an output; its border has places too.
	pixel := func(r int) (row, column int) {
		r, j := r/kernel[1], r%kernel[1]
		r, i := r/kernel[0], r%kernel[0]
		row = r/o.out.Shape[1]*o.P.Stride[0] - before[0] + i*o.P.Dilation[0]
		return row, r%o.out.Shape[1]*o.P.Stride[1] - before[1] + j*o.P.Dilation[1]
	}
	at := func(row, column int) int {
		if row < 0 || row >= height || column < 0 || column >= width {
			return -1
		}
		return row*width + column
	}
	g := dataflow.Gather{Run: o.channels, Fill: o.P.Pad, At: func(_, r int) (input, run int) {
		if run = at(pixel(r)); run < 0 {
			return -1, 0
		}
		return 0, run
	}}
	if o.P.Before != [2]int{} || o.P.After != [2]int{} {
		wide := before[1] + width + o.P.After[1]
		g.Border = &dataflow.Border{
			Runs: (before[0] + height + o.P.After[0]) * wide,
			In:   func(r int) int { return at(r/wide-before[0], r%wide-before[1]) },
			Of: func(r int) int {
				row, column := pixel(r)
				return (row+before[0])*wide + column + before[1]
			},
		}
	}
	return g
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	height, width := o.in.Shape[0], o.in.Shape[1]
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, 0, o.out.Shape.Size())}
	for oy := range o.out.Shape[0] {
		for ox := range o.out.Shape[1] {
			for i := range o.P.Kernel[0] {
				for j := range o.P.Kernel[1] {
					row := oy*o.P.Stride[0] - o.P.Before[0] + i*o.P.Dilation[0]
					column := ox*o.P.Stride[1] - o.P.Before[1] + j*o.P.Dilation[1]
					if 0 <= row && row < height && 0 <= column && column < width {
						y.Data = append(y.Data, in[0].Data[(row*width+column)*o.channels:][:o.channels]...)
						continue
					}
					for range o.channels {
						y.Data = append(y.Data, o.P.Pad)
					}
				}
			}
		}
	}
	return []dataflow.Tensor{y}
}
