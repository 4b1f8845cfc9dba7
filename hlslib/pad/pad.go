// Package pad is the padding of feature maps: around a frame of pixels and, for transposed convolutions, between
// them.
//
// A frame of H rows of W pixels becomes one of H' rows of W' pixels,
//
//	H' = Before[0] + H + (H-1)*Between[0] + After[0]
//
// and W' likewise: Before and After pixels around the frame, and Between pixels between neighbours. All channels of a
// padding pixel are Code.
//
// With C channels in words of SIMD elements the loop is
//
//	for y < H': for x < W': for fold < C/SIMD: one clock
//
// or H'*W'*C/SIMD clocks a frame (FINN's formula). Every iteration writes a word; iterations for a pixel of the frame
// also read it. If padding comes first, words are read one ahead: the first with the first word of padding, and each
// other word when the one before is written. So no frame begins before its first word has arrived.
//
// If the input's element type does not hold Code, the output has the narrowest type that holds Code and the input's
// range. Words are recoded on their way then.
package pad

import (
	"fmt"
	"math"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// LayerKind describes the padding in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with the
// given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "FMPadding",
	Doc:     "pixels of a constant around a feature map, and between its pixels (Pad, ConvTranspose)",
	Example: `{"before":[1,1],"after":[0,1],"between":[0,0],"code":0}`,
	Takes:   layer.CheckImageInput,
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"FMPadding_Pixel"}},
})

// Params are the parameters of the padding: how many pixels surround and separate those of the input, and their value.
// The first number of each pair is for rows, the second for columns.
type Params struct {
	Before  [2]int `json:"before"`
	After   [2]int `json:"after"`
	Between [2]int `json:"between"`
	Code    int64  `json:"code"` // value of the padding, of 32 bits
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	for _, n := range slices.Concat(p.Before[:], p.After[:], p.Between[:]) {
		if n < 0 || n > dataflow.MaxElementsPerFrame {
			return fmt.Errorf("padding by %d pixels, want 0 to %d", n, dataflow.MaxElementsPerFrame)
		}
	}
	if p.Code < math.MinInt32 || p.Code > math.MaxInt32 {
		return fmt.Errorf("padding with %d, want an integer of 32 bits", p.Code)
	}
	return nil
}

// axis returns the positions along an axis of the output that come from the input: rows for a = 0, columns for a = 1.
// The input has n of them.
func (p Params) axis(a, n int) dataflow.StridedPositions {
	step := p.Between[a] + 1
	end := p.Before[a] + (n-1)*step + 1
	return dataflow.StridedPositions{Length: end + p.After[a], First: p.Before[a], End: end, Step: step}
}

type op struct {
	layer.Base[Params]
	layer.MoveSchedule
	layer.NestedFrame // of the output; the pixels of the input are hit
}

// bind returns the layer for one input of shape [H, W, C], and its output [H', W', C] with the padding. It returns an
// error if the output has too many elements.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	shape := in[0].Shape
	o := &op{Base: b, NestedFrame: layer.NestedFrame{Rows: b.P.axis(0, shape[0]), Columns: b.P.axis(1, shape[1])}}
	h, w, most := o.Rows.Length, o.Columns.Length, dataflow.MaxElementsPerFrame/shape[2]
	if h > most || w > most/h {
		return nil, nil, fmt.Errorf("an output of shape [%d %d %d], at most %d elements are possible", h, w, shape[2],
			dataflow.MaxElementsPerFrame)
	}
	out := dataflow.StreamType{Shape: dataflow.Shape{h, w, shape[2]}, Range: in[0].Range, Elem: in[0].Elem}
	if h > shape[0] || w > shape[1] {
		out = layer.StreamTypeWithPaddingCode(out, b.P.Code)
	}
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
		p.Before, p.After = layer.ParamAlongAxisAsRows(axis, p.Before, 0), layer.ParamAlongAxisAsRows(axis, p.After, 0)
		p.Between = layer.ParamAlongAxisAsRows(axis, p.Between, 0)
		return New(p)
	})
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	h, w, width := o.In[0].Shape[0], o.In[0].Shape[1], o.Out[0].Shape[1]
	// from returns the pixel of the input at position at of the output, along an axis with n input pixels.
	from := func(axis, at, n int) (pixel int, ok bool) {
		at -= o.P.Before[axis]
		every := 1 + o.P.Between[axis]
		return at / every, at >= 0 && at%every == 0 && at/every < n
	}
	return dataflow.GatherComputation{Run: o.In[0].Shape[2], Fill: o.P.Code, At: func(_, r int) (input, at int) {
		row, ok0 := from(0, r/width, h)
		column, ok1 := from(1, r%width, w)
		if !ok0 || !ok1 {
			return -1, 0
		}
		return 0, row*w + column
	}}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	h, w, channels := o.In[0].Shape[0], o.In[0].Shape[1], o.In[0].Shape[2]
	width := o.Out[0].Shape[1]
	y := slices.Repeat([]int64{o.P.Code}, o.Out[0].Shape.ElementCount())
	for row := range h {
		for column := range w {
			to := (o.P.Before[0]+row*(1+o.P.Between[0]))*width + o.P.Before[1] + column*(1+o.P.Between[1])
			copy(y[to*channels:(to+1)*channels], in[0].Data[(row*w+column)*channels:])
		}
	}
	return []dataflow.Tensor{{Shape: o.Out[0].Shape, Data: y}}
}

// words returns the number of words in which a pixel's channels travel, with f.SIMD channels each.
func (o *op) words(f dataflow.Fold) int { return o.In[0].Shape.ChannelCount() / f.SIMD }

func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	both, write := dataflow.PortMoves{Read: 1, Write: 1}, dataflow.PortMoves{Write: 1}
	l := o.NestedFrame.LoopOverLargerFrame(o.words(f), both, write, t)
	if o.ahead() {
		last := l.IterationOfRead(0, l.WordsRead(0)-1)
		l.Body = dataflow.ReplaceIterationMoves(dataflow.ReplaceIterationMoves(l.Body, last, write), 0, both)
	}
	return layer.LoopWithBackEndLatency(o, f, t, l)
}

// ahead reports whether a frame of the output begins with padding. If so, each word is read one ahead: before the word
// in front of it is written.
func (o *op) ahead() bool { return o.Rows.First > 0 || o.Columns.First > 0 }

type kernel struct {
	*layer.NestedFrame
	words   int // per pixel
	padding dataflow.Word
	ahead   bool
	kept    dataflow.Word // the word that was read ahead
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{NestedFrame: &o.NestedFrame, words: o.words(f), padding: slices.Repeat(dataflow.Word{o.P.Code},
		f.SIMD),
		ahead: o.ahead()}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	x := in[0]
	if k.ahead {
		x = k.kept
		if in[0] != nil {
			k.kept = slices.Clone(in[0])
		}
	}
	if k.IsPixelInSmallerFrame(iteration / k.words) {
		return []dataflow.Word{slices.Clone(x)}
	}
	return []dataflow.Word{slices.Clone(k.padding)}
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "pad.hpp",
		Func:    "pad",
		Streams: []string{"in_t", "in_width", "out_t", "out_per_word", "out_width"},
		Config: o.ConfigFields(o.words(f), "rows of the output", "first row from the input",
			"first row after those", "distance between rows from the input",
			dataflow.ConfigField{Name: "code", Doc: "the padding", Value: int(o.P.Code)}),
	}
}
