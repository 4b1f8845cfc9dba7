package globalpool

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields every PE that divides the channels, in increasing order.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range o.pe {
			if o.fits(pe) && !yield(dataflow.Fold{PE: pe, SIMD: 1}) {
				return
			}
		}
	}
}

// fits holds a fold against what Vitis HLS accepts.
func (o *op) fits(pe int) bool {
	return pe*max(o.in.Elem.Width, o.out.Elem.Width) <= dataflow.MaxWord && o.vectors <= dataflow.MaxIterations/(o.channels/pe)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	folds := o.channels / f.PE
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.PE, Words: o.vectors * folds}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: folds}}
}

// Loop has a latency of one clock to fetch what is kept and one to join.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, last := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.Last}
	return dataflow.Nest{
		Trips:   []int{o.vectors, o.channels / f.PE},
		Read:    []dataflow.Access{{each, each}},
		Write:   []dataflow.Access{{last, each}},
		Latency: 2,
	}.Loop()
}
