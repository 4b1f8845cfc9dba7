package reorder

import (
	"iter"
	"slices"

	"hlsgen/internal/dataflow"
)

// Folds yields every SIMD that divides Chunk, in increasing order.
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
	return simd <= dataflow.MaxWord/o.in.Elem.Width && o.iterations(simd) <= dataflow.MaxIterations
}

// words is the words of a block that are read, and those that are written.
func (o *op) words(simd int) (in, out int) {
	return o.p.Block * o.p.Chunk / simd, len(o.p.Order) * o.p.Chunk / simd
}

func (o *op) iterations(simd int) int {
	in, out := o.words(simd)
	return in + (o.blocks-1)*max(in, out) + out
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := func(t dataflow.Type) []dataflow.Port {
		return []dataflow.Port{{Elem: t.Elem, PerWord: f.SIMD, Words: t.Shape.Size() / f.SIMD}}
	}
	return port(o.in), port(o.out)
}

// Loop has a latency of one clock each to fetch the order, to fetch the word, and to write it.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	in, out := o.words(f.SIMD)
	read, write := dataflow.Moves{Read: 1}, dataflow.Moves{Write: 1}
	both := dataflow.Moves{Read: 1, Write: 1}
	return dataflow.Loop{
		Body: dataflow.Join(slices.Concat(
			[]dataflow.Run{{Times: in, Moves: read}},
			dataflow.Repeat(o.blocks-1,
				dataflow.Run{Times: min(in, out), Moves: both},
				dataflow.Run{Times: max(in-out, 0), Moves: read},
				dataflow.Run{Times: max(out-in, 0), Moves: write}),
			[]dataflow.Run{{Times: out, Moves: write}},
		)...),
		Latency: 3,
	}
}
