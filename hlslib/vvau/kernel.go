package vvau

import "hlsgen/internal/dataflow"

// kernel is the hardware's state: counters and a sum per PE. Sums wrap around at 64 bits rather than at the accumulator's
// width, which changes none of the bits that the accumulator has.
type kernel struct {
	o     *op
	f     dataflow.Fold
	nf    int     // of the iteration
	at    int     // the iteration's first position
	sums  []int64 // by PE
	words [1]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o: o, f: f, sums: make([]int64, f.PE)}
}

func (k *kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	if k.at == 0 {
		clear(k.sums)
	}
	first := k.nf * k.f.PE
	for pe, row := range k.o.p.Weights[first : first+k.f.PE] {
		for i, w := range row[k.at : k.at+k.f.SIMD] {
			k.sums[pe] += w * in[0][i*k.f.PE+pe]
		}
	}
	k.words[0] = nil
	if k.at += k.f.SIMD; k.at == k.o.positions {
		k.words[0] = k.o.unit.Outputs(first, k.sums)
		k.at = 0
		if k.nf++; k.nf*k.f.PE == k.o.channels {
			k.nf = 0
		}
	}
	return k.words[:]
}
