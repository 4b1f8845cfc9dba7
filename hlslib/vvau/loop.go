package vvau

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields, for every PE that divides C and SIMD that divides K in increasing order, the memories and multipliers to
// choose from.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return o.unit.Folds(o.pe, o.simd, func(pe, simd int) bool { return o.unit.Fits(pe*simd, pe, simd, o.vectors) })
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	word := f.PE * f.SIMD
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: word, Words: o.in.Shape.Size() / word, Tile: o.in.Shape.Tiled(f.PE)}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: o.out.Shape.Size() / f.PE}}
}

func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, last := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.Last}
	return dataflow.Nest{
		Trips:   []int{o.vectors, o.channels / f.PE, o.positions / f.SIMD},
		Read:    []dataflow.Access{{each, each, each}},
		Write:   []dataflow.Access{{each, each, last}},
		Latency: o.unit.Latency(f.SIMD),
	}.Loop()
}
