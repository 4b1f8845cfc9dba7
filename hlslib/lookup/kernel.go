package lookup

import (
	"slices"

	"hlsgen/internal/dataflow"
)

type kernel struct {
	folds int
	rows  [][]int64 // of the memory
	index int64
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{folds: o.depth / f.PE, rows: o.table(f.PE)}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	fold := iteration % k.folds
	if fold == 0 {
		k.index = in[0][0]
	}
	return []dataflow.Word{slices.Clone(k.rows[int(k.index)*k.folds+fold])}
}
