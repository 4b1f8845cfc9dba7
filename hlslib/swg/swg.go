// Package swg is the sliding window: it makes the windows of a convolution or a pooling out of a frame, padding
// included.
//
// A frame x is [H, W, C]; its windows are [OH, OW, K, C] with K = KH*KW kernel positions,
//
//	y[oy][ox][i*KW+j][c] = x[oy*sh-bh+i*dh][ox*sw-bw+j*dw][c]
//
// or the code Pad where that pixel lies outside of the frame. Along each axis O = floor((N+b+a-e)/s)+1, e = d*(k-1)+1
// being what a window reaches over.
//
// SIMD channels make an input word, so that a pixel is CF = C/SIMD words. Windows are written in raster order, and
// each tile by tile: a tile is all channels where Groups is 1, the channels of a group otherwise, and SIMD channels
// where every channel is a group of its own (depthwise). A tile holds its kernel positions in order, and each of these
// its channels. PE kernel positions make an output word: one, or all K with all channels of a tile.
//
// # One position a clock (PE = 1)
//
// A ring holds B pixels. A slot is CF clocks, in each of which at most one word is read into the ring and at most one
// written out of it. Taps outside of the frame count as its nearest pixel; N(w) is the pixels up to and including the
// last one that window w touches, k(w) the first one that w or a later window touches. Windows take K slots each, and
// with g pixels read at the beginning of window w
//
//	wait(w)  = max(0, N(w)-g)                          slots that read only,
//	both(w)  = min(K, min(HW, k(w)+B) - g - wait(w))   slots that read and write (not below 0),
//	K-both(w)                                          slots that write only,
//	g       += wait(w) + both(w)
//
// A frame ends when the rest of it, HW-g, has been read, so that it takes
//
//	CF * (OH*OW*K + sum of wait(w) + HW - g)   clocks.
//
// B is the smallest ring with which a frame takes as few clocks as with one that holds, together with every window,
// what the next one needs: max over w of max(N(w), N(w+1)) - k(w).
//
// # All positions a clock (PE = K)
//
// One word a clock is shifted into line delays and window registers, whose taps lie at fixed distances; those outside
// of the frame are replaced by Pad. The last tap of a window has the raster index
//
//	t(oy,ox) = (oy*sh-bh+(KH-1)*dh)*W + ox*sw-bw+(KW-1)*dw
//
// which may lie beyond the frame; then what is shifted in does not matter. A window is written while that pixel comes
// in, and a frame takes
//
//	CF * max(H*W, t(OH-1,OW-1)+1)   clocks.
//
// This wants t to increase from window to window, or (OW-1)*sw < sh*W. With a stride of 1 and OW = W one word is
// written every clock from the first to the last.
package swg

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Layer is the row of the sliding window in the table of layers; New makes one.
var Layer, New = layer.Define(layer.Definition[Params]{
	Name:    "ConvolutionInputGenerator",
	Doc:     "the windows of a frame, padded (in front of convolutions and poolings)",
	Example: `{"kernel":[3,3],"stride":[1,1],"dilation":[1,1],"before":[1,1],"after":[1,1],"pad":0,"groups":1}`,
	Stepped: true,
	Takes:   layer.Image,
	Bind:    bind,
	FINN:    dataflow.FINNFile{Names: []string{"ConvolutionInputGenerator1D"}, ParallelWindow: true},
})

// Limits of what Bind accepts.
const (
	MaxExtent  = 1 << 20 // of a kernel, a stride and a dilation, along one axis
	MaxFrame   = 1 << 28 // elements of a frame with its padding: counters of words are ints of C++
	MaxWindows = 1 << 25 // in a frame
)

// Params makes the layer. Of each pair the first is along the height, the second along the width.
type Params struct {
	Kernel   [2]int `json:"kernel"`
	Stride   [2]int `json:"stride"`
	Dilation [2]int `json:"dilation"`
	Before   [2]int `json:"before"` // rows above the frame, columns left of it
	After    [2]int `json:"after"`  // rows below the frame, columns right of it
	Pad      int64  `json:"pad"`    // the code of a pixel outside of the frame
	Groups   int    `json:"groups"` // sets of channels that are written apart; divides the channels
}

type op struct {
	dataflow.Mover
	layer.Base[Params]
	in, out  dataflow.Type
	g        geometry
	channels int
	padded   bool  // some window has a tap outside of the frame
	simd     []int // what divides the channels of a tile
	serial   schedule
	parallel schedule // empty where windows do not come in raster order
}

// Verify says what is wrong with p whatever the inputs.
func (p Params) Verify() error {
	for a := range 2 {
		for _, v := range []struct {
			name  string
			value int
		}{{"kernel", p.Kernel[a]}, {"stride", p.Stride[a]}, {"dilation", p.Dilation[a]}} {
			if v.value < 1 || v.value > MaxExtent {
				return fmt.Errorf("a %s of %d, want 1 to %d", v.name, v.value, MaxExtent)
			}
		}
		reach := p.Dilation[a]*(p.Kernel[a]-1) + 1
		for _, v := range []int{p.Before[a], p.After[a]} {
			if v < 0 || v >= reach {
				return fmt.Errorf("padding by %d for a kernel that reaches over %d, want 0 to %d", v, reach, reach-1)
			}
		}
	}
	if p.Groups < 1 {
		return fmt.Errorf("%d groups", p.Groups)
	}
	return nil
}

// bind takes one input of shape [H, W, C] and gives its windows, [OH, OW, K, C]. Ranges are the input's, joined with
// Pad where there is padding; so is the element type, where it holds Pad, and else the narrowest for all of them.
func bind(base layer.Base[Params], in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	o := &op{Base: base, in: in[0], channels: in[0].Shape[2]}
	if o.channels%o.P.Groups != 0 {
		return nil, nil, fmt.Errorf("%d groups of %d channels", o.P.Groups, o.channels)
	}
	if err := o.bindGeometry(); err != nil {
		return nil, nil, err
	}
	o.out = dataflow.Type{Shape: dataflow.Shape{o.g.windows[0], o.g.windows[1], o.positions(), o.channels},
		Range: o.in.Range, Elem: o.in.Elem}
	if o.padded {
		o.out = layer.Padded(o.out, o.P.Pad)
	}
	o.simd = dataflow.Divisors(o.channels / o.P.Groups)
	if o.depthwise() {
		o.simd = dataflow.Divisors(o.channels)
	}
	o.serial = o.g.serial()
	if o.positions() > 1 && o.g.increasing() {
		o.parallel = o.g.parallel()
	}
	return o, []dataflow.Type{o.out}, nil
}

// bindGeometry places the windows. Where there is one window along an axis, no stride is taken.
func (o *op) bindGeometry() error {
	o.g = geometry{frame: [2]int(o.in.Shape[:2]), kernel: o.P.Kernel, stride: o.P.Stride, dilation: o.P.Dilation,
		before: o.P.Before}
	var padded [2]int
	for a := range 2 {
		padded[a] = o.g.frame[a] + o.P.Before[a] + o.P.After[a]
		room := padded[a] - o.g.reach(a)
		if room < 0 {
			return fmt.Errorf(
				"a kernel that reaches over %d by %d for a frame of shape %v padded to %d by %d: no window fits",
				o.g.reach(0), o.g.reach(1), o.in.Shape, o.g.frame[0]+o.P.Before[0]+o.P.After[0],
				o.g.frame[1]+o.P.Before[1]+o.P.After[1])
		}
		o.g.windows[a] = room/o.P.Stride[a] + 1
		if o.g.windows[a] == 1 {
			o.g.stride[a] = 1
		}
		last := (o.g.windows[a]-1)*o.g.stride[a] - o.g.before[a] + o.g.reach(a)
		o.padded = o.padded || o.g.before[a] > 0 || last > o.g.frame[a]
	}
	if !within(MaxFrame, padded[0], padded[1], o.channels) {
		return fmt.Errorf("a frame of shape %v, padded to %d by %d, has more than %d elements", o.in.Shape, padded[0],
			padded[1], MaxFrame)
	}
	if !within(MaxWindows, o.g.windows[0], o.g.windows[1]) {
		return fmt.Errorf("%d by %d windows, at most %d are possible", o.g.windows[0], o.g.windows[1], MaxWindows)
	}
	if !within(dataflow.MaxElements, o.g.windows[0], o.g.windows[1], o.g.kernel[0], o.g.kernel[1], o.channels) {
		return fmt.Errorf("%d by %d windows of %d by %d pixels have more than %d elements",
			o.g.windows[0], o.g.windows[1], o.g.kernel[0], o.g.kernel[1], dataflow.MaxElements)
	}
	return nil
}

// within reports whether the product of positive factors is at most limit.
func within(limit int, factors ...int) bool {
	n := 1
	for _, f := range factors {
		if f > limit/n {
			return false
		}
		n *= f
	}
	return true
}

// positions is K.
func (o *op) positions() int { return o.g.kernel[0] * o.g.kernel[1] }

// depthwise reports whether every channel is a group of its own.
func (o *op) depthwise() bool { return o.P.Groups == o.channels }
