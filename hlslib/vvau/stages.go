package vvau

import (
	"slices"

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
	sums := *o
	sums.Base, sums.Unit = o.WithParams(p), unit
	sums.out = dataflow.StreamType{Shape: slices.Clone(o.out.Shape), Range: unit.Range, Elem: unit.Out}
	return &sums, sums.out, o.P.Steps, true
}
