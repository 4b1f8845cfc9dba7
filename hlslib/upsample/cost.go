package upsample

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the buffer, the counters of
// the position, registers, and the choice between a kept word and one that is read. FINN itself counts nothing for its
// UpsampleNearestNeighbour.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m, width := estimate.CostModelOf(t), f.SIMD*o.In[0].Elem.Width
	counters := cost.CounterCost(o.kept(f))
	for _, n := range o.trips(f)[1:] {
		counters = counters.Plus(cost.CounterCost(n))
	}
	return estimate.MemoryAndLogicCost(m, o.storage(f),
		m.StreamControlCost(counters),
		m.MultiplexerCost(2, width).AsPart("multiplexers"),
		m.RegisterCost(width),
	)
}

// storage returns the memory of the words that are repeated: those of a row, or of a pixel if rows are not repeated.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	return []dataflow.Storage{dataflow.NewArrayStorage("kept", "buffer", o.kept(f), f.SIMD*o.In[0].Elem.Width)}
}
