package dup

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// kernel is the number of copies; there is no state.
type kernel int

func (o *op) Kernel(dataflow.Fold) dataflow.Kernel { return kernel(o.p.Copies) }

func (k kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	y := make([]dataflow.Word, k)
	for i := range y {
		y[i] = slices.Clone(in[0])
	}
	return y
}
