package split

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields every SIMD that divides the channels of all outputs, in increasing order.
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
	return simd <= dataflow.MaxWord/o.in.Elem.Width && o.vectors <= dataflow.MaxIterations/(o.in.Shape.Channels()/simd)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := func(t dataflow.Type) dataflow.Port {
		return dataflow.Port{Elem: t.Elem, PerWord: f.SIMD, Words: t.Shape.Size() / f.SIMD}
	}
	for _, t := range o.out {
		out = append(out, port(t))
	}
	return []dataflow.Port{port(o.in)}, out
}

// Loop has a latency of one clock.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	var vector []dataflow.Run
	for k, words := range o.words(f.SIMD) {
		vector = append(vector, dataflow.Run{Times: words, Moves: dataflow.Moves{Read: 1, Write: 1 << k}})
	}
	return dataflow.Loop{Body: dataflow.Repeat(o.vectors, vector...), Latency: 1}
}
