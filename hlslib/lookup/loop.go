package lookup

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields, for every PE that divides D in increasing order, the memories to choose from. A table of one row is
// wiring; its memory is LUTRAM by convention.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range o.pe {
			if !o.fits(pe) {
				continue
			}
			memories := []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM, dataflow.URAM}
			if o.rows(pe) == 1 {
				memories = memories[:1]
			}
			for _, m := range memories {
				if !yield(dataflow.Fold{PE: pe, SIMD: 1, Memory: m}) {
					return
				}
			}
		}
	}
}

// rows is the number of rows of the memory.
func (o *op) rows(pe int) int { return len(o.p.Table) * (o.depth / pe) }

// fits holds a fold against what Vitis HLS accepts. A row of the memory is an output word.
func (o *op) fits(pe int) bool {
	return pe <= dataflow.MaxWord/o.out.Elem.Width && o.indices <= dataflow.MaxIterations/(o.depth/pe) && o.rows(pe) <= dataflow.MaxIterations
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: 1, Words: o.indices}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: o.indices * (o.depth / f.PE)}}
}

// Loop has a latency of one clock for the address and one to fetch the row.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, first := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.First}
	return dataflow.Nest{
		Trips:   []int{o.indices, o.depth / f.PE},
		Read:    []dataflow.Access{{each, first}},
		Write:   []dataflow.Access{{each, each}},
		Latency: 2,
	}.Loop()
}
