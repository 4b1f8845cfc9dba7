package labelselect

import (
	"iter"
	"math/bits"

	"hlsgen/internal/dataflow"
)

// Folds yields every PE that divides the labels, in increasing order.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range o.pe {
			if o.fits(pe) && !yield(dataflow.Fold{PE: pe, SIMD: 1}) {
				return
			}
		}
	}
}

// fits holds a fold against what Vitis HLS accepts. A word of MaxK indices is always within its limit.
func (o *op) fits(pe int) bool {
	return pe*o.in.Elem.Width <= dataflow.MaxWord && o.vectors <= dataflow.MaxIterations/(o.p.Labels/pe)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.PE, Words: o.vectors * o.p.Labels / f.PE}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: o.p.K, Words: o.vectors}}
}

// Loop takes V*N/PE clocks, FINN's formula. It has a latency of one clock per joining of halves, and one to join with the
// labels kept.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, last := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.Last}
	return dataflow.Nest{
		Trips:   []int{o.vectors, o.p.Labels / f.PE},
		Read:    []dataflow.Access{{each, each}},
		Write:   []dataflow.Access{{each, last}},
		Latency: 1 + bits.Len(uint(f.PE-1)),
	}.Loop()
}
