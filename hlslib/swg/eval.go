package swg

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence = func() dataflow.Dependence { return dependence(o) }
	d.Computation, d.EvalRows = o.computation, o.evalRows
	d.CarriedDelayNS = o.carriedDelayNS
	d.Minifloats = dataflow.MinifloatsPassedOn
	return d
}

// dependence returns which pixels an output pixel depends on, for frames of a single row or column and kernels no wider
// than that. For any other frame or kernel it says that no part can be computed alone.
func dependence(o *op) dataflow.Dependence {
	return layer.LineDependenceOf(o.in.Shape, o.out.Shape, func(axis, columns int) dataflow.Op {
		p := o.P
		if p.Kernel[1-axis] != 1 {
			return nil // its padding would meet weights
		}
		p.Kernel, p.Stride = layer.ParamAlongAxisAsRows(axis, p.Kernel, 1), layer.ParamAlongAxisAsRows(axis, p.Stride,
			1)
		p.Dilation = layer.ParamAlongAxisAsRows(axis, p.Dilation, 1)
		p.Before, p.After = layer.ParamAlongAxisAsRows(axis, p.Before, 0), layer.ParamAlongAxisAsRows(axis, p.After, 0)
		return New(p)
	})
}

// computation describes Eval as data, which compiled engines execute: every tap is a copy of a pixel.
func (o *op) computation() dataflow.Computation {
	height, width, kernel, before := o.in.Shape[0], o.in.Shape[1], o.P.Kernel, o.P.Before
	// pixel returns the input's pixel for output position r. It may lie outside of the frame, in the border.
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
	g := dataflow.GatherComputation{Run: o.channels, Fill: o.P.Pad, At: func(_, r int) (input, run int) {
		if run = at(pixel(r)); run < 0 {
			return -1, 0
		}
		return 0, run
	}}
	if o.P.Before != [2]int{} || o.P.After != [2]int{} {
		wide := before[1] + width + o.P.After[1]
		g.Border = &dataflow.GatherBorder{
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
	size := o.in.Shape[1] * o.channels
	row := func(i int) []int64 { return in[0].Data[i*size:][:size] }
	return []dataflow.Tensor{{Shape: o.out.Shape, Data: o.evalRows(row, 0, o.out.Shape[0])}}
}

// evalRows returns the rows from to to-1 of Eval's output, of which in returns the rows of the input.
func (o *op) evalRows(in func(row int) []int64, from, to int) []int64 {
	height, width := o.in.Shape[0], o.in.Shape[1]
	y := make([]int64, 0, (to-from)*o.out.Shape[1:].ElementCount())
	rows := make([][]int64, o.P.Kernel[0]) // the rows under a window; nil outside of the frame
	for oy := from; oy < to; oy++ {
		for i := range rows {
			rows[i] = nil
			if row := oy*o.P.Stride[0] - o.P.Before[0] + i*o.P.Dilation[0]; 0 <= row && row < height {
				rows[i] = in(row)
			}
		}
		for ox := range o.out.Shape[1] {
			for _, row := range rows {
				for j := range o.P.Kernel[1] {
					column := ox*o.P.Stride[1] - o.P.Before[1] + j*o.P.Dilation[1]
					if row != nil && 0 <= column && column < width {
						y = append(y, row[column*o.channels:][:o.channels]...)
						continue
					}
					for range o.channels {
						y = append(y, o.P.Pad)
					}
				}
			}
		}
	}
	return y
}
