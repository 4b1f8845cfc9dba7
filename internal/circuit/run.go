package circuit

import "hlsgen/internal/num"

// run executes steps in turn. It notes as doubts those whose results lie outside of their range, or that reach beyond a
// memory.
func (r *Machine) run(code []step) {
	v := r.values
	for i := range code {
		s := &code[i]
		var y uint64
		switch s.do {
		case doAdd:
			y = v[s.a] + v[s.b]
		case doSubtract:
			y = v[s.a] - v[s.b]
		case doSumOfThree:
			y = v[s.a] + signed(v[s.b], s.k, 1) + signed(v[s.c], s.k, 2)
		case doMultiply:
			y = v[s.a] * v[s.b]
		case doAnd:
			y = v[s.a] & v[s.b]
		case doOr:
			y = v[s.a] | v[s.b]
		case doXor:
			y = v[s.a] ^ v[s.b]
		case doNot:
			y = v[s.a] ^ 1
		case doTable:
			y = s.mask >> r.number(s) & 1
		case doMux:
			if y = v[s.c]; v[s.a] == 1 {
				y = v[s.b]
			}
		case doPick:
			y = v[r.lists[r.picked(s)]]
		case doLess:
			y = truth(int64(v[s.a]) < int64(v[s.b]))
		case doEqual:
			y = truth(v[s.a] == v[s.b])
		case doShiftLeft:
			y = v[s.a] << s.k
		case doShiftRight:
			y = uint64(int64(v[s.a]) >> s.k)
		case doCopy:
			y = v[s.a]
		case doBits:
			y = v[s.a] & s.mask
		case doSlice:
			y = v[s.a] >> s.k & s.mask
		case doSliceTwo:
			y = (v[s.a]>>s.k | v[s.a+1]<<(64-s.k)) & s.mask
		case doConcatenate:
			at := 0
			for list := r.lists[s.b:][:2*s.n]; len(list) > 1; list = list[2:] {
				y |= v[list[0]] << at
				at += int(list[1])
			}
		case doRow:
			if at := v[s.a]; at < s.mask {
				y = r.rows[s.k][at]
			} else {
				r.doubt(s)
			}
		default:
			if r.wide(s) {
				continue
			}
			y = v[s.to]
		}
		if s.after != 0 {
			if s.after&wrapsSigned != 0 {
				y = uint64(int64(y<<s.shift) >> s.shift)
			} else if s.after&wrapsUnsigned != 0 {
				y = y << s.shift >> s.shift
			}
			if s.after&compares != 0 && (int64(y) < s.lo || int64(y) > s.hi) {
				r.doubt(s)
			}
		}
		v[s.to] = y
	}
}

// signed returns v, or -v if bit i of k is 1.
func signed(v uint64, k int32, i int) uint64 {
	if k>>i&1 != 0 {
		return -v
	}
	return v
}

// doubt notes that a step has failed.
func (r *Machine) doubt(s *step) { r.doubts = append(r.doubts, s) }

// number returns the number whose bits are the conditions that a step of a logic table lists, the first one lowest.
func (r *Machine) number(s *step) (n uint64) {
	list := r.lists[s.b:][:2*s.n]
	for i := 0; i < len(list); i += 2 {
		n |= r.values[list[i]] << (i / 2)
	}
	return n
}

// picked returns the index in lists of the place that a step selects. A number that is too large selects the last
// place.
func (r *Machine) picked(s *step) int32 {
	return s.b + int32(min(r.values[s.a], uint64(s.k-1)))
}

// wide executes a step with operands or results of more than 64 bits, a call, or the read of a row that the iteration
// may have written. If done is false, the result is a number of 64 bits that is still to be wrapped and compared.
func (r *Machine) wide(s *step) (done bool) {
	v := r.values
	switch s.do {
	case doCall:
		r.call(s)
	case doForwardedRow, wideRow:
		r.row(s)
	case wideLess:
		v[s.to] = truth(r.operand(s, 0).Less(r.operand(s, 1)))
	case wideEqual:
		v[s.to] = truth(r.operand(s, 0) == r.operand(s, 1))
	case wideArithmetic:
		if !r.compute(s) {
			return false
		}
	case wideMux:
		from := s.c
		if v[s.a] == 1 {
			from = s.b
		}
		copy(v[s.to:s.to+s.n], v[from:])
	case widePick:
		copy(v[s.to:s.to+s.n], v[r.lists[r.picked(s)]:])
	case wideSlice:
		from := v[s.a : s.a+s.b]
		for i, low := 0, int(s.k); i < int(s.n); i, low = i+64, low+64 {
			v[int(s.to)+i/64] = get(from, low, min(64, int(s.n)-i))
		}
	case wideConcatenate:
		r.concatenate(s, r.values)
	case wideCopy:
		to := v[s.to : s.to+s.k]
		extend(to, v[s.a:s.a+s.b], s.mask&1 != 0)
		finish(to, int(s.n), s.mask&2 != 0)
	}
	if s.after&comparesWide != 0 && !r.spans[s.lo].Contains(r.pair(s.to)) {
		r.doubt(s)
	}
	return true
}

// operand returns operand i of a step's node, which must be a number.
func (r *Machine) operand(s *step, i int) num.Wide {
	id := r.m.Nodes[s.node].Args[i]
	at := r.slots[id]
	if r.limbs(id) == 1 {
		return num.WideOf(int64(r.values[at]))
	}
	return r.pair(at)
}

// pair returns the number of two parts at a place.
func (r *Machine) pair(at int32) num.Wide {
	return num.Wide{Hi: int64(r.values[at+1]), Lo: r.values[at]}
}

// compute executes a step of arithmetic on wide numbers. If done is false, the result has at most 64 bits, and is still
// to be wrapped and compared.
func (r *Machine) compute(s *step) (done bool) {
	n := &r.m.Nodes[s.node]
	y := r.operand(s, 0)
	switch n.Op {
	case OpAdd:
		y = y.Plus(r.operand(s, 1))
	case OpSubtract:
		y = y.Minus(r.operand(s, 1))
	case OpSumOfThree:
		for i := range n.Args[1:] {
			if n.Subtracts(i + 1) {
				y = y.Minus(r.operand(s, i+1))
			} else {
				y = y.Plus(r.operand(s, i+1))
			}
		}
	case OpMultiply:
		y = y.Times(r.operand(s, 1))
	case OpShiftByConstant:
		y = y.Shifted(n.K)
	}
	r.values[s.to] = y.Lo
	if limbsOf(n) == 1 {
		return false
	}
	r.values[s.to+1] = uint64(y.Hi)
	finish(r.values[s.to:s.to+2], n.Width, n.Signed)
	return true
}

// concatenate executes a step that joins words to one of more than 64 bits. values holds the values of all nodes, or
// their wrong bits.
func (r *Machine) concatenate(s *step, values []uint64) {
	to := values[s.to : s.to+s.k]
	clear(to)
	at := 0
	for list := r.lists[s.b:][:2*s.n]; len(list) > 1; list = list[2:] {
		from, width := int(list[0]), int(list[1])
		for i := 0; i < width; i += 64 {
			put(to, at+i, values[from+i/64], min(64, width-i))
		}
		at += width
	}
}

// row executes a step that reads a row of any width. If the iteration itself writes that row at an earlier stage, the
// result is the written word.
func (r *Machine) row(s *step) {
	at := r.values[s.a]
	to := r.values[s.to : s.to+s.n]
	if at >= s.mask {
		r.doubt(s)
		clear(to)
		return
	}
	if s.do == doForwardedRow && r.values[s.c] == 1 && r.values[s.b] == at {
		copy(to, r.values[s.lo:])
		return
	}
	copy(to, r.rows[s.k][int(at)*int(s.n):])
}

// call executes a step that calls a function. If a step of the function fails, the call becomes a doubt.
func (r *Machine) call(s *step) {
	f := r.functions[s.k]
	list := r.enter(s)
	f.run(f.code)
	if len(f.doubts) > 0 {
		f.doubts = f.doubts[:0]
		r.doubt(s)
	}
	for ; len(list) > 0; list = list[3:] {
		copy(r.values[list[1]:list[1]+list[2]], f.values[list[0]:])
	}
}

// enter copies the arguments of a call to the function's machine. It returns the part of the step's list that is for
// results.
func (r *Machine) enter(s *step) []int32 {
	f := r.functions[s.k]
	list := r.lists[s.b:][:3*(s.n+s.c)]
	for ; len(list) > int(3*s.c); list = list[3:] {
		copy(f.values[list[1]:list[1]+list[2]], r.values[list[0]:])
	}
	return list
}
