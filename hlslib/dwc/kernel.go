package dwc

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// kernel is the shift register between the ends, oldest element first. It takes a word whenever it holds less than an
// output word: always, where words get wider.
type kernel struct {
	out    int
	buffer []int64
}

func (o *op) Kernel(dataflow.Fold) dataflow.Kernel {
	return &kernel{out: o.p.Out}
}

func (k *kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	if len(k.buffer) < k.out {
		k.buffer = append(k.buffer, in[0]...)
	}
	if len(k.buffer) < k.out {
		return []dataflow.Word{nil}
	}
	y := slices.Clone(k.buffer[:k.out])
	k.buffer = slices.Delete(k.buffer, 0, k.out)
	return []dataflow.Word{y}
}
