package pad

import (
	"slices"

	"hlsgen/internal/dataflow"
)

type kernel struct {
	o     *op
	simd  int
	words int // of a pixel
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o, f.SIMD, o.in.Shape.Channels() / f.SIMD}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	pixel := iteration / k.words
	row, column := pixel/k.o.columns.Length, pixel%k.o.columns.Length
	if k.o.rows.Hit(row) && k.o.columns.Hit(column) {
		return []dataflow.Word{slices.Clone(in[0])}
	}
	return []dataflow.Word{slices.Repeat(dataflow.Word{k.o.p.Code}, k.simd)}
}
