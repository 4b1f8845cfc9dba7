package num

import "math/big"

// An ExactQuantiser is the function clip(round(Scale*x + Bias)), computed exactly on real numbers as a model defines
// it.
type ExactQuantiser struct {
	Scale, Bias *big.Rat
	Mode        Rounding
	Lo, Hi      int64
}

// CodeAt returns the quantiser's result for x, a code from Lo to Hi.
func (q ExactQuantiser) CodeAt(x int64) int64 {
	d := q.denominator()
	w := wanted{num: new(big.Int), den: d, mode: q.Mode, lo: q.Lo, hi: q.Hi}
	w.num.Mul(big.NewInt(x), whole(q.Scale, d)).Add(w.num, whole(q.Bias, d))
	return w.at(1)
}

// denominator returns the least common denominator of scale and bias.
func (q ExactQuantiser) denominator() *big.Int {
	a, b := q.Scale.Denom(), q.Bias.Denom()
	d := new(big.Int).Mul(a, b)
	return d.Quo(d, new(big.Int).GCD(nil, nil, a, b))
}

// whole returns r*d, which must be an integer.
func whole(r *big.Rat, d *big.Int) *big.Int {
	n := new(big.Int).Quo(d, r.Denom())
	return n.Mul(n, r.Num())
}

// An UnclippedScaling is a quantiser in integers without limits: round((Multiplier*x + Bias)/2^Shift).
type UnclippedScaling struct {
	Multiplier, Bias int64
	Shift            int
	Mode             Rounding
}

// maxScaled limits the bits of a scaling's multiplier and of its bias.
const maxScaled = 61

// FindScalingOver finds a scaling that equals the quantiser at all integers of a range. The scaling rounds down if
// possible, otherwise as the quantiser does. Its shift is close to the least possible one, and not below the
// argument least. If scale and bias are integers over a power of two, they form a scaling themselves.
//
// The result is proved without a test of single integers. Each function takes the value v from where its line
// reaches a boundary. The difference of the two lines is itself a line. The distance of the quantiser's line from
// any boundary, below or above, is the least remainder of an arithmetic progression. If the difference of the lines
// is less than this distance at both ends of a range, no integer in between falls on the other side of a boundary.
//
// ok is false if no scaling within 63 bits is found. For example, no multiplication rounds ties to even, unless
// scale and bias are integers over a power of two.
func (q ExactQuantiser) FindScalingOver(x Range, least int) (s UnclippedScaling, ok bool) {
	if q.Scale.Sign() < 0 {
		q.Scale = new(big.Rat).Neg(q.Scale)
		s, ok = q.FindScalingOver(x.Negated(), least)
		s.Multiplier = -s.Multiplier
		return s, ok
	}
	exact, whole := q.DyadicAsScaling()
	whole = whole && exact.FitsIn63Bits(x)
	for _, mode := range []Rounding{RoundingFloor, q.Mode} {
		if parts, could := q.parts(x, mode, false); could {
			var m, b *big.Int
			var shift int
			if m, b, shift, ok = q.search(parts, least, MaxRequantShift, maxScaled); ok {
				s = UnclippedScaling{m.Int64(), b.Int64(), shift, mode}
				if ok = s.FitsIn63Bits(x); ok {
					break
				}
			}
		}
	}
	if whole && (!ok || exact.Shift <= s.Shift) {
		return exact.WithShiftAtLeast(least), true
	}
	return s, ok
}

// WithShiftAtLeast returns the same function with at least the given shift, by larger factors. It does not check
// whether these fit into int64.
func (s UnclippedScaling) WithShiftAtLeast(shift int) UnclippedScaling {
	if more := shift - s.Shift; more > 0 {
		s.Multiplier, s.Bias, s.Shift = s.Multiplier<<more, s.Bias<<more, shift
	}
	return s
}

// FitsIn63Bits reports whether Multiplier*x + Bias fits into 63 bits for all x of the range.
func (s UnclippedScaling) FitsIn63Bits(x Range) bool {
	p, ok := x.TimesConstant(s.Multiplier)
	sum, ok2 := p.Plus(SingleValueRange(s.Bias))
	return ok && ok2 && max(signedBits(sum.Lo), signedBits(sum.Hi)) <= maxRequantBits
}

// DyadicAsScaling returns the quantiser as a scaling with its own rounding. ok is false unless scale and bias are
// integers over a power of two, and if no layer has that rounding.
func (q ExactQuantiser) DyadicAsScaling() (s UnclippedScaling, ok bool) {
	d := q.denominator()
	s = UnclippedScaling{Shift: d.BitLen() - 1, Mode: q.Mode}
	m, b := whole(q.Scale, d), whole(q.Bias, d)
	if q.Mode == RoundingHalfOdd || d.TrailingZeroBits() != uint(s.Shift) || s.Shift > MaxRequantShift ||
		max(m.BitLen(), b.BitLen()) > maxScaled {
		return UnclippedScaling{}, false
	}
	s.Multiplier, s.Bias = m.Int64(), b.Int64()
	return s, true
}

// A part of a quantiser is a set of values whose boundaries lie alike: the positive values, or all others. For
// integers x from first to last, floor((rise*x + start)/unit) selects the value. A scaling must select the same
// value. It selects v if 2*sum + halves*2^shift - open reaches 2*v*2^shift.
type part struct {
	rise, start, unit *big.Int
	first, last       *big.Int
	least, most       *big.Int // remainders of rise*x + start modulo unit
	halves, open      int64
}

// parts returns the parts of the quantiser over a range, for a scaling with the given rounding. ok is false if no
// such scaling can be equal, or if inputs are ties that go to even or odd numbers; with ties set, these may be such as
// all go up, or all down.
func (q ExactQuantiser) parts(x Range, mode Rounding, ties bool) (list []part, ok bool) {
	if mode == RoundingHalfEven || mode == RoundingHalfOdd {
		return nil, false
	}
	toParity := q.Mode == RoundingHalfEven || q.Mode == RoundingHalfOdd
	for _, v := range [][2]int64{{q.Lo + 1, min(q.Hi, 0)}, {max(q.Lo+1, 1), q.Hi}} {
		if v[0] > v[1] {
			continue
		}
		halves, reached := q.Mode.boundary(v[1])
		if toParity {
			reached = true // true, since no input lies on a boundary
		}
		p := q.part(x, v, halves, reached)
		if toParity && p.least.Sign() == 0 {
			up, alike := p.tiesGoUp(q.Mode)
			if !ties || !alike {
				return nil, false
			}
			p = q.part(x, v, halves, up)
		}
		if p.halves, reached = mode.boundary(v[1]); !reached {
			p.open = 1
		}
		list = append(list, p)
	}
	return list, true
}

// part returns the part of the quantiser over a range x whose values lie from v[0] to v[1]. A boundary lies halves
// halves below its value; reached says whether the boundary itself has that value.
func (q ExactQuantiser) part(x Range, v [2]int64, halves int64, reached bool) part {
	d := q.denominator()
	p := part{rise: whole(q.Scale, d), start: whole(q.Bias, d), unit: new(big.Int).Lsh(d, 1)}
	p.rise.Lsh(p.rise, 1)
	p.start.Lsh(p.start, 1).Add(p.start, new(big.Int).Mul(d, big.NewInt(halves)))
	if !reached {
		p.start.Sub(p.start, big.NewInt(1))
	}
	// first is the last integer below the least value, and last is the first integer with the greatest value.
	p.first, p.last = big.NewInt(x.Lo), big.NewInt(x.Hi)
	if p.rise.Sign() == 0 {
		p.last.Set(p.first)
	} else {
		from := p.reaches(v[0])
		if from.Sub(from, big.NewInt(1)).Cmp(p.first) > 0 {
			p.first.Set(from)
		}
		if to := p.reaches(v[1]); to.Cmp(p.last) < 0 {
			p.last.Set(to)
		}
		if end := big.NewInt(x.Hi); p.first.Cmp(end) > 0 {
			p.first.Set(end)
		}
		if p.last.Cmp(p.first) < 0 {
			p.last.Set(p.first)
		}
	}
	n := new(big.Int).Sub(p.last, p.first)
	step, at := new(big.Int).Mod(p.rise, p.unit), p.line(p.first)
	at.Mod(at, p.unit)
	p.least = LeastLinearRemainder(n, p.unit, step, at)
	// The greatest remainder follows from the least remainder of the complement.
	end := new(big.Int).Sub(p.unit, big.NewInt(1))
	back := new(big.Int).Neg(step)
	p.most = LeastLinearRemainder(n, p.unit, back.Mod(back, p.unit), at.Sub(end, at))
	p.most.Sub(end, p.most)
	return p
}

// line returns rise*x + start.
func (p part) line(x *big.Int) *big.Int {
	y := new(big.Int).Mul(p.rise, x)
	return y.Add(y, p.start)
}

// reaches returns the first integer whose value is v.
func (p part) reaches(v int64) *big.Int {
	y := new(big.Int).Mul(p.unit, big.NewInt(v))
	return ceilQuo(y.Sub(y, p.start), p.rise)
}

// ceilQuo returns a/b rounded up, for a positive b.
func ceilQuo(a, b *big.Int) *big.Int {
	n, rest := new(big.Int).DivMod(a, b, new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return n
}

// tiesGoUp reports whether ties go up to the value that their boundary begins, by a rounding of ties to even or odd
// numbers. p must have a tie, and take ties as reached. alike is false if some go up and others down.
func (p part) tiesGoUp(mode Rounding) (up, alike bool) {
	// Ties are the solutions of rise*x + start = 0 modulo unit: each period integers, from the first one on.
	step := new(big.Int).GCD(nil, nil, p.rise, p.unit)
	period, slope := new(big.Int).Quo(p.unit, step), new(big.Int).Quo(p.rise, step)
	at := p.line(p.first)
	at.Quo(at.Neg(at), step)
	if period.Cmp(big.NewInt(1)) > 0 {
		at.Mul(at, new(big.Int).ModInverse(slope, period))
	}
	at.Mod(at, period)
	at.Add(at, p.first)
	_, up = mode.boundary(new(big.Int).Quo(p.line(at), p.unit).Int64())
	next := at.Add(at, period)
	return up, slope.Bit(0) == 0 || next.Sub(next, p.last).Cmp(big.NewInt(1)) > 0 // values of ties are slope apart
}

// search returns a multiplier, a bias and a shift that equal all parts. It tries shifts in increasing order from least
// to most, and with each the two integers next to the scaled scale. ok is false if it finds none of at most the given
// number of bits.
func (q ExactQuantiser) search(parts []part, least, most, bits int) (m, b *big.Int, shift int, ok bool) {
	for shift = least; shift <= most; shift++ {
		m = new(big.Int).Lsh(q.Scale.Num(), uint(shift))
		m.Quo(m, q.Scale.Denom())
		if m.BitLen() > bits {
			break
		}
		for range 2 {
			if b, ok = biases(parts, m, shift); ok && b.BitLen() <= bits {
				return m, b, shift, true
			}
			m.Add(m, big.NewInt(1))
		}
	}
	return nil, nil, 0, false
}

// biases returns the bias nearest to 0 with which the multiplier m equals all parts at a shift. ok is false if there is
// none.
func biases(parts []part, m *big.Int, shift int) (b *big.Int, ok bool) {
	var lo, hi *big.Int
	for _, p := range parts {
		for _, x := range []*big.Int{p.first, p.last} {
			// least <= 2*m*x + 2*b + halves*2^shift - open < most, over 2^(shift+1)
			at := p.line(x)
			low := new(big.Int).Sub(at, p.least)
			high := at.Add(at, p.unit)
			high.Sub(high, p.most)
			for i, bound := range []*big.Int{low, high} {
				bound = ceilQuo(bound.Lsh(bound, uint(shift)+1), p.unit)
				beside := big.NewInt(p.halves)
				beside.Lsh(beside, uint(shift)).Sub(beside, big.NewInt(p.open))
				beside.Add(beside, new(big.Int).Lsh(new(big.Int).Mul(m, x), 1))
				bound = ceilQuo(bound.Sub(bound, beside), big.NewInt(2))
				switch {
				case i == 0 && (lo == nil || bound.Cmp(lo) > 0):
					lo = bound
				case i == 1 && (hi == nil || bound.Cmp(hi) < 0):
					hi = bound // exclusive
				}
			}
		}
	}
	if lo == nil {
		return new(big.Int), true
	}
	hi.Sub(hi, big.NewInt(1))
	if lo.Cmp(hi) > 0 {
		return nil, false
	}
	b = new(big.Int)
	if lo.Sign() > 0 {
		b.Set(lo)
	}
	if hi.Sign() < 0 {
		b.Set(hi)
	}
	return b, true
}
