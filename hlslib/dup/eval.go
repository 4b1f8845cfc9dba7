package dup

import (
	"slices"

	"hlsgen/internal/dataflow"
)

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := make([]dataflow.Tensor, o.p.Copies)
	for i := range y {
		y[i] = dataflow.Tensor{Shape: in[0].Shape, Data: slices.Clone(in[0].Data)}
	}
	return y
}
