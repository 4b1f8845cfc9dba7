package steps

import (
	"slices"

	"hlsgen/hlslib/price/cost"
)

// HaveSameCost reports whether two forms have the same cost and latency, so that only the numbers in their tables
// differ. They must be of functions with equally many thresholds and the same types. Either may be nil, for no step
// functions.
func HaveSameCost(a, b StepFunctionHardware, m cost.CostModel) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, multiplies := a.(*ScaledForm)
	y, other := b.(*ScaledForm)
	if multiplies != other || multiplies && !x.alike(y) {
		return false
	}
	return a.LatencyClocks() == b.LatencyClocks() && a.HasTablesPerLane() == b.HasTablesPerLane() &&
		a.LaneCount() == b.LaneCount() &&
		slices.Equal(a.Storage(), b.Storage()) && slices.Equal(a.LogicCost(m), b.LogicCost(m))
}

// alike reports whether two multipliers add equally many words of the same width, and round and clip alike.
func (s *ScaledForm) alike(o *ScaledForm) bool {
	n, width := s.AddendCountAndSumBits()
	terms, bits := o.AddendCountAndSumBits()
	return n == terms && width == bits && s.HasNonFloorRounding() == o.HasNonFloorRounding() &&
		s.HasClipping() == o.HasClipping()
}
