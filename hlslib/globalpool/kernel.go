package globalpool

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// kernel keeps what has been made of the vectors so far, by fold.
type kernel struct {
	sum     bool
	vectors int
	kept    []dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{sum: o.p.Op == Sum, vectors: o.vectors, kept: make([]dataflow.Word, o.channels/f.PE)}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	vector, fold := iteration/len(k.kept), iteration%len(k.kept)
	y := slices.Clone(in[0])
	if vector > 0 {
		for pe, kept := range k.kept[fold] {
			if k.sum {
				y[pe] += kept
			} else {
				y[pe] = max(y[pe], kept)
			}
		}
	}
	if vector == k.vectors-1 {
		return []dataflow.Word{y}
	}
	k.kept[fold] = y
	return []dataflow.Word{nil}
}
