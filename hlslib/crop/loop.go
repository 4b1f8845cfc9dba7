package crop

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields every SIMD that divides the channels, in increasing order.
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
	return simd <= dataflow.MaxWord/o.in.Elem.Width && o.in.Shape.Vectors() <= dataflow.MaxIterations/(o.in.Shape.Channels()/simd)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := func(t dataflow.Type) []dataflow.Port {
		return []dataflow.Port{{Elem: t.Elem, PerWord: f.SIMD, Words: t.Shape.Size() / f.SIMD}}
	}
	return port(o.in), port(o.out)
}

// Loop has a latency of one clock.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	words := o.in.Shape.Channels() / f.SIMD
	stays := []dataflow.Run{{Times: words, Moves: dataflow.Moves{Read: 1, Write: 1}}}
	goes := []dataflow.Run{{Times: words, Moves: dataflow.Moves{Read: 1}}}
	row, gone := o.columns.Runs(stays, goes), dataflow.Repeat(o.columns.Length, goes...)
	return dataflow.Loop{Body: o.rows.Runs(row, gone), Latency: 1}
}
