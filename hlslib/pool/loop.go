package pool

import (
	"iter"
	"math/bits"

	"hlsgen/internal/dataflow"
)

// Folds yields every PE that divides the channels with every SIMD that divides the positions, in increasing order.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range o.pe {
			for _, simd := range o.simd {
				if o.fits(pe, simd) && !yield(dataflow.Fold{PE: pe, SIMD: simd}) {
					return
				}
			}
		}
	}
}

// fits holds a fold against what Vitis HLS accepts.
func (o *op) fits(pe, simd int) bool {
	return pe*simd*o.in.Elem.Width <= dataflow.MaxWord && pe*o.out.Elem.Width <= dataflow.MaxWord &&
		o.windows <= dataflow.MaxIterations/(o.channels/pe)/(o.positions/simd)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	elements := o.windows * o.positions * o.channels
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.PE * f.SIMD, Words: elements / (f.PE * f.SIMD), Tile: o.in.Shape.Tiled(f.PE)}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: o.windows * o.channels / f.PE}}
}

// Loop has a latency of one clock per halving of the positions of a word, and one to join with those before.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, last := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.Last}
	return dataflow.Nest{
		Trips:   []int{o.windows, o.channels / f.PE, o.positions / f.SIMD},
		Read:    []dataflow.Access{{each, each, each}},
		Write:   []dataflow.Access{{each, each, last}},
		Latency: 1 + bits.Len(uint(f.SIMD-1)),
	}.Loop()
}
