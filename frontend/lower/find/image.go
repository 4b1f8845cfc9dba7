package find

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// An Image is the input of a sliding window: pixels, and the padding around them.
type Image struct {
	*Operand      // the pixels, padding left out
	H, W, C       int
	Before, After [2]int
	Fill          int64         // the code of padding
	Affine        []real.Affine // per channel

	constants []*big.Rat // per channel of the tensor: its constant, where it is left out; nil where none is
}

// channelAxis is the axis of channels of a window's data.
func channelAxis(w *graph.Window, shape []int) int {
	if w.ChannelsLast {
		return len(shape) - 1
	}
	return 1
}

// Layout is the frame of a window's data or results, and the positions of its elements.
func Layout(w *graph.Window, shape []int) (dataflow.Shape, []int32) {
	return place.ChannelsLast(shape, channelAxis(w, shape))
}

// Frame lists the elements of a window's input in the order of its stream.
func Frame(w *graph.Window, shape []int) (dataflow.Shape, []int32, error) {
	if len(shape) < 3 || shape[0] != 1 {
		return nil, nil, unmapped.Because(fmt.Sprintf("its input has shape %v: the first axis is no single sample",
			shape), "export the model for one sample at a time")
	}
	to, at := Layout(w, shape)
	return to, place.Inverse(at, graph.Size(shape)), nil
}

// ImageOf reads the pixels that a window slides over. o is its data as Frame lists them, in a frame of the shape.
// Constants around the pixels are the window's padding where it can pad so far; otherwise they stay part of the
// operand.
func ImageOf(win *graph.Window, shape dataflow.Shape, o *Operand) (*Image, error) {
	im := &Image{}
	ok := true
	if o.Value != nil && win.Group == 1 {
		var kept []int
		if o, kept, im.constants, ok = o.WithoutConstants(shape.Channels()); !ok {
			return nil, unmapped.Because("its input does not depend on the data",
				"remove the constant part of the tensor")
		}
		shape = append(slices.Clone(shape[:len(shape)-1]), len(kept))
	}
	im.Operand = o
	im.H, im.W, im.C = place.Pixels(shape)
	if im.Affine, ok = o.Affine(im.C); !ok || slices.ContainsFunc(im.Affine,
		func(f real.Affine) bool { return f.Scale == nil }) {
		return nil, unmapped.Because("pixels of its input are scaled differently",
			"quantise activations per tensor or per channel")
	}
	if o.Value == nil {
		return im, nil
	}
	var reject error
	if im.Fill, reject = o.Fill(im.Affine); reject != nil {
		return nil, reject
	}
	b, ok := place.Inside(im.H, im.W, im.C, o.From)
	if !ok || b.DY > 1 || b.DX > 1 {
		return im, nil
	}
	before, after := [2]int{b.Y0, b.X0}, [2]int{im.H - 1 - b.Y1, im.W - 1 - b.X1}
	for axis := range 2 {
		if max(before[axis], after[axis]) >= (win.Kernel[axis]-1)*win.Dilation[axis]+1 {
			return im, nil
		}
	}
	inner := *o
	inner.Movement = o.Cut(b, im.W, im.C)
	im.Operand, im.H, im.W, im.Before, im.After = &inner, b.Rows(), b.Cols(), before, after
	return im, nil
}

// Shape is the frame of the pixels.
func (im *Image) Shape() dataflow.Shape { return dataflow.Shape{im.H, im.W, im.C} }

// Window is a window that slides over the image, for a layer.
func (im *Image) Window(win *graph.Window) choose.Window {
	covers := im.Before == [2]int{} && im.After == [2]int{} && win.Kernel == [2]int{im.H, im.W} &&
		win.Dilation == [2]int{1, 1}
	return choose.Window{Window: win, Channels: im.C, Covers: covers}
}

// channel is the constant of a channel of the tensor that was left out, or else its number among those that were not.
func (im *Image) channel(c int) (constant *big.Rat, kept int) {
	if im.constants == nil {
		return nil, c
	}
	if v := im.constants[c]; v != nil {
		return new(big.Rat).Set(v), 0
	}
	for _, v := range im.constants[:c] {
		if v == nil {
			kept++
		}
	}
	return nil, kept
}

// A Channels is the channels of a tensor: how many, and how far apart elements of neighbouring ones are.
type Channels struct{ N, Stride int }

// ChannelsOf are the channels of a window's data or results.
func ChannelsOf(w *graph.Window, shape []int) Channels {
	axis := channelAxis(w, shape)
	return Channels{shape[axis], graph.Size(shape[axis+1:])}
}

// Of is the channel of element i.
func (c Channels) Of(i int) int { return i / c.Stride % c.N }

// Convolution is the product of the image's windows with weights. of is the real values of the outputs.
func (im *Image) Convolution(step *graph.Step, w *graph.Tensor) (m choose.Matrix, of []real.Affine, reject error) {
	d, win := step.Dot, step.Window
	channels := ChannelsOf(win, step.Shape)
	window := im.Window(win)
	m = choose.Matrix{Groups: win.Group, Window: &window}
	var affine []real.Affine
	for c := range channels.N {
		column, in := make([]*big.Rat, 0, d.K), make([]real.Affine, 0, d.K)
		base, bias := int(d.BBase[c*channels.Stride]), new(big.Rat)
		first := c / (channels.N / win.Group) * win.Depth
		for k := range d.K {
			_, _, at := win.Tap(k)
			weight := new(big.Rat).SetFloat64(w.At(base + int(d.BOffset[k])))
			if v, kept := im.channel(first + at); v != nil {
				bias.Add(bias, v.Mul(v, weight))
			} else {
				column, in = append(column, weight), append(in, im.Affine[kept])
			}
		}
		row, f, reject := whole.Column(column, in)
		if reject != nil {
			return m, nil, reject
		}
		f.Bias = bias.Add(bias, f.Bias)
		m.Weights, affine = append(m.Weights, row), append(affine, f)
	}
	return m, scaled.Spread(affine, graph.Size(step.Shape), channels.Of), nil
}

// Unscaled reports whether no element of a tensor is a scaled integer at hand: each is a function of an integer that
// waits, as its place says, or of one that is no scale and bias.
func (p *Program) Unscaled(tensor string, waits func(*place.Place) bool) bool {
	forms, err := p.Integers.Forms(tensor, scaled.All(graph.Size(p.Known[tensor].Shape)))
	if err != nil {
		return false
	}
	for i := range forms.Of {
		leaves := forms.Of[i].Leaves()
		if len(leaves) != 1 {
			return false
		}
		at, ok := p.Ready(leaves[0].Tensor)
		if !ok || !waits(at) && rises(forms, i, at) {
			return false
		}
	}
	return true
}

// rises reports whether form i is a rising scale and bias of its integers.
func rises(forms *scaled.Forms, i int, at *place.Place) bool {
	k := 0 // an element of the form
	for forms.Which(k) != i {
		k++
	}
	e, _ := forms.Of[i].Numbers(k)
	f, ok := e.Within([]real.Interval{whole.Interval(at.Type.Union())}).Affine()
	return ok && f.Scale.Sign() > 0
}
