package integers

import (
	"math/big"
	"slices"

	"hlsgen/internal/num"
)

// A SumLattice is the exact set of all sums of scale[i]*v[i], where each v[i] is any integer of its own range.
type SumLattice struct {
	unit   *big.Rat // unit of which all scales are integer multiples
	factor []*big.Int
	span   []*big.Int // v[i] counts from 0 to span[i], and factors are positive
	base   *big.Int   // least sum, in units
	small  *small
	spent  float64
}

// NewSumLattice returns the lattice for one scale and one range of integers per term. Terms of scale 0, and terms with
// only one integer, move all sums by a constant.
func NewSumLattice(scale []*big.Rat, ranges []num.Range) *SumLattice {
	l := &SumLattice{unit: GreatestCommonUnitOf(scale), base: new(big.Int)}
	for i, s := range scale {
		f := new(big.Int).Set(new(big.Rat).Quo(s, l.unit).Num())
		r, first := ranges[i], ranges[i].Lo
		if f.Sign() < 0 {
			first = r.Hi
		}
		l.base.Add(l.base, new(big.Int).Mul(f, big.NewInt(first)))
		if f.Sign() != 0 && r.Lo < r.Hi {
			l.factor = append(l.factor, f.Abs(f))
			l.span = append(l.span, new(big.Int).Sub(big.NewInt(r.Hi), big.NewInt(r.Lo)))
		}
	}
	for l.merge() {
	}
	l.order()
	l.small = l.shortened()
	return l
}

// merge replaces two terms by one that has the same sums. One factor must be a multiple of the other, small enough that
// the sums leave no gap. It returns false if there are no such terms.
func (l *SumLattice) merge() bool {
	for i, small := range l.factor {
		for k, large := range l.factor {
			ratio, rest := new(big.Int).QuoRem(large, small, new(big.Int))
			if i == k || rest.Sign() != 0 || ratio.Cmp(new(big.Int).Add(l.span[i], big.NewInt(1))) > 0 {
				continue
			}
			l.span[i] = ratio.Add(ratio.Mul(ratio, l.span[k]), l.span[i])
			l.factor, l.span = slices.Delete(l.factor, k, k+1), slices.Delete(l.span, k, k+1)
			return true
		}
	}
	return false
}

// order puts the two terms with the most integers last, the larger factor first. The search tries all integers of
// the other terms.
func (l *SumLattice) order() {
	n := len(l.factor)
	swap := func(i, k int) {
		l.factor[i], l.factor[k] = l.factor[k], l.factor[i]
		l.span[i], l.span[k] = l.span[k], l.span[i]
	}
	for i := range n {
		for k := i; k > 0 && l.span[k].Cmp(l.span[k-1]) < 0; k-- {
			swap(k, k-1)
		}
	}
	if n > 1 && l.factor[n-2].Cmp(l.factor[n-1]) < 0 {
		swap(n-2, n-1)
	}
}

// EstimatedSearchSteps returns roughly how many steps a search takes; a step tries one integer for a term of the sum.
func (l *SumLattice) EstimatedSearchSteps() float64 {
	work := 1.0
	for i := range l.factor[:max(0, len(l.factor)-2)] {
		n, _ := new(big.Float).SetInt(l.span[i]).Float64()
		work *= n + 1
	}
	return work
}

// EstimatedStepsTaken returns roughly how many steps all searches have taken so far. A step that needs big integers
// counts as several.
func (l *SumLattice) EstimatedStepsTaken() float64 { return l.spent }

// bigStep is the number of steps in int64 that take as long as one in big integers.
const bigStep = 16

// NeighbourSums returns the greatest sum below a bound and the least sum not below it; each is nil if there is none. A
// sum equal to the bound counts as not below if closed is true, and as below otherwise.
func (l *SumLattice) NeighbourSums(bound *big.Rat, closed bool) (below, from *big.Rat) {
	l.spent += 2 * bigStep * l.EstimatedSearchSteps()
	first := l.first(bound, closed)
	if v := least(l.factor, l.span, first); v != nil {
		from = l.real(v)
	}
	// Counted from the other end, the sums below are those that reach: all - v >= all - first + 1.
	all := new(big.Int)
	for i, f := range l.factor {
		all.Add(all, new(big.Int).Mul(f, l.span[i]))
	}
	last := new(big.Int).Sub(all, first)
	if v := least(l.factor, l.span, last.Add(last, big.NewInt(1))); v != nil {
		below = l.real(v.Sub(all, v))
	}
	return below, from
}

// ApproxNeighbourSums is a much faster approximation of NeighbourSums. Each result lies between the bound and the exact
// sum, near that; it is nil if there is no such sum. No sum lies between the two results. Where it is not precise
// enough, it calls NeighbourSums.
func (l *SumLattice) ApproxNeighbourSums(bound *big.Rat, closed bool) (below, from *big.Rat) {
	l.spent += 2 * l.EstimatedSearchSteps()
	b, f, ok := l.small.around(l.first(bound, closed))
	if !ok {
		return l.NeighbourSums(bound, closed)
	}
	if b != nil {
		below = l.real(b)
	}
	if f != nil {
		from = l.real(f)
	}
	return below, from
}

// first returns the bound as a number of units above the least sum, rounded up. If closed is false, a whole number is
// increased by one.
func (l *SumLattice) first(bound *big.Rat, closed bool) *big.Int {
	at := new(big.Rat).Quo(bound, l.unit)
	first, rest := new(big.Int).DivMod(at.Num(), at.Denom(), new(big.Int))
	if rest.Sign() > 0 || !closed {
		first.Add(first, big.NewInt(1))
	}
	return first.Sub(first, l.base)
}

func (l *SumLattice) real(v *big.Int) *big.Rat {
	r := new(big.Rat).SetInt(new(big.Int).Add(v, l.base))
	return r.Mul(r, l.unit)
}

// least returns the least sum of factor[i]*v[i], 0 <= v[i] <= span[i], that is at least bound, or nil if there is
// none. Factors must be positive, and the last must not exceed the one before.
func least(factor, span []*big.Int, bound *big.Int) *big.Int {
	switch len(factor) {
	case 0:
		if bound.Sign() > 0 {
			return nil
		}
		return new(big.Int)
	case 1:
		v := ceilQuo(bound, factor[0])
		if v.Sign() < 0 {
			v.SetInt64(0)
		}
		if v.Cmp(span[0]) > 0 {
			return nil
		}
		return v.Mul(v, factor[0])
	case 2:
		return leastOfTwo(factor[0], factor[1], span[0], span[1], bound)
	}
	var best *big.Int
	one, part, rest := big.NewInt(1), new(big.Int), new(big.Int)
	for v := new(big.Int); v.Cmp(span[0]) <= 0; v.Add(v, one) {
		part.Mul(v, factor[0])
		u := least(factor[1:], span[1:], rest.Sub(bound, part))
		if u == nil {
			continue
		}
		if u.Add(u, part); best == nil || u.Cmp(best) < 0 {
			best = u
		}
		if part.Cmp(bound) >= 0 {
			break // larger values of this term only add
		}
	}
	return best
}

// leastOfTwo returns the least a*x + b*y that is at least bound, or nil if there is none. It requires a >= b > 0; x is
// from 0 to m, and y from 0 to n.
func leastOfTwo(a, b, m, n, bound *big.Int) *big.Int {
	var best *big.Int
	enough := ceilQuo(bound, a) // with this x, y is 0
	if enough.Sign() < 0 {
		enough.SetInt64(0)
	}
	if enough.Cmp(m) <= 0 {
		best = new(big.Int).Mul(enough, a)
	}
	// With smaller x, y is as small as possible, as long as it is at most n.
	last := enough.Sub(enough, big.NewInt(1))
	if last.Cmp(m) > 0 {
		last.Set(m)
	}
	first := new(big.Int).Mul(b, n)
	first = ceilQuo(first.Sub(bound, first), a)
	if first.Sign() < 0 {
		first.SetInt64(0)
	}
	if first.Cmp(last) > 0 {
		return best
	}
	// a*x + b*y - bound is (a*x - bound) mod b for that y.
	start := new(big.Int).Mul(a, first)
	start.Sub(start, bound).Mod(start, b)
	over := num.LeastLinearRemainder(last.Sub(last, first), b, new(big.Int).Mod(a, b), start)
	if over.Add(over, bound); best == nil || over.Cmp(best) < 0 {
		best = over
	}
	return best
}

// ceilQuo returns a/b rounded up, for a positive b.
func ceilQuo(a, b *big.Int) *big.Int {
	q, r := new(big.Int).DivMod(a, b, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}
