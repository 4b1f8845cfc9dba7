package threshold

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it returns the estimate for a
// thresholding layer by the target's formula, FINN's or the fitted one.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	rows := o.WordsPerVector(f)
	if !o.steps.TableLayout().PerChannel {
		rows = 1
	}
	m := cost.ThresholdingShape{
		InBits: o.In[0].Elem.Width, PE: f.PE, Rows: rows, Memory: estimate.MemoryStyleOf(f.Memory),
		Fabric: estimate.CostModelOf(t).Fabric,
	}
	if f.Steps == dataflow.SerialStepEvaluation {
		s := o.serial(f, t)
		return estimate.StoringLayerCost(t, m, s.storage(), s.form.LogicCost(estimate.CostModelOf(t))...)
	}
	return estimate.StoringLayerCost(t, m, o.steps.Storage(f), o.steps.LogicCost(estimate.CostModelOf(t), f)...)
}

// carriedDelayNS returns the delay of the counter of words, the only state of the layer, in nanoseconds.
func (o *op) carriedDelayNS(dataflow.Fold, dataflow.Target) float64 {
	return cost.LoopCarriedDelayNSForLevels(1)
}
