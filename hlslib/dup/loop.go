package dup

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
	return pe*o.typ.Elem.Width <= dataflow.MaxWord && o.words(pe) <= dataflow.MaxIterations
}

// words is the number of words in a frame.
func (o *op) words(pe int) int { return o.typ.Shape.Size() / pe }

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	p := dataflow.Port{Elem: o.typ.Elem, PerWord: f.PE, Words: o.words(f.PE)}
	for range o.p.Copies {
		out = append(out, p)
	}
	return []dataflow.Port{p}, out
}

// Loop has a latency of one clock.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each := dataflow.Access{{Kind: dataflow.Each}}
	l := dataflow.Nest{Trips: []int{o.words(f.PE)}, Read: []dataflow.Access{each}, Latency: 1}
	for range o.p.Copies {
		l.Write = append(l.Write, each)
	}
	return l.Loop()
}
