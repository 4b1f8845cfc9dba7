package reorder

import (
	"math/bits"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the memory of two banks, the
// table of the order, the counters and registers. It also counts an adder that joins the address of a chunk and the
// word within it.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	in, out := o.P.words(f)
	counters := cost.CounterCost(o.blocks + 1)
	for _, n := range []int{max(in, out), len(o.P.Order), o.P.Chunk / f.SIMD} {
		counters = counters.Plus(cost.CounterCost(n))
	}
	m, width := estimate.CostModelOf(t), f.SIMD*o.In[0].Elem.Width
	return estimate.MemoryAndLogicCost(m, o.storage(f),
		m.StreamControlCost(counters),
		cost.AdderCost(bits.Len(uint(in-1))).AsPart("address"),
		m.RegisterCost(width),
	)
}

// storage returns the layer's memories: two banks, one of which is read while the other is written, and the table of
// Params.Order.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	in, _ := o.P.words(f)
	return []dataflow.Storage{
		dataflow.NewArrayStorage("banks", "buffer", 2*in, f.SIMD*o.In[0].Elem.Width),
		o.P.table().StorageForCostPart("order").MovedToMemory(dataflow.MemoryLUTRAM),
	}
}
