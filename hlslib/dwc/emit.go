package dwc

import "hlsgen/internal/dataflow"

func (o *op) Emit(dataflow.Fold, dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "dwc.hpp",
		Func:   "dwc",
		Config: []dataflow.Field{
			{Name: "iterations", Doc: "words of the narrower end in a frame", Value: o.periods * o.trips},
			{Name: "buffer_width", Doc: "bits kept between the ends", Value: o.bufferBits()},
		},
	}
}

// bufferBits is what the buffer must hold. Where one end's words are a multiple of the other's it is the wider word;
// otherwise what may be left over, less than the word that makes room, and the word that comes on top of it.
func (o *op) bufferBits() int {
	n := max(o.p.In, o.p.Out)
	if n%min(o.p.In, o.p.Out) != 0 {
		n = o.p.In + o.p.Out - gcd(o.p.In, o.p.Out)
	}
	return n * o.typ.Elem.Width
}
