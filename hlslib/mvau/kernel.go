package mvau

import (
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// kernel is the hardware's state: the buffered vector and the accumulators, which wrap at their width.
type kernel struct {
	o            *op
	pe, simd     int
	nf, sf       int // extents
	weights      [][]int64
	dotType      num.Type
	vector       []dataflow.Word // by sf
	accumulators []int64         // by PE
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	sf := o.mw / f.SIMD
	return &kernel{o: o, pe: f.PE, simd: f.SIMD, nf: o.mh / f.PE, sf: sf, weights: o.weightRows(f), dotType: o.dotType(f.SIMD),
		vector: make([]dataflow.Word, sf), accumulators: make([]int64, f.PE)}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	sf, nf := iteration%k.sf, iteration/k.sf%k.nf
	if nf == 0 {
		k.vector[sf] = slices.Clone(in[0])
	}
	row := k.weights[nf*k.sf+sf]
	for pe := range k.accumulators {
		if sf == 0 {
			k.accumulators[pe] = 0
		}
		dot := k.dot(row[pe*k.simd:(pe+1)*k.simd], k.vector[sf])
		k.accumulators[pe] = wrap(k.o.acc, k.accumulators[pe]+dot)
	}
	if sf < k.sf-1 {
		return []dataflow.Word{nil}
	}
	y := make(dataflow.Word, k.pe)
	for pe, a := range k.accumulators {
		y[pe] = k.output(nf*k.pe+pe, a)
	}
	return []dataflow.Word{y}
}

// dot is one iteration's sum of products, or of matches.
func (k *kernel) dot(w []int64, x dataflow.Word) int64 {
	sum := int64(0)
	for i, v := range x {
		switch {
		case !k.o.xnor:
			sum += w[i] * v
		case w[i] == v:
			sum++
		}
	}
	return wrap(k.dotType, sum)
}

// output makes channel c's output of its accumulator.
func (k *kernel) output(c int, acc int64) int64 {
	switch {
	case k.o.compare.Over != nil:
		return k.o.compare.Apply(c, acc)
	case k.o.xnor:
		return 2*acc - int64(k.o.mw)
	}
	return acc
}

// wrap keeps what t's bits hold of v.
func wrap(t num.Type, v int64) int64 { return t.Decode(uint64(v)) }
