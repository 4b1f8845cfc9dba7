package concat

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields every SIMD that divides the channels of all inputs, in increasing order.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for _, simd := range o.simd {
			if o.fits(simd) && !yield(dataflow.Fold{PE: 1, SIMD: simd}) {
				return
			}
		}
	}
}

// fits holds a fold against what Vitis HLS accepts.
func (o *op) fits(simd int) bool {
	width := o.out.Elem.Width
	for _, t := range o.in {
		width = max(width, t.Elem.Width)
	}
	return simd <= dataflow.MaxWord/width && o.vectors <= dataflow.MaxIterations/(o.out.Shape.Channels()/simd)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	for _, t := range o.in {
		in = append(in, dataflow.Port{Elem: t.Elem, PerWord: f.SIMD, Words: t.Shape.Size() / f.SIMD})
	}
	return in, []dataflow.Port{{Elem: o.out.Elem, PerWord: f.SIMD, Words: o.out.Shape.Size() / f.SIMD}}
}

// Loop has a latency of one clock: a word is chosen and written.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	var vector []dataflow.Run
	for k, words := range o.words(f.SIMD) {
		vector = append(vector, dataflow.Run{Times: words, Moves: dataflow.Moves{Read: 1 << k, Write: 1}})
	}
	return dataflow.Loop{Body: dataflow.Repeat(o.vectors, vector...), Latency: 1}
}
