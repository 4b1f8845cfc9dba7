package steps

import (
	"slices"

	"hlsgen/hlslib/cost"
)

// Alike reports whether two forms of functions with as many thresholds, of the same types, take the same, and are as
// fast: what they differ in are numbers in tables. Either may be nil.
func Alike(a, b Form, m cost.Model) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, multiplies := a.(*Scaled)
	y, other := b.(*Scaled)
	if multiplies != other || multiplies && !x.alike(y) {
		return false
	}
	return a.Clocks() == b.Clocks() && a.Apart() == b.Apart() && a.Lanes() == b.Lanes() &&
		slices.Equal(a.Storage(), b.Storage()) && slices.Equal(a.Logic(m), b.Logic(m))
}

// alike reports whether two multipliers add, round and clip the same.
func (s *Scaled) alike(o *Scaled) bool {
	n, width := s.Terms()
	terms, bits := o.Terms()
	return n == terms && width == bits && s.Rounds() == o.Rounds() && s.Clips() == o.Clips()
}
