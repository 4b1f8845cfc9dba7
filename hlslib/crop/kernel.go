package crop

import (
	"slices"

	"hlsgen/internal/dataflow"
)

type kernel struct {
	o     *op
	words int // of a pixel
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o, o.in.Shape.Channels() / f.SIMD}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	pixel := iteration / k.words
	row, column := pixel/k.o.columns.Length, pixel%k.o.columns.Length
	if !k.o.rows.Hit(row) || !k.o.columns.Hit(column) {
		return []dataflow.Word{nil}
	}
	return []dataflow.Word{slices.Clone(in[0])}
}
