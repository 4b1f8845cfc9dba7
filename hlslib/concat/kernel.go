package concat

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// kernel has no state: the iteration says which input is due, and that is the one that has a word.
type kernel struct{}

func (o *op) Kernel(dataflow.Fold) dataflow.Kernel { return kernel{} }

func (kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	for _, w := range in {
		if w != nil {
			return []dataflow.Word{slices.Clone(w)}
		}
	}
	panic("concat: an iteration without a word")
}
