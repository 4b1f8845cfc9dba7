package upsample

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost is the buffer, what knows the position in it, and what chooses between a word kept and one read. FINN counts
// nothing for its UpsampleNearestNeighbour.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	width := f.SIMD * o.in.Elem.Width
	counters := cost.Counter(o.kept(f.SIMD))
	for _, n := range []int{o.p.Scale[0], o.in.Shape[1], o.p.Scale[1], o.in.Shape.Channels() / f.SIMD} {
		counters = counters.Plus(cost.Counter(n))
	}
	return dataflow.Cost{
		{Name: "counters", Resources: dataflow.Resources(counters)},
		{Name: "buffer", Resources: dataflow.Resources(cost.Buffer(width, o.kept(f.SIMD)))},
		{Name: "multiplexers", Resources: dataflow.Resources(cost.Multiplexer(2, width))},
	}
}
