package mvau

import (
	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Sums returns a copy of the layer, bound, without its step functions, the type of its output, and those step
// functions. The last result is false, and the others are empty, if they cannot become a layer of their own.
func (o *op) Sums() (dataflow.Op, dataflow.StreamType, []num.StepFunction, bool) {
	unit, ok := mac.WithoutStepFunctions(o.Unit)
	if !ok {
		return nil, dataflow.StreamType{}, nil, false
	}
	p := o.P
	p.Steps = nil
	sums := &op{Base: o.WithParams(p), mh: o.mh, mw: o.mw, in: o.in, vectors: o.vectors, tile: o.tile}
	sums.of(unit)
	return sums, sums.out, o.P.Steps, true
}
