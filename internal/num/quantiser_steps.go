package num

import "math/big"

// StepFunctionOver returns the quantiser over a range as a step function. few is false, and s empty, if that has more
// than limit steps.
//
// The value is v from the x on where rounding reaches v. For a scale s > 0 that is the least x with s*x + b >= c,
// or > c if a tie rounds down. Here c is v minus 0, 1/2 or 1 (reaches). In integers, (c - b)/s is a fraction whose
// numerator grows by the same amount for each v. So one division for the first v suffices, and one addition for
// each other v.
func (q ExactQuantiser) StepFunctionOver(x Range, limit int) (s StepFunction, few bool) {
	if q.Scale.Sign() < 0 {
		m := q
		m.Scale = new(big.Rat).Neg(q.Scale)
		if s, few = m.StepFunctionOver(x.Negated(), limit); few {
			s = s.WithNegatedInput()
		}
		return s, few
	}
	first, last := q.CodeAt(x.Lo), q.CodeAt(x.Hi)
	s.Value = append(s.Value, first)
	if first == last {
		return s, true
	}
	if q.Scale.Cmp(big.NewRat(1, 1)) >= 0 { // the value changes at every x between the limits
		return q.everyStep(x, limit)
	}
	if uint64(last)-uint64(first) > uint64(limit)+1 {
		return StepFunction{}, false
	}
	n := int(last - first)
	s.At, s.Value = make([]int64, 0, n), append(make([]int64, 0, n+1), first)
	var at stair
	for v := first + 1; v <= last; v++ {
		less, tie := q.Mode.reaches(v)
		if v == first+1 || less != at.less {
			at = q.stair(v, less)
		} else {
			at.next()
		}
		if n := len(s.At); n > 0 && at.reached(tie) == s.At[n-1] { // rounding away from zero gives 0 only for 0
			s.Value[n] = v
		} else {
			s.At, s.Value = append(s.At, at.reached(tie)), append(s.Value, v)
		}
	}
	if len(s.At) > limit {
		return StepFunction{}, false
	}
	return s, true
}

// everyStep does what StepFunctionOver does, for a scale of 1 or more.
func (q ExactQuantiser) everyStep(x Range, limit int) (s StepFunction, few bool) {
	last := q.CodeAt(x.Lo)
	s.Value = append(s.Value, last)
	end := q.CodeAt(x.Hi)
	for i := x.Lo; last != end; {
		i++
		v := q.CodeAt(i)
		if v == last { // still at the lower limit
			next := q.leaves(i, x.Hi)
			i, v = next, q.CodeAt(next)
		}
		if len(s.At) == limit {
			return StepFunction{}, false
		}
		s.At, s.Value, last = append(s.At, i), append(s.Value, v), v
	}
	return s, true
}

// leaves returns the first x above lo whose value differs from the value at lo, which is the lower limit. The value
// at hi must differ.
func (q ExactQuantiser) leaves(lo, hi int64) int64 {
	least := q.CodeAt(lo)
	for uint64(hi)-uint64(lo) > 1 {
		if m := lo + int64((uint64(hi)-uint64(lo))/2); q.CodeAt(m) == least {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}

// reaches returns, as a number of halves below v, the point from which on rounding gives v. there is false if the point
// itself still rounds to less.
func (r Rounding) reaches(v int64) (halves int64, there bool) {
	switch r {
	case RoundingHalfEven:
		return 1, v%2 == 0
	case RoundingHalfOdd:
		return 1, v%2 != 0
	case RoundingHalfUp:
		return 1, true
	case RoundingHalfAwayFromZero:
		return 1, v > 0
	case RoundingHalfTowardZero:
		return 1, v <= 0
	case RoundingCeil:
		return 2, false
	case RoundingTowardZero:
		if v <= 0 {
			return 2, false
		}
	case RoundingAwayFromZero:
		if v > 0 {
			return 2, false
		}
	}
	return 0, true
}

// A stair computes (c - b)/s for successive values v, as whole + rest/den.
type stair struct {
	less             int64
	whole, rest, den *big.Int
	up, more         *big.Int // increments of whole and rest for the next value
}

// stair returns the stair for value v, which rounding reaches the given number of halves below v.
func (q ExactQuantiser) stair(v, less int64) stair {
	a := stair{less: less, whole: new(big.Int), rest: new(big.Int), up: new(big.Int), more: new(big.Int)}
	bd, sd := q.Bias.Denom(), q.Scale.Denom()
	a.den = new(big.Int).Mul(bd, q.Scale.Num())
	a.den.Lsh(a.den, 1)
	n := new(big.Int).Lsh(big.NewInt(v), 1)
	n.Sub(n, big.NewInt(less)).Mul(n, bd)
	n.Sub(n, new(big.Int).Lsh(q.Bias.Num(), 1)).Mul(n, sd)
	a.whole.DivMod(n, a.den, a.rest)
	each := new(big.Int).Mul(bd, sd)
	a.up.DivMod(each.Lsh(each, 1), a.den, a.more)
	return a
}

// next advances to the next value.
func (a *stair) next() {
	a.whole.Add(a.whole, a.up)
	if a.rest.Add(a.rest, a.more); a.rest.Cmp(a.den) >= 0 {
		a.rest.Sub(a.rest, a.den)
		a.whole.Add(a.whole, big.NewInt(1))
	}
}

// reached returns the least integer at or above the stair's number, or strictly above it if there is false.
func (a *stair) reached(there bool) int64 {
	x := a.whole.Int64()
	if !there || a.rest.Sign() != 0 {
		x++
	}
	return x
}
