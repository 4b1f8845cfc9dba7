package circuit

import (
	"fmt"
)

// A circuit may compute values that it does not use: an index beyond the last one in the iteration that begins again,
// numbers of a row that was never written. So a step that fails is a doubt at first. It is an error if a word that is
// written, a state, an array, or what moves depends on its value.
//
// A follower finds what depends on the doubts of an iteration.
type follower struct{ *Machine }

// judge returns the error of the iteration's first doubt if something that the iteration writes or moves depends on one
// of its doubts, and otherwise nil.
func (r follower) judge() error {
	if len(r.doubts) == 0 {
		return nil
	}
	first := r.doubts[0]
	r.follow()
	r.doubts = r.doubts[:0]
	used := false
	for _, s := range r.in {
		used = used || r.wrong[s.when] != 0
	}
	for _, s := range r.out {
		used = used || r.depends(s.when, s.word, s.limbs)
	}
	for _, u := range r.states {
		used = used || r.depends(u.when, u.from, u.limbs)
	}
	for _, w := range r.arrays {
		used = used || r.depends(w.when, w.word, w.limbs) || r.depends(w.when, w.address, 1)
	}
	if !used {
		return nil
	}
	return r.failure(first)
}

// depends reports whether the use of a value depends on doubts: its condition does, or it holds and the value does.
// when is the place of the condition. The value has limbs parts from the place from on.
func (r follower) depends(when, from, limbs int32) bool {
	return r.wrong[when] != 0 || r.values[when] == 1 && hasBits(r.wrong[from:from+limbs])
}

// failure returns an error that names the operation of a failed step, and its result or address.
func (r follower) failure(s *step) error {
	switch s.do {
	case doCall:
		f := r.functions[s.k]
		r.enter(s)
		f.run(f.code)
		inner := f.doubts[0]
		f.doubts = f.doubts[:0]
		return fmt.Errorf("%s, in the call of %s: %w", r.describe(s.node), f.m.Name, follower{f}.failure(inner))
	case doRow, doForwardedRow, wideRow:
		return r.beyond(s.node, int(s.k), r.values[s.a])
	}
	if s.after&comparesWide != 0 {
		return fmt.Errorf("%s is %v, outside of %v", r.describe(s.node), r.pair(s.to), r.spans[s.lo])
	}
	return fmt.Errorf("%s is %d, outside of %v", r.describe(s.node), int64(r.values[s.to]), r.m.Nodes[s.node].Range)
}

// follow sets in wrong the bits of all values that depend on doubts. In a function, wrong has those of the arguments
// already.
func (r follower) follow() {
	if r.wrong == nil {
		r.wrong = make([]uint64, len(r.values))
	}
	if r.m.Pins == nil {
		clear(r.wrong)
	}
	next := 0
	for i := range r.code {
		s := &r.code[i]
		if next < len(r.doubts) && r.doubts[next] == s {
			for next++; next < len(r.doubts) && r.doubts[next] == s; next++ {
				continue
			}
			if s.do != doCall {
				r.spoil(s.to, r.length(s))
				continue
			}
		}
		r.pass(s)
	}
}

// length returns the number of 64-bit parts of a step's result.
func (r follower) length(s *step) int32 {
	switch s.do {
	case wideMux, widePick, wideRow, doForwardedRow:
		return s.n
	case wideSlice:
		return int32(LimbCount(int(s.n)))
	case wideConcatenate, wideCopy:
		return s.k
	case wideArithmetic:
		return int32(r.limbs(s.node))
	}
	return 1
}

// spoil marks all bits of a value as wrong. The value has limbs parts from the place at on.
func (r follower) spoil(at, limbs int32) {
	for i := range r.wrong[at : at+limbs] {
		r.wrong[int(at)+i] = ^uint64(0)
	}
}

// pass sets in wrong the bits of a step's result that depend on wrong bits of its operands.
func (r follower) pass(s *step) {
	v, w := r.values, r.wrong
	var y uint64
	switch s.do {
	case doAdd, doSubtract, doMultiply, doLess, doEqual:
		if w[s.a]|w[s.b] != 0 {
			y = ^uint64(0)
		}
	case doSumOfThree:
		if w[s.a]|w[s.b]|w[s.c] != 0 {
			y = ^uint64(0)
		}
	case doAnd:
		y = w[s.a]&(v[s.b]|w[s.b]) | w[s.b]&v[s.a]
	case doOr:
		y = w[s.a]&(^v[s.b]|w[s.b]) | w[s.b]&^v[s.a]
	case doXor:
		y = w[s.a] | w[s.b]
	case doNot, doCopy:
		y = w[s.a]
	case doTable:
		y = r.undecided(s)
	case doShiftLeft:
		y = w[s.a] << s.k
	case doShiftRight:
		y = uint64(int64(w[s.a]) >> s.k)
	case doBits:
		y = w[s.a] & s.mask
	case doSlice:
		y = w[s.a] >> s.k & s.mask
	case doSliceTwo:
		y = (w[s.a]>>s.k | w[s.a+1]<<(64-s.k)) & s.mask
	case doConcatenate:
		at := 0
		for list := r.lists[s.b:][:2*s.n]; len(list) > 1; list = list[2:] {
			y |= w[list[0]] << at
			at += int(list[1])
		}
	default:
		r.passWide(s)
		return
	}
	if s.after&wrapsSigned != 0 {
		y = uint64(int64(y<<s.shift) >> s.shift)
	} else if s.after&wrapsUnsigned != 0 {
		y = y << s.shift >> s.shift
	}
	w[s.to] = y
}

// undecided returns 1 if the result of a logic table depends on wrong operands, and otherwise 0.
func (r follower) undecided(s *step) uint64 {
	list := r.lists[s.b:][:2*s.n]
	wrong := uint64(0)
	for i := 0; i < len(list); i += 2 {
		wrong |= (r.wrong[list[i]] & 1) << (i / 2)
	}
	at := r.number(s)
	for change := wrong; change != 0; change = (change - 1) & wrong {
		if s.mask>>at&1 != s.mask>>(at^change)&1 {
			return 1
		}
	}
	return 0
}

// passWide does what pass does for selections, memories, calls and values of more than 64 bits.
func (r follower) passWide(s *step) {
	v, w := r.values, r.wrong
	n := r.length(s)
	from := int32(-1) // place of the operand whose wrong bits are the result's; -1 for none, -2 for all bits
	switch s.do {
	case doMux, wideMux:
		switch {
		case w[s.a] != 0:
			for i := range n {
				w[s.to+i] = v[s.b+i] ^ v[s.c+i] | w[s.b+i] | w[s.c+i]
			}
			return
		case v[s.a] == 1:
			from = s.b
		default:
			from = s.c
		}
	case doPick, widePick:
		if from = r.lists[r.picked(s)]; w[s.a] != 0 {
			from = -2
		}
	case doRow, wideRow:
		if w[s.a] != 0 {
			from = -2
		}
	case doForwardedRow:
		switch {
		case w[s.a]|w[s.b]|w[s.c] != 0:
			from = -2
		case v[s.c] == 1 && v[s.b] == v[s.a]:
			from = int32(s.lo)
		}
	case doCall:
		r.passCall(s)
		return
	case wideLess, wideEqual, wideArithmetic:
		for _, a := range r.m.Nodes[s.node].Args {
			if hasBits(w[r.slots[a]:][:r.limbs(a)]) {
				from = -2
			}
		}
	case wideSlice:
		for i, low := 0, int(s.k); i < int(s.n); i, low = i+64, low+64 {
			w[int(s.to)+i/64] = get(w[s.a:s.a+s.b], low, min(64, int(s.n)-i))
		}
		return
	case wideConcatenate:
		r.concatenate(s, w)
		return
	case wideCopy:
		extend(w[s.to:s.to+n], w[s.a:s.a+s.b], s.mask&1 != 0)
		finish(w[s.to:s.to+n], int(s.n), s.mask&2 != 0)
		return
	}
	switch from {
	case -1:
		clear(w[s.to : s.to+n])
	case -2:
		r.spoil(s.to, n)
	default:
		copy(w[s.to:s.to+n], w[from:])
	}
}

// passCall does what pass does for a call: it follows the wrong bits of the arguments through the function.
func (r follower) passCall(s *step) {
	f := r.functions[s.k]
	f.wrong = make([]uint64, len(f.values))
	list := r.enter(s)
	for args := r.lists[s.b:][:3*s.n]; len(args) > 0; args = args[3:] {
		copy(f.wrong[args[1]:args[1]+args[2]], r.wrong[args[0]:])
	}
	f.run(f.code)
	follower{f}.follow()
	f.doubts = f.doubts[:0]
	for ; len(list) > 0; list = list[3:] {
		copy(r.wrong[list[1]:list[1]+list[2]], f.wrong[list[0]:])
	}
}
