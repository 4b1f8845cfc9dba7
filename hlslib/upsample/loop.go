package upsample

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields every SIMD that divides the channels, in increasing order. A frame never has more than MaxElements
// iterations, fewer than MaxIterations.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for _, simd := range o.simd {
			if simd <= dataflow.MaxWord/o.in.Elem.Width && !yield(dataflow.Fold{PE: 1, SIMD: simd}) {
				return
			}
		}
	}
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := func(t dataflow.Type) []dataflow.Port {
		return []dataflow.Port{{Elem: t.Elem, PerWord: f.SIMD, Words: t.Shape.Size() / f.SIMD}}
	}
	return port(o.in), port(o.out)
}

// Loop has a latency of one clock to fetch what is kept, and one to choose between that and what is read.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, first := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.First}
	return dataflow.Nest{
		Trips:   []int{o.in.Shape[0], o.p.Scale[0], o.in.Shape[1], o.p.Scale[1], o.in.Shape.Channels() / f.SIMD},
		Read:    []dataflow.Access{{each, first, each, first, each}},
		Write:   []dataflow.Access{{each, each, each, each, each}},
		Latency: 2,
	}.Loop()
}
