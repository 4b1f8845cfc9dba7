package mvau

import (
	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Sums is the layer without its step functions, and these.
func (o *op) Sums() (dataflow.Op, dataflow.Type, []num.Step, bool) {
	unit, ok := mac.Sums(o.Unit)
	if !ok {
		return nil, dataflow.Type{}, nil, false
	}
	p := o.P
	p.Steps = nil
	sums := &op{Base: o.With(p), mh: o.mh, mw: o.mw, in: o.in, vectors: o.vectors, tile: o.tile}
	sums.of(unit)
	return sums, sums.out, o.P.Steps, true
}
