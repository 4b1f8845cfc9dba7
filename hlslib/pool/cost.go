package pool

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts SIMD-1 sums or maxima of two
// values for each of PE channels, the counters, and registers. If a window takes several words, there is one more per
// channel with the kept value. FINN itself has no estimate.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	width, words := o.out.Elem.Width, o.out.RowMajorPort(f.PE).Words
	join := o.P.Op.Cost(width)
	sf := o.positions / f.SIMD
	control, kept := cost.CounterCost(words*sf), cost.Resources{}
	if sf > 1 {
		control = control.Plus(cost.CounterCost(sf))
		kept = join.Plus(cost.Resources{FF: width}).Times(f.PE)
	}
	m := estimate.CostModelOf(t)
	return estimate.CostOfParts(
		m.StreamControlCost(control),
		join.Times(f.PE*(f.SIMD-1)).AsPart("pooling tree"),
		kept.AsPart("accumulators"),
		m.RegisterCost(f.PE*width),
	)
}

// carriedDelayNS returns the delay of adding a word to the kept value, or taking the maximum of both, in nanoseconds.
// If a word has all positions of a window, nothing is kept, and the delay is that of the counter.
func (o *op) carriedDelayNS(f dataflow.Fold, _ dataflow.Target) float64 {
	if f.SIMD == o.positions {
		return cost.LoopCarriedDelayNSForLevels(1)
	}
	return o.P.Op.DelayNS()
}
