package mvau

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields, for every PE that divides a group's outputs and SIMD that divides MW in increasing order, the memories
// and multipliers to choose from.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return o.unit.Folds(o.pe, o.simd, func(pe, simd int) bool { return o.unit.Fits(simd, pe, simd, o.vectors) })
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.SIMD, Words: o.in.Shape.Size() / f.SIMD, Tile: o.tile}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: o.out.Shape.Size() / f.PE}}
}

// folds is NF and SF: how many times PE outputs make a group's, and SIMD inputs.
func (o *op) folds(f dataflow.Fold) (nf, sf int) { return o.mh / o.p.groups() / f.PE, o.mw / f.SIMD }

func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, first, last := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.First}, dataflow.Index{Kind: dataflow.Last}
	nf, sf := o.folds(f)
	return dataflow.Nest{
		Trips:   []int{o.vectors * o.p.groups(), nf, sf},
		Read:    []dataflow.Access{{each, first, each}},
		Write:   []dataflow.Access{{each, each, last}},
		Latency: o.unit.Latency(f.SIMD),
	}.Loop()
}
