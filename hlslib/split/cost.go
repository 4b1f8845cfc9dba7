package split

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost is what counts words: all outputs are given the same word, and only one of them takes it. FINN counts nothing for
// its StreamingSplit.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	return dataflow.Cost{
		{Name: "counters", Resources: dataflow.Resources(cost.Counter(o.in.Shape.Channels() / f.SIMD).Plus(cost.Counter(o.vectors)))},
		{Name: "stream control", Resources: dataflow.Resources{LUT: len(o.out)}},
	}
}
