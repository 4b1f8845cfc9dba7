// Package swg is the sliding window: it makes the windows of a convolution or a pooling out of a frame, padding included.
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
// where every channel is a group of its own (depthwise). A tile holds its kernel positions in order, and each of these its
// channels. PE kernel positions make an output word: one, or all K with all channels of a tile.
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
// B is the smallest ring with which a frame takes as few clocks as with one that holds, together with every window, what
// the next one needs: max over w of max(N(w), N(w+1)) - k(w).
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
// This wants t to increase from window to window, or (OW-1)*sw < sh*W. With a stride of 1 and OW = W one word is written
// every clock from the first to the last.
package swg

import (
	"encoding/json"
	"fmt"
	"math"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "ConvolutionInputGenerator"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "the windows of a frame, padded (in front of convolutions and poolings)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"ConvolutionInputGenerator1D"}, ParallelWindow: true},
}

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
	Pad      int64  `json:"pad"`    // the code of a pixel outside of the frame; fits 32 bits
	Groups   int    `json:"groups"` // sets of channels that are written apart; divides the channels
}

type op struct {
	p Params
	// The rest is set by Bind.
	in, out  dataflow.Type
	g        geometry
	channels int
	padded   bool  // some window has a tap outside of the frame
	simd     []int // what divides the channels of a tile
	serial   schedule
	parallel schedule // empty where windows do not come in raster order
}

// New makes the layer. What is wrong with p is Bind's to say.
func New(p Params) dataflow.Op { return &op{p: p} }

// Decode makes the layer from the JSON of its Params.
func Decode(params []byte) (dataflow.Op, error) {
	var p Params
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if err := p.verify(); err != nil {
		return nil, err
	}
	return New(p), nil
}

func (p Params) verify() error {
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
	if p.Pad < math.MinInt32 || p.Pad > math.MaxInt32 {
		return fmt.Errorf("padding with %d, which is beyond 32 bits", p.Pad)
	}
	if p.Groups < 1 {
		return fmt.Errorf("%d groups", p.Groups)
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [H, W, C] and gives its windows, [OH, OW, K, C]. Ranges are the input's, joined with Pad
// where there is padding; so is the element type, where it holds Pad, and else the narrowest for all of them.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	if len(shape) != 3 {
		return nil, nil, fmt.Errorf("an input of shape %v, want [height, width, channels]", shape)
	}
	b := &op{p: o.p, in: in[0], channels: shape[2]}
	if b.channels%o.p.Groups != 0 {
		return nil, nil, fmt.Errorf("%d groups of %d channels", o.p.Groups, b.channels)
	}
	if err := b.bindGeometry(); err != nil {
		return nil, nil, err
	}
	b.bindOutput()
	b.simd = dataflow.Divisors(b.channels / o.p.Groups)
	if b.depthwise() {
		b.simd = dataflow.Divisors(b.channels)
	}
	b.serial = b.g.serial()
	if b.positions() > 1 && b.g.increasing() {
		b.parallel = b.g.parallel()
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits and a frame within %d iterations", dataflow.MaxWord, dataflow.MaxIterations)
}

// bindGeometry places the windows. Where there is one window along an axis, no stride is taken.
func (o *op) bindGeometry() error {
	o.g = geometry{frame: [2]int(o.in.Shape[:2]), kernel: o.p.Kernel, stride: o.p.Stride, dilation: o.p.Dilation, before: o.p.Before}
	var padded [2]int
	for a := range 2 {
		padded[a] = o.g.frame[a] + o.p.Before[a] + o.p.After[a]
		room := padded[a] - o.g.reach(a)
		if room < 0 {
			return fmt.Errorf("a kernel that reaches over %d by %d for a frame of shape %v padded to %d by %d: no window fits",
				o.g.reach(0), o.g.reach(1), o.in.Shape, o.g.frame[0]+o.p.Before[0]+o.p.After[0], o.g.frame[1]+o.p.Before[1]+o.p.After[1])
		}
		o.g.windows[a] = room/o.p.Stride[a] + 1
		if o.g.windows[a] == 1 {
			o.g.stride[a] = 1
		}
		last := (o.g.windows[a]-1)*o.g.stride[a] - o.g.before[a] + o.g.reach(a)
		o.padded = o.padded || o.g.before[a] > 0 || last > o.g.frame[a]
	}
	if !within(MaxFrame, padded[0], padded[1], o.channels) {
		return fmt.Errorf("a frame of shape %v, padded to %d by %d, has more than %d elements", o.in.Shape, padded[0], padded[1], MaxFrame)
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

func (o *op) bindOutput() {
	o.out = dataflow.Type{
		Shape: dataflow.Shape{o.g.windows[0], o.g.windows[1], o.positions(), o.channels},
		Range: o.in.Range,
		Elem:  o.in.Elem,
	}
	if !o.padded {
		return
	}
	o.out.Range = make([]num.Range, len(o.in.Range))
	for c, r := range o.in.Range {
		o.out.Range[c] = r.Union(num.Point(o.p.Pad))
	}
	if !o.in.Elem.Holds(o.p.Pad) {
		o.out.Elem = num.Smallest(o.out.Union())
	}
}

// positions is K.
func (o *op) positions() int { return o.g.kernel[0] * o.g.kernel[1] }

// depthwise reports whether every channel is a group of its own.
func (o *op) depthwise() bool { return o.p.Groups == o.channels }
