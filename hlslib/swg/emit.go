package swg

import (
	"slices"

	"hlsgen/internal/dataflow"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	pad := 0
	if o.padded {
		pad = int(o.out.Elem.EncodeBits(o.P.Pad))
	}
	g, parts := o.g, o.parts(f)
	both := func(name, doc string, axes [2]int) []dataflow.ConfigField {
		return []dataflow.ConfigField{{Name: name + "_h", Doc: doc, Value: axes[0]}, {Name: name + "_w",
			Value: axes[1]}}
	}
	last := dataflow.ConfigField{Name: "tile", Doc: "words of a pixel that make a tile", Value: o.tile(f) / f.SIMD}
	if o.all(f) {
		last = dataflow.ConfigField{Name: "taps_width", Doc: "bits of all taps of a word",
			Value: f.PE * f.SIMD * o.in.Elem.Width}
	}
	return dataflow.KernelInstance{
		Header:  "swg.hpp",
		Func:    "swg",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config: slices.Concat([]dataflow.ConfigField{
			{Name: "parallel", Doc: "a word holds all kernel positions", Value: o.all(f)},
			{Name: "iterations", Doc: "clocks of a frame", Value: o.schedule(f).slots * parts},
			{Name: "parts", Doc: "words of a pixel", Value: parts},
		},
			both("frame", "pixels", g.frame),
			both("windows", "windows", g.windows),
			both("kernel", "taps", g.kernel),
			both("stride", "pixels between windows", g.stride),
			both("dilation", "pixels between taps", g.dilation),
			both("before", "pixels in front of the frame", g.before),
			[]dataflow.ConfigField{
				{Name: "padded", Doc: "some taps lie outside of the frame", Value: o.padded},
				{Name: "pad", Doc: "bits of a tap outside of the frame", Value: pad},
				last,
			}),
		Storage: o.storage(f),
	}
}
