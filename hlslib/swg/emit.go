package swg

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	pad := 0
	if o.padded {
		pad = int(o.P.Pad)
	}
	g, parts := o.g, o.parts(f)
	return dataflow.Instance{
		Header: "swg.hpp",
		Func:   "swg",
		Config: []dataflow.Field{
			{Name: "parallel", Doc: "a word holds all kernel positions", Value: o.all(f)},
			{Name: "iterations", Doc: "clocks of a frame", Value: o.schedule(f).slots * parts},
			{Name: "parts", Doc: "words of a pixel", Value: parts},
			{Name: "tile", Doc: "of these, words of a tile", Value: o.tile(f) / f.SIMD},
			{Name: "frame_h", Doc: "pixels", Value: g.frame[0]},
			{Name: "frame_w", Value: g.frame[1]},
			{Name: "windows_h", Doc: "windows", Value: g.windows[0]},
			{Name: "windows_w", Value: g.windows[1]},
			{Name: "kernel_h", Doc: "taps", Value: g.kernel[0]},
			{Name: "kernel_w", Value: g.kernel[1]},
			{Name: "stride_h", Doc: "pixels between windows", Value: g.stride[0]},
			{Name: "stride_w", Value: g.stride[1]},
			{Name: "dilation_h", Doc: "pixels between taps", Value: g.dilation[0]},
			{Name: "dilation_w", Value: g.dilation[1]},
			{Name: "before_h", Doc: "pixels in front of the frame", Value: g.before[0]},
			{Name: "before_w", Value: g.before[1]},
			{Name: "padded", Doc: "some tap lies outside of the frame", Value: o.padded},
			{Name: "pad", Doc: "its code", Value: pad},
			{Name: "taps_width", Doc: "bits of all that a word is made of", Value: f.PE * f.SIMD * o.in.Elem.Width},
		},
		Storage: o.storage(f),
	}
}
