package labelselect

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// kernel keeps the first labels of a vector so far.
type kernel struct {
	o         *op
	pe, folds int
	kept      []place // in order, at most K
}

// A place is a label and its index.
type place struct {
	label int64
	index int
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o: o, pe: f.PE, folds: o.p.Labels / f.PE}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	fold := iteration % k.folds
	if fold == 0 {
		k.kept = k.kept[:0]
	}
	for pe, label := range in[0] {
		k.insert(place{label, fold*k.pe + pe})
	}
	if fold < k.folds-1 {
		return []dataflow.Word{nil}
	}
	y := make(dataflow.Word, len(k.kept))
	for i, p := range k.kept {
		y[i] = int64(p.index)
	}
	return []dataflow.Word{y}
}

// insert puts a label in its place; what then stands beyond the last place is dropped.
func (k *kernel) insert(p place) {
	i := 0
	for i < len(k.kept) && k.o.before(k.kept[i].label, k.kept[i].index, p.label, p.index) {
		i++
	}
	k.kept = slices.Insert(k.kept, i, p)
	k.kept = k.kept[:min(len(k.kept), k.o.p.K)]
}
