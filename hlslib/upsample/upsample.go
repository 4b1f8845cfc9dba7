// Package upsample repeats the pixels of a frame, out[y][x] = in[y/Scale[0]][x/Scale[1]].
//
// With H rows of W pixels of C channels, in words of SIMD elements, the loop is
//
//	for y < H: for r < Scale[0]: for x < W: for s < Scale[1]: for fold < C/SIMD: one clock
//
// or as many clocks a frame as it writes words: H*W*C/SIMD times both scales (FINN's formula). Every iteration writes
// a word; iterations with r = 0 and s = 0 also read it. The layer keeps it for the others: a row of words if rows are
// repeated, else the words of a pixel.
package upsample

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// LayerKind describes the upsampling in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with
// the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "UpsampleNearestNeighbour",
	Doc:     "every pixel several times (Resize and Upsample to the nearest neighbour)",
	Example: `{"scale":[2,2]}`,
	Takes:   layer.CheckImageInput,
	Bind:    bind,
})

// Params hold the only parameter of the upsampling: how often every row and every column is repeated.
type Params struct {
	Scale [2]int `json:"scale"` // of rows and of columns
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	for _, s := range p.Scale {
		if s < 1 || s > dataflow.MaxElementsPerFrame {
			return fmt.Errorf("scales of %d by %d, want 1 to %d", p.Scale[0], p.Scale[1], dataflow.MaxElementsPerFrame)
		}
	}
	return nil
}

type op struct {
	layer.Base[Params]
	layer.MoveSchedule
}

// bind returns the layer for one input of shape [H, W, C]. The output has the shape [H*Scale[0], W*Scale[1], C], and
// the input's element type and ranges. It returns an error if that is too large.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	shape, s := in[0].Shape, b.P.Scale
	if s[0] > dataflow.MaxElementsPerFrame/shape.ElementCount()/s[1] {
		return nil, nil, fmt.Errorf("an input of shape %v scaled by %d and %d, at most %d elements are possible",
			shape, s[0], s[1], dataflow.MaxElementsPerFrame)
	}
	out := in[0]
	out.Shape = dataflow.Shape{shape[0] * s[0], shape[1] * s[1], shape[2]}
	o := &op{b, layer.MoveSchedule{In: in, Out: []dataflow.StreamType{out}, SIMD: dataflow.Divisors(shape[2])}}
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
		p.Scale = layer.ParamAlongAxisAsRows(axis, p.Scale, 1)
		return New(p)
	})
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	w, width := o.In[0].Shape[1], o.Out[0].Shape[1]
	return dataflow.GatherComputation{Run: o.In[0].Shape[2], At: func(_, r int) (input, at int) {
		return 0, r/width/o.P.Scale[0]*w + r%width/o.P.Scale[1]
	}}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	w, channels := o.In[0].Shape[1], o.In[0].Shape[2]
	y := dataflow.Tensor{Shape: o.Out[0].Shape}
	for row := range y.Shape[0] {
		for column := range y.Shape[1] {
			from := row/o.P.Scale[0]*w + column/o.P.Scale[1]
			y.Data = append(y.Data, in[0].Data[from*channels:][:channels]...)
		}
	}
	return []dataflow.Tensor{y}
}

// trips returns the extents of the loop, outermost first. They are rows, repetitions of a row, pixels of a row,
// repetitions of a pixel, and words of a pixel.
func (o *op) trips(f dataflow.Fold) []int {
	shape, scale := o.In[0].Shape, o.P.Scale
	return []int{shape[0], scale[0], shape[1], scale[1], shape[2] / f.SIMD}
}

// kept returns how many words are kept for repetitions: those of an input row, or of a pixel if rows are not repeated.
func (o *op) kept(f dataflow.Fold) int {
	words := o.In[0].Shape[2] / f.SIMD
	if o.P.Scale[0] > 1 {
		words *= o.In[0].Shape[1]
	}
	return words
}

// Loop returns the loop over the output words. In HLS its latency is that of a word that is either read or taken from
// the buffer, in RTL the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoConditionalStreamRead()
	if o.P.Scale[0] > 1 { // a row may have any length
		c.DoCounterLookup(2, f.SIMD*o.In[0].Elem.Width, dataflow.MemoryBRAM)
	} else {
		c.DoCounterLookup(o.kept(f), f.SIMD*o.In[0].Elem.Width, dataflow.NoMemory)
	}
	c.DoSelect(1)
	each, first := dataflow.IndexSet{Kind: dataflow.IndexSetKindEvery},
		dataflow.IndexSet{Kind: dataflow.IndexSetKindFirst}
	return layer.LoopWithBackEndLatency(o, f, t, dataflow.LoopNest{
		Trips:   o.trips(f),
		Read:    []dataflow.PortMoveIndices{{each, first, each, first, each}},
		Write:   []dataflow.PortMoveIndices{{each, each, each, each, each}},
		Latency: c.DoStreamWrite(),
	}.AsLoop())
}

type kernel struct {
	scale          [2]int
	columns, words int // columns of an input row, and words per pixel
	kept           []dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	trips := o.trips(f)
	return &kernel{o.P.Scale, trips[2], trips[4], make([]dataflow.Word, o.kept(f))}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	fold, pixel := iteration%k.words, iteration/k.words
	again, pixel := pixel%k.scale[1], pixel/k.scale[1]
	column, row := pixel%k.columns, pixel/k.columns
	at := fold
	if k.scale[0] > 1 {
		at += column * k.words
	}
	if row%k.scale[0] == 0 && again == 0 {
		k.kept[at] = slices.Clone(in[0])
	}
	return []dataflow.Word{slices.Clone(k.kept[at])}
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	trips := o.trips(f)
	return dataflow.KernelInstance{
		Header:  "upsample.hpp",
		Func:    "upsample",
		Streams: []string{"in_width", "out_width"},
		Config: []dataflow.ConfigField{
			{Name: "columns", Doc: "pixels of an input row", Value: trips[2]},
			{Name: "words", Doc: "words of a pixel", Value: trips[4]},
			{Name: "row_scale", Doc: "times that a row is written", Value: trips[1]},
			{Name: "column_scale", Doc: "times that a pixel is written in a row", Value: trips[3]},
		},
		Storage: o.storage(f),
	}
}
