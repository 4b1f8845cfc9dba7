package steps

import (
	"bytes"
	"slices"
	"sync"

	"hlsgen/internal/num"
)

// A ramp is a function as a stair, and what was found of the lines that equal it. Functions that are some of others
// share their ramps: the layers that share a layer's channels would find the same lines again.
type ramp struct {
	num.Stair
	mutex sync.Mutex
	keys  []byte // of what was found: the rounding, and 6 bits of shift
	found []*slope
}

// A slope is the multipliers of a ramp's lines with a shift, and the one of them of fewest digits.
type slope struct {
	multipliers num.Range
	passes      bool // there is one
	fewest      int64
	digits      int // of that one
}

// find is slope.
func (r *ramp) find(mode num.Rounding, shift int) *slope {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.slope(mode, shift)
}

// slope finds them once. The ramp is locked.
func (r *ramp) slope(mode num.Rounding, shift int) *slope {
	key := byte(slices.Index(scalings, mode))<<6 | byte(shift)
	at := bytes.IndexByte(r.keys, key)
	if at < 0 {
		s := &slope{}
		if s.multipliers, s.passes = r.Multipliers(mode, shift); s.passes {
			s.fewest, s.digits = fewestDigits(s.multipliers)
		}
		at, r.keys, r.found = len(r.found), append(r.keys, key), append(r.found, s)
	}
	return r.found[at]
}

// passes reports whether there are lines with a shift: those that were found with a lesser one may tell. The ramp is
// locked.
func (r *ramp) passes(mode num.Rounding, shift int) bool {
	rounds := byte(slices.Index(scalings, mode))
	for i, key := range r.keys {
		known := int(key & 63)
		if s := r.found[i]; key>>6 == rounds && known < shift && s.passes && r.Lasts(s.multipliers, known, shift) {
			return true
		}
	}
	return r.slope(mode, shift).passes
}

// rampsOf are those of the functions' stairs.
func (f *Functions) rampsOf(stairs []num.Stair) []*ramp {
	list := make([]*ramp, len(stairs))
	if f.whole != nil {
		f.whole.bind()
		for c := range stairs {
			if c < len(f.channels) && f.channels[c] < len(f.whole.lines.ramps) {
				if r := f.whole.lines.ramps[f.channels[c]]; same(&r.Stair, &stairs[c]) {
					list[c] = r
				}
			}
		}
	}
	for c := range list {
		if list[c] == nil {
			list[c] = &ramp{Stair: stairs[c]}
		}
	}
	return list
}

// same reports whether two stairs are the same.
func same(a, b *num.Stair) bool {
	return a.X == b.X && a.V == b.V && a.Limits == b.Limits && slices.Equal(a.F.At, b.F.At) &&
		slices.Equal(a.F.Value, b.F.Value)
}
