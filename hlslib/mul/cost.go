package mul

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// narrowerFactorBits returns the least width among the numbers that are multiplied: inputs with their offsets, and
// products that are requantised. It returns num.MaxTypeBits if nothing needs a multiplier.
func (o *op) narrowerFactorBits() int {
	bits := num.MaxTypeBits
	if o.multiplies() {
		bits = min(o.factor[0].Width, o.factor[1].Width)
	}
	if o.rescales() {
		bits = min(bits, o.product.Width)
	}
	return bits
}

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts a multiplier per PE, an adder
// per PE for each input with an offset, and the memory of a gate. It adds a requantiser, or the step functions as
// Thresholding does. A factor within -1, 0 and 1 needs only an adder's LUTs. FINN itself has no estimate for its
// ElementwiseMul.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	product := cost.AdderCost(o.product.Width)
	if o.multiplies() {
		product = m.MultiplierCost(o.factor[0].Width, o.factor[1].Width, f.Compute == dataflow.MultiplierInDSPs)
	}
	var offsets cost.Resources
	for i, v := range o.P.Offset {
		if v != 0 {
			offsets = offsets.Plus(cost.AdderCost(o.factor[i].Width).Times(f.PE))
		}
	}
	parts := []cost.CostPart{
		m.StreamControlCost(o.CounterCost(f)),
		offsets.AsPart("adders"),
		product.Times(f.PE).AsPart("multipliers"),
		m.RegisterCost(f.PE * o.product.Width),
	}
	if o.P.Requant != nil {
		parts = append(parts, o.requantCost(m, f).Times(f.PE).AsPart("requantisers"))
	}
	return estimate.MemoryAndLogicCost(m, o.storage(f), append(parts, o.steps.LogicCost(m, f)...)...)
}

// storage returns the layer's memories: that of a gate's vector, with no rows if there is no gate, and those of the
// tables.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	rows := 0
	if o.gate {
		rows = o.WordsPerVector(f)
	}
	kept := dataflow.NewArrayStorage("kept", "gate memory", rows, f.PE*o.In[1].Elem.Width)
	return append([]dataflow.Storage{kept}, o.steps.Storage(f)...)
}

// requantCost returns the cost of requantising one product. It consists of a multiplier, an increment unless it rounds
// down, and a comparison and a choice for each limit that is exceeded. A shift is wiring.
func (o *op) requantCost(m cost.CostModel, f dataflow.Fold) cost.Resources {
	q := o.P.Requant.WithLeastShift()
	codes, _ := q.UnclippedRange(o.products)
	width := num.NarrowestIntTypeFor(codes).Width
	r := layer.ClippingCost(codes, o.Out[0].UnionOfRanges(), width)
	if o.rescales() {
		r = r.Plus(m.MultiplierCost(o.product.Width, num.NarrowestIntTypeFor(num.SingleValueRange(q.Multiplier)).Width,
			f.Compute == dataflow.MultiplierInDSPs))
	}
	return r.Plus(layer.RoundingCost(q.Shift, q.Mode, width))
}

// carriedDelayNS returns the delay of the counter of words, the only state that changes in every clock, in nanoseconds.
func (o *op) carriedDelayNS(dataflow.Fold, dataflow.Target) float64 {
	return cost.LoopCarriedDelayNSForLevels(1)
}
