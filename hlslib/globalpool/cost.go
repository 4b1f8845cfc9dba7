package globalpool

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the memory of the kept words,
// the counters and registers. If a frame has several vectors, it also counts an adder or a maximum per PE. FINN itself
// has no estimate.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m, width := estimate.CostModelOf(t), o.Out[0].Elem.Width
	var join cost.Resources
	if o.Vectors > 1 {
		join = o.P.Op.Cost(width)
	}
	return estimate.MemoryAndLogicCost(m, o.storage(f),
		m.StreamControlCost(o.CounterCost(f)),
		join.Times(f.PE).AsPart("pooling"),
		m.RegisterCost(f.PE*width),
	)
}

// storage returns the memory of the accumulators, which circulate in shift registers or, if there are many, lie in
// LUTs. It has no rows if a frame is a single vector.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	rows := o.WordsPerVector(f)
	if o.Vectors == 1 {
		rows = 0
	}
	kept := dataflow.NewArrayStorage("kept", "accumulators", rows, f.PE*o.Out[0].Elem.Width)
	return []dataflow.Storage{kept.MovedToMemory(dataflow.MemoryLUTRAM).MovedToShiftRegisters()}
}

// carriedDelayNS returns the delay of adding a value to the kept one, or taking the maximum of both, in nanoseconds.
func (o *op) carriedDelayNS(dataflow.Fold, dataflow.Target) float64 { return o.P.Op.DelayNS() }
