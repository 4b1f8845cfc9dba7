package firstlast

import (
	"math/bits"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the memory of words, the
// table of the order, the counters and registers. It also counts an adder that joins the address of a chunk and the
// word within it.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	in, _ := o.P.words(f)
	var counters cost.Resources
	for _, n := range []int{o.steps, in, len(o.P.Order), o.P.Chunk / f.SIMD} {
		counters = counters.Plus(cost.CounterCost(n))
	}
	m, width := estimate.CostModelOf(t), f.SIMD*o.In[0].Elem.Width
	return estimate.MemoryAndLogicCost(m, o.storage(f),
		m.StreamControlCost(counters),
		cost.AdderCost(bits.Len(uint(o.rows(f)-1))).AsPart("address"),
		m.RegisterCost(width),
	)
}

// storage returns the layer's memories: that of the kept words, and the table of Params.Order.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	return []dataflow.Storage{
		dataflow.NewArrayStorage("kept", "buffer", o.rows(f), f.SIMD*o.In[0].Elem.Width),
		o.P.table().StorageForCostPart("order").MovedToMemory(dataflow.MemoryLUTRAM),
	}
}
