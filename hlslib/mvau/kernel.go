package mvau

import "hlsgen/internal/dataflow"

// kernel is the hardware's state: counters, the vector of a group, and a sum per PE. Sums wrap around at 64 bits rather
// than at the accumulator's width, which changes none of the bits that the accumulator has.
type kernel struct {
	o      *op
	f      dataflow.Fold
	nf, sf int     // extents
	inner  int     // the iteration's sf
	outer  int     // the iteration's g*NF+nf
	vector []int64 // of the group
	sums   []int64 // by PE
	words  [1]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	k := &kernel{o: o, f: f, vector: make([]int64, o.mw), sums: make([]int64, f.PE)}
	k.nf, k.sf = o.folds(f)
	return k
}

func (k *kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	at := k.inner * k.f.SIMD
	x := k.vector[at : at+k.f.SIMD]
	if k.outer%k.nf == 0 {
		copy(x, in[0])
	}
	first, product := k.outer*k.f.PE, k.o.p.Product
	for pe, row := range k.o.p.Weights[first : first+k.f.PE] {
		sum := int64(0)
		w := row[at : at+len(x)]
		for i, v := range x {
			p := w[i] * v
			if product != nil {
				p = product.Apply(p)
			}
			sum += p
		}
		if k.inner > 0 {
			sum += k.sums[pe]
		}
		k.sums[pe] = sum
	}
	k.words[0] = nil
	if k.inner++; k.inner == k.sf {
		k.words[0] = k.o.unit.Outputs(first, k.sums)
		k.inner = 0
		if k.outer++; k.outer*k.f.PE == k.o.mh {
			k.outer = 0
		}
	}
	return k.words[:]
}
