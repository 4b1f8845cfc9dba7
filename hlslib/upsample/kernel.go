package upsample

import (
	"slices"

	"hlsgen/internal/dataflow"
)

type kernel struct {
	o     *op
	words int             // of a pixel
	kept  []dataflow.Word // of a row, or of a pixel
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o, o.in.Shape.Channels() / f.SIMD, make([]dataflow.Word, o.kept(f.SIMD))}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	scale, columns := k.o.p.Scale, k.o.in.Shape[1]
	fold, pixel := iteration%k.words, iteration/k.words
	again, pixel := pixel%scale[1], pixel/scale[1]
	column, row := pixel%columns, pixel/columns
	at := fold
	if scale[0] > 1 {
		at += column * k.words
	}
	if row%scale[0] == 0 && again == 0 {
		k.kept[at] = slices.Clone(in[0])
	}
	return []dataflow.Word{slices.Clone(k.kept[at])}
}
