package pad

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields every SIMD that divides the channels, in increasing order. A frame never has more than MaxElements
// iterations, fewer than MaxIterations.
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
	return simd <= dataflow.MaxWord/max(o.in.Elem.Width, o.out.Elem.Width)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.SIMD, Words: o.in.Shape.Size() / f.SIMD}},
		[]dataflow.Port{{Elem: o.out.Elem, PerWord: f.SIMD, Words: o.out.Shape.Size() / f.SIMD}}
}

// Loop has a latency of one clock: a word, or the padding, is written.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	words := o.in.Shape.Channels() / f.SIMD
	pixel := []dataflow.Run{{Times: words, Moves: dataflow.Moves{Read: 1, Write: 1}}}
	padding := []dataflow.Run{{Times: words, Moves: dataflow.Moves{Write: 1}}}
	row, padded := o.columns.Runs(pixel, padding), dataflow.Repeat(o.columns.Length, padding...)
	return dataflow.Loop{Body: o.rows.Runs(row, padded), Latency: 1}
}
