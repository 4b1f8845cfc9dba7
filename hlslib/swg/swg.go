// Package swg is the sliding window: it makes the windows of a convolution or a pooling from a frame, padding
// included.
//
// A frame x is [H, W, C]; its windows are [OH, OW, K, C] with K = KH*KW kernel positions,
//
//	y[oy][ox][i*KW+j][c] = x[oy*sh-bh+i*dh][ox*sw-bw+j*dw][c]
//
// or the code Pad if that pixel lies outside of the frame. Along each axis O = floor((N+b+a-e)/s)+1, where a window
// covers e = d*(k-1)+1 pixels.
//
// An input word holds SIMD channels, so a pixel is CF = C/SIMD words. The windows are written in raster order, and
// each window tile by tile. A tile has all channels if Groups is 1, otherwise the channels of a group. If every
// channel is a group of its own (depthwise), a tile has SIMD channels. A tile contains its kernel positions in order,
// and each position the tile's channels. An output word holds PE kernel positions: one, or all K with all channels of
// a tile.
//
// # One position per clock (PE = 1)
//
// A ring holds B pixels. A slot is CF clocks, each of which reads at most one word into the ring and writes at most
// one out of it. A tap outside of the frame counts as the nearest pixel of the frame. N(w) is the number of pixels up
// to the last one that window w touches, and k(w) is the first pixel that w or a later window touches. A window takes
// K slots and its wait. If g pixels have been read at the beginning of window w,
//
//	wait(w)  = max(0, N(w)-g)                          slots that read only,
//	both(w)  = min(K, min(HW, k(w)+B) - g - wait(w))   slots that read and write (not below 0),
//	K-both(w)                                          slots that write only,
//	g       += wait(w) + both(w)
//
// A frame ends when its remaining HW-g pixels have been read. So it takes
//
//	CF * (OH*OW*K + sum of wait(w) + HW - g)   clocks.
//
// B is the smallest ring with which a frame takes as few clocks as with an ample one. An ample ring holds, together
// with every window, the pixels that the next window needs: max over w of max(N(w), N(w+1)) - k(w).
//
// # All positions per clock (PE = K)
//
// One word per clock is shifted into line delays and window registers. The taps lie at fixed distances in them; taps
// outside of the frame are replaced by Pad. The last tap of a window has the raster index
//
//	t(oy,ox) = (oy*sh-bh+(KH-1)*dh)*W + ox*sw-bw+(KW-1)*dw
//
// which may lie beyond the frame; the value shifted in does not matter then. A window is written in the clocks when
// its last tap arrives, and a frame takes
//
//	CF * max(H*W, t(OH-1,OW-1)+1)   clocks.
//
// The schedule requires that t increases from window to window, that is (OW-1)*sw < sh*W. With a stride of 1 and OW =
// W, it writes a word in every clock from the first to the last.
package swg

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// LayerKind describes the sliding window in the table of layers, hlslib.LayerKinds. New returns a layer of this kind
// with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "ConvolutionInputGenerator",
	Doc:     "the windows of a frame, padded (in front of convolutions and poolings)",
	Example: `{"kernel":[3,3],"stride":[1,1],"dilation":[1,1],"before":[1,1],"after":[1,1],"pad":0,"groups":1}`,
	Stepped: true,
	Takes:   layer.CheckImageInput,
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"ConvolutionInputGenerator1D"}, ParallelWindow: true},
})

// The limits that Bind checks.
const (
	maxKernelStrideDilation = 1 << 20 // of a kernel, a stride or a dilation, along one axis
	maxPaddedFrameElements  = 1 << 28 // elements of a frame with its padding; the C++ counts words as int
	maxWindowsPerFrame      = 1 << 25 // in a frame
)

// Params are the parameters of the sliding window: kernel, stride, dilation, padding and groups. The first number of
// each pair is along the height, the second along the width.
type Params struct {
	Kernel   [2]int `json:"kernel"`
	Stride   [2]int `json:"stride"`
	Dilation [2]int `json:"dilation"`
	Before   [2]int `json:"before"` // rows above the frame, columns left of it
	After    [2]int `json:"after"`  // rows below the frame, columns right of it
	Pad      int64  `json:"pad"`    // the code of a pixel outside of the frame
	Groups   int    `json:"groups"` // sets of channels that are written separately; divides the channels
}

type op struct {
	layer.Base[Params]
	in, out  dataflow.StreamType
	g        geometry
	channels int
	padded   bool  // some window has a tap outside of the frame
	simd     []int // the divisors of a tile's channels
	serial   schedule
	parallel schedule // empty if windows do not come in raster order
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	for a := range 2 {
		for _, v := range []struct {
			name  string
			value int
		}{{"kernel", p.Kernel[a]}, {"stride", p.Stride[a]}, {"dilation", p.Dilation[a]}} {
			if v.value < 1 || v.value > maxKernelStrideDilation {
				return fmt.Errorf("a %s of %d, want 1 to %d", v.name, v.value, maxKernelStrideDilation)
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

// bind returns the layer for one input of shape [H, W, C], and its output of windows [OH, OW, K, C]. Ranges are the
// input's, united with Pad if there is padding. The element type is the input's if it holds Pad, else the narrowest
// one. It returns an error if Groups does not divide C, and those of bindGeometry.
func bind(base layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	o := &op{Base: base, in: in[0], channels: in[0].Shape[2]}
	if o.channels%o.P.Groups != 0 {
		return nil, nil, fmt.Errorf("%d groups of %d channels", o.P.Groups, o.channels)
	}
	if err := o.bindGeometry(); err != nil {
		return nil, nil, err
	}
	o.out = dataflow.StreamType{Shape: dataflow.Shape{o.g.windows[0], o.g.windows[1], o.positions(), o.channels},
		Range: o.in.Range, Elem: o.in.Elem}
	if o.padded {
		o.out = layer.StreamTypeWithPaddingCode(o.out, o.P.Pad)
	}
	o.simd = dataflow.Divisors(o.channels / o.P.Groups)
	if o.depthwise() {
		o.simd = dataflow.Divisors(o.channels)
	}
	o.serial = o.g.serial()
	if o.positions() > 1 && o.g.increasing() {
		o.parallel = o.g.parallel()
	}
	return o, []dataflow.StreamType{o.out}, nil
}

// bindGeometry sets where the windows lie. It returns an error if no window fits the padded frame, or if there are too
// many elements or windows. With a single window along an axis, the stride does not matter and becomes 1.
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
	if !within(maxPaddedFrameElements, padded[0], padded[1], o.channels) {
		return fmt.Errorf("a frame of shape %v, padded to %d by %d, has more than %d elements", o.in.Shape, padded[0],
			padded[1], maxPaddedFrameElements)
	}
	if !within(maxWindowsPerFrame, o.g.windows[0], o.g.windows[1]) {
		return fmt.Errorf("%d by %d windows, at most %d are possible", o.g.windows[0], o.g.windows[1],
			maxWindowsPerFrame)
	}
	if !within(dataflow.MaxElementsPerFrame, o.g.windows[0], o.g.windows[1], o.g.kernel[0], o.g.kernel[1], o.channels) {
		return fmt.Errorf("%d by %d windows of %d by %d pixels have more than %d elements",
			o.g.windows[0], o.g.windows[1], o.g.kernel[0], o.g.kernel[1], dataflow.MaxElementsPerFrame)
	}
	return nil
}

// within reports whether the product of positive factors is at most limit, without overflow.
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

// positions returns the number of kernel positions in a window.
func (o *op) positions() int { return o.g.kernel[0] * o.g.kernel[1] }

// depthwise reports whether every channel is a group of its own.
func (o *op) depthwise() bool { return o.P.Groups == o.channels }
