package split

import (
	"slices"

	"hlsgen/internal/dataflow"
)

type kernel struct {
	words []int // of a vector, by output
	all   int   // words of an input vector
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o.words(f.SIMD), o.in.Shape.Channels() / f.SIMD}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	y := make([]dataflow.Word, len(k.words))
	at, word := 0, iteration%k.all
	for word >= k.words[at] {
		word -= k.words[at]
		at++
	}
	y[at] = slices.Clone(in[0])
	return y
}
