// Package crop keeps some rows and columns of a frame of pixels: Start, Start+Step, and so on, below Stop.
//
// With H rows of W pixels of C channels, in words of SIMD elements, the loop is
//
//	for y < H: for x < W: for fold < C/SIMD: one clock
//
// or H*W*C/SIMD clocks a frame (FINN's formula). Every iteration reads a word; iterations for a kept pixel also write
// it.
package crop

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// LayerKind describes the cropping in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with the
// given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "Crop",
	Doc:     "some rows and columns of a feature map (Slice, cropping, subsampling)",
	Example: `{"start":[0,1],"stop":[3,2],"step":[1,1]}`,
	Takes:   layer.CheckImageInput,
	Bind:    bind,
})

// Params are the parameters of the cropping: which rows and columns are kept. The first number of each pair is for
// rows, the second for columns.
type Params struct {
	Start [2]int `json:"start"`
	Stop  [2]int `json:"stop"` // the first row or column after the kept ones
	Step  [2]int `json:"step"`
}

var axes = [2]string{"rows", "columns"}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	for a, name := range axes {
		if p.Start[a] < 0 || p.Stop[a] <= p.Start[a] {
			return fmt.Errorf("%s from %d to before %d, want at least one", name, p.Start[a], p.Stop[a])
		}
		if p.Step[a] < 1 || p.Step[a] > dataflow.MaxElementsPerFrame {
			return fmt.Errorf("%s in steps of %d, want 1 to %d", name, p.Step[a], dataflow.MaxElementsPerFrame)
		}
	}
	return nil
}

// axis returns the positions along an axis that are kept: rows for a = 0, columns for a = 1. The input has n of them.
func (p Params) axis(a, n int) dataflow.StridedPositions {
	return dataflow.StridedPositions{Length: n, First: p.Start[a], End: p.Stop[a], Step: p.Step[a]}
}

type op struct {
	layer.Base[Params]
	layer.MoveSchedule
	layer.NestedFrame // of the input; kept pixels are hit
}

// bind returns the layer for one input of shape [H, W, C]. Its output has the kept rows and columns, and the input's
// type and ranges. It returns an error if H or W is less than Stop.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	shape := in[0].Shape
	for a, name := range axes {
		if b.P.Stop[a] > shape[a] {
			return nil, nil, fmt.Errorf("%s to before %d of an input of shape %v, which has %d", name, b.P.Stop[a],
				shape, shape[a])
		}
	}
	o := &op{Base: b, NestedFrame: layer.NestedFrame{Rows: b.P.axis(0, shape[0]), Columns: b.P.axis(1, shape[1])}}
	out := in[0]
	out.Shape = dataflow.Shape{o.Rows.HitCount(), o.Columns.HitCount(), shape[2]}
	o.MoveSchedule = layer.MoveSchedule{In: in, Out: []dataflow.StreamType{out}, SIMD: dataflow.Divisors(shape[2])}
	return o, o.Out, nil
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	return d
}

// dependence returns which pixels an output pixel depends on, for frames of a single row or column. For any other frame
// it says that no part can be computed alone.
func (o *op) dependence() dataflow.Dependence {
	return layer.LineDependenceOf(o.In[0].Shape, o.Out[0].Shape, func(axis, columns int) dataflow.Op {
		p := o.P
		p.Start, p.Stop = layer.ParamAlongAxisAsRows(axis, p.Start, 0), layer.ParamAlongAxisAsRows(axis, p.Stop,
			columns)
		p.Step = layer.ParamAlongAxisAsRows(axis, p.Step, 1)
		return New(p)
	})
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	w, width := o.In[0].Shape[1], o.Out[0].Shape[1]
	return dataflow.GatherComputation{Run: o.In[0].Shape[2], At: func(_, r int) (input, at int) {
		return 0, (o.P.Start[0]+r/width*o.P.Step[0])*w + o.P.Start[1] + r%width*o.P.Step[1]
	}}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	w, channels := o.In[0].Shape[1], o.In[0].Shape[2]
	y := dataflow.Tensor{Shape: o.Out[0].Shape}
	for row := o.P.Start[0]; row < o.P.Stop[0]; row += o.P.Step[0] {
		for column := o.P.Start[1]; column < o.P.Stop[1]; column += o.P.Step[1] {
			y.Data = append(y.Data, in[0].Data[(row*w+column)*channels:][:channels]...)
		}
	}
	return []dataflow.Tensor{y}
}

// words returns the number of words in which a pixel's channels travel, with f.SIMD channels each.
func (o *op) words(f dataflow.Fold) int { return o.In[0].Shape.ChannelCount() / f.SIMD }

func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	both, read := dataflow.PortMoves{Read: 1, Write: 1}, dataflow.PortMoves{Read: 1}
	return layer.LoopWithBackEndLatency(o, f, t, o.NestedFrame.LoopOverLargerFrame(o.words(f), both, read, t))
}

type kernel struct {
	*layer.NestedFrame
	words int // per pixel
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{&o.NestedFrame, o.words(f)}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	if !k.IsPixelInSmallerFrame(iteration / k.words) {
		return []dataflow.Word{nil}
	}
	return []dataflow.Word{slices.Clone(in[0])}
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "crop.hpp",
		Func:    "crop",
		Streams: []string{"in_width", "out_width"},
		Config: o.ConfigFields(o.words(f), "rows of the input", "first kept row", "first row after the kept ones",
			"distance between kept rows"),
	}
}
