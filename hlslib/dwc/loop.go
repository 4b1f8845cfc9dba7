package dwc

import (
	"bytes"
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields one fold: there is no freedom.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) { yield(dataflow.Fold{PE: 1, SIMD: 1}) }
}

func (o *op) Ports(dataflow.Fold) (in, out []dataflow.Port) {
	n := o.typ.Shape.Size()
	return []dataflow.Port{{Elem: o.typ.Elem, PerWord: o.p.In, Words: n / o.p.In, Tile: o.p.Tile}},
		[]dataflow.Port{{Elem: o.typ.Elem, PerWord: o.p.Out, Words: n / o.p.Out, Tile: o.p.Tile}}
}

func (o *op) Loop(dataflow.Fold, dataflow.Target) dataflow.Loop {
	each := dataflow.Index{Kind: dataflow.Each}
	l := dataflow.Nest{
		Trips:   []int{o.periods, o.trips},
		Read:    []dataflow.Access{{each, each}},
		Write:   []dataflow.Access{{each, each}},
		Latency: 1,
	}
	switch in, out := o.p.In, o.p.Out; {
	case in > out:
		l.Read[0][1] = o.moves(func(i int) bool { return ceil(out*(i+1), in) > ceil(out*i, in) })
	case in < out:
		l.Write[0][1] = o.moves(func(i int) bool { return in*(i+1)/out > in*i/out })
	}
	return l.Loop()
}

// moves spells a set of inner iterations.
func (o *op) moves(f func(i int) bool) dataflow.Index {
	pattern := bytes.Repeat([]byte{'0'}, o.trips)
	for i := range pattern {
		if f(i) {
			pattern[i] = '1'
		}
	}
	return dataflow.Index{Kind: dataflow.At, Pattern: string(pattern)}
}

func ceil(a, b int) int { return (a + b - 1) / b }
