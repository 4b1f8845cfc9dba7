package mvau

import (
	"iter"
	"math/bits"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Folds yields, for every PE that divides MH and SIMD that divides MW in increasing order, the memories and multipliers
// to choose from. Bipolar operands need no multiplier.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	compute := []dataflow.Compute{dataflow.LUT, dataflow.DSP}
	if !o.multiplies() {
		compute = compute[:1]
	}
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range o.pe {
			for _, simd := range o.simd {
				if !o.fits(pe, simd) {
					continue
				}
				for _, m := range []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM, dataflow.URAM} {
					for _, c := range compute {
						if !yield(dataflow.Fold{PE: pe, SIMD: simd, Memory: m, Compute: c}) {
							return
						}
					}
				}
			}
		}
	}
}

func (o *op) multiplies() bool {
	return o.weight.Kind != num.Bipolar && o.in.Elem.Kind != num.Bipolar
}

// fits holds a fold against what Vitis HLS accepts.
func (o *op) fits(pe, simd int) bool {
	row := pe * simd * o.weight.Width
	if o.compare.Over != nil {
		row = max(row, pe*len(o.compare.Over[0])*o.acc.Width)
	}
	return simd*o.in.Elem.Width <= dataflow.MaxWord && pe*o.out.Elem.Width <= dataflow.MaxWord &&
		row <= dataflow.MaxRow && o.vectors <= dataflow.MaxIterations/(o.mh/pe)/(o.mw/simd)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.SIMD, Words: o.vectors * o.mw / f.SIMD}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: o.vectors * o.mh / f.PE}}
}

// Loop has a latency of one clock each to fetch, multiply, accumulate and compare, and one per level of the adder tree.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, first, last := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.First}, dataflow.Index{Kind: dataflow.Last}
	return dataflow.Nest{
		Trips:   []int{o.vectors, o.mh / f.PE, o.mw / f.SIMD},
		Read:    []dataflow.Access{{each, first, each}},
		Write:   []dataflow.Access{{each, each, last}},
		Latency: 4 + bits.Len(uint(f.SIMD-1)),
	}.Loop()
}
