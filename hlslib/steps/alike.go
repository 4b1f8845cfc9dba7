package steps

import (
	"slices"

	"hlsgen/hlslib/price/cost"
)

// SameCost reports whether two forms have the same cost and latency, so that only the numbers in their tables differ.
// They must be of functions with equally many thresholds and the same types. Either may be nil, for no step functions.
func SameCost(a, b BuiltSteps, m cost.CostModel) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, multiplies := a.(*ScaledForm)
	y, other := b.(*ScaledForm)
	if multiplies != other || multiplies && !x.alike(y) {
		return false
	}
	return a.Clocks() == b.Clocks() && a.TablesPerLane() == b.TablesPerLane() && a.Lanes() == b.Lanes() &&
		slices.Equal(a.Storage(), b.Storage()) && slices.Equal(a.Logic(m), b.Logic(m))
}

// alike reports whether two multipliers add equally many words of the same width, and round and clip alike.
func (s *ScaledForm) alike(o *ScaledForm) bool {
	n, width := s.Terms()
	terms, bits := o.Terms()
	return n == terms && width == bits && s.Rounds() == o.Rounds() && s.Clips() == o.Clips()
}
