package threshold

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields, for every PE that divides the channels in increasing order, the memories to choose from. A table of one
// row is wiring; its memory is LUTRAM by convention.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range o.pe {
			if !o.fits(pe) {
				continue
			}
			if !yield(dataflow.Fold{PE: pe, SIMD: 1, Memory: dataflow.LUTRAM}) {
				return
			}
			if o.rows(pe) > 1 && !yield(dataflow.Fold{PE: pe, SIMD: 1, Memory: dataflow.BRAM}) {
				return
			}
		}
	}
}

// rows is the number of rows of the threshold table.
func (o *op) rows(pe int) int {
	if o.compare.Shared() {
		return 1
	}
	return o.channels / pe
}

// fits holds a fold against what Vitis HLS accepts.
func (o *op) fits(pe int) bool {
	row := dataflow.StepBits(o.compare, o.in.Elem)
	if !o.compare.Shared() {
		row *= pe
	}
	return pe*max(o.in.Elem.Width, o.out.Elem.Width) <= dataflow.MaxWord && row <= dataflow.MaxRow &&
		o.vectors <= dataflow.MaxIterations/(o.channels/pe)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	words := o.vectors * o.channels / f.PE
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.PE, Words: words}}, []dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: words}}
}

// Loop has a latency of one clock to fetch the thresholds and one to compare.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each := dataflow.Index{Kind: dataflow.Each}
	return dataflow.Nest{
		Trips:   []int{o.vectors, o.channels / f.PE},
		Read:    []dataflow.Access{{each, each}},
		Write:   []dataflow.Access{{each, each}},
		Latency: 2,
	}.Loop()
}
