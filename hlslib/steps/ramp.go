package steps

import (
	"bytes"
	"slices"
	"sync"

	"hlsgen/internal/num"
)

// A ramp is a step function, with the lines found so far that equal it. Layers that share the function share the ramp,
// so that each line is searched for only once.
type ramp struct {
	num.LineFitTarget
	mutex sync.Mutex
	keys  []byte // of the lines found: the rounding, and 6 bits of shift
	found []*slope
}

// A slope holds the multipliers of all lines that equal a ramp with a given shift, and the one among them with the
// fewest digits.
type slope struct {
	multipliers num.Range
	passes      bool // at least one line exists
	fewest      int64
	digits      int // digits of fewest
}

// find locks the ramp and returns its slope for a rounding and a shift.
func (r *ramp) find(mode num.Rounding, shift int) *slope {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.slope(mode, shift)
}

// slope returns the multipliers of the lines that equal the ramp for a rounding and a shift, and remembers them. The
// caller must hold the lock.
func (r *ramp) slope(mode num.Rounding, shift int) *slope {
	key := byte(slices.Index(scalings, mode))<<6 | byte(shift)
	at := bytes.IndexByte(r.keys, key)
	if at < 0 {
		s := &slope{}
		if s.multipliers, s.passes = r.MatchingSlopes(mode, shift); s.passes {
			s.fewest, s.digits = fewestDigits(s.multipliers)
		}
		at, r.keys, r.found = len(r.found), append(r.keys, key), append(r.found, s)
	}
	return r.found[at]
}

// passes reports whether a line with the rounding and the shift equals the ramp. Lines found with a smaller shift may
// settle the question. The caller must hold the lock.
func (r *ramp) passes(mode num.Rounding, shift int) bool {
	rounds := byte(slices.Index(scalings, mode))
	for i, key := range r.keys {
		known := int(key & 63)
		if s := r.found[i]; key>>6 == rounds && known < shift && s.passes && r.MatchesAtLargerShift(s.multipliers,
			known, shift) {
			return true
		}
	}
	return r.slope(mode, shift).passes
}

// rampsOf returns a ramp for each of the staircases of f's functions. It reuses ramps of the functions from which these
// are selected.
func (f *StepFunctions) rampsOf(stairs []num.LineFitTarget) []*ramp {
	list := make([]*ramp, len(stairs))
	if f.whole != nil {
		f.whole.bind()
		for c := range stairs {
			if c < len(f.channels) && f.channels[c] < len(f.whole.lines.ramps) {
				if r := f.whole.lines.ramps[f.channels[c]]; same(&r.LineFitTarget, &stairs[c]) {
					list[c] = r
				}
			}
		}
	}
	for c := range list {
		if list[c] == nil {
			list[c] = &ramp{LineFitTarget: stairs[c]}
		}
	}
	return list
}

// same reports whether two staircases are equal.
func same(a, b *num.LineFitTarget) bool {
	return a.X == b.X && a.V == b.V && a.Limits == b.Limits && slices.Equal(a.F.At, b.F.At) &&
		slices.Equal(a.F.Value, b.F.Value)
}
