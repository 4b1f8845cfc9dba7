package reorder

import (
	"math/bits"

	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost is the memory of two banks, the table of the order, and what counts; an adder joins a chunk's place and the word
// in it.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	in, out := o.words(f.SIMD)
	order := o.order()
	counters := cost.Counter(o.blocks + 1)
	for _, n := range []int{max(in, out), len(o.p.Order), o.p.Chunk / f.SIMD} {
		counters = counters.Plus(cost.Counter(n))
	}
	return dataflow.Cost{
		{Name: "buffer", Resources: dataflow.Resources(cost.Buffer(f.SIMD*o.in.Elem.Width, 2*in))},
		{Name: "order", Resources: dataflow.Resources(cost.Table(order.Elem.Width, len(order.Rows), cost.Distributed))},
		{Name: "counters", Resources: dataflow.Resources(counters)},
		{Name: "address", Resources: dataflow.Resources(cost.Adder(bits.Len(uint(in - 1))))},
	}
}
