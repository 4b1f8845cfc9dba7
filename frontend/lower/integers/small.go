package integers

import (
	"math/big"
	"math/bits"
)

// A small is a SumLattice whose factors are shifted right until every sum fits into an int64. A true sum divided by
// 2^shift is at least the sum of the shifted factors, and exceeds it by less than lost.
type small struct {
	factor, span []uint64
	all          int64 // greatest sum
	shift        uint
	lost         int64 // 0 if nothing was truncated
}

// maxSmall is the largest number of bits that the greatest sum of a small may have.
const maxSmall = 61

// shortened returns the lattice with factors shifted to fit into int64s, or nil if its terms have too many integers for
// that.
func (l *SumLattice) shortened() *small {
	all, count := new(big.Int), new(big.Int)
	for i, f := range l.factor {
		all.Add(all, new(big.Int).Mul(f, l.span[i]))
		count.Add(count, l.span[i])
	}
	if count.BitLen() > maxSmall-8 {
		return nil
	}
	s := &small{}
	if n := all.BitLen(); n > maxSmall {
		s.shift, s.lost = uint(n-maxSmall), count.Int64()+1
	}
	for i, f := range l.factor {
		v := new(big.Int).Rsh(f, s.shift)
		s.factor, s.span = append(s.factor, v.Uint64()), append(s.span, l.span[i].Uint64())
		s.all += int64(v.Uint64() * l.span[i].Uint64())
	}
	return s
}

// around returns an upper bound of the greatest sum below first, and a lower bound of the least sum from first on. Each
// is nil if there is no such sum. ok is false if s is nil or the lost bits might matter.
func (s *small) around(first *big.Int) (below, from *big.Int, ok bool) {
	if s == nil {
		return nil, nil, false
	}
	one := big.NewInt(1)
	// Sums that reach first lie behind begin, and the others at most at end.
	end := new(big.Int).Sub(first, one)
	end.Rsh(end, s.shift)
	begin := new(big.Int).Sub(new(big.Int).Rsh(first, s.shift), big.NewInt(s.lost))
	if s.lost == 0 {
		begin.Set(end)
	}
	low, high := s.clipped(begin), s.clipped(end)
	f, reached := s.least(low + 1)
	if reached && f <= high {
		return nil, nil, false
	}
	if reached {
		from = new(big.Int).Lsh(big.NewInt(f), s.shift)
	}
	if b, any := s.least(s.all - low); any {
		below = new(big.Int).Lsh(big.NewInt(s.all-b+s.lost), s.shift)
	}
	return below, from, true
}

// clipped returns v limited to the greatest sum, or -1 if v is negative.
func (s *small) clipped(v *big.Int) int64 {
	switch {
	case v.Sign() < 0:
		return -1
	case !v.IsInt64() || v.Int64() > s.all:
		return s.all
	}
	return v.Int64()
}

// least returns the least sum that is at least bound. ok is false if all sums are smaller.
func (s *small) least(bound int64) (v int64, ok bool) {
	if bound <= 0 {
		return 0, true
	}
	u, ok := leastSmall(s.factor, s.span, uint64(bound))
	return int64(u), ok
}

// leastSmall returns the least sum of factor[i]*v[i], 0 <= v[i] <= span[i], of at least bound, which is positive. ok is
// false if there is none.
func leastSmall(factor, span []uint64, bound uint64) (v uint64, ok bool) {
	switch len(factor) {
	case 0:
		return 0, false
	case 1:
		if factor[0] == 0 {
			return 0, false
		}
		v = (bound + factor[0] - 1) / factor[0]
		return v * factor[0], v <= span[0]
	case 2:
		return leastOfTwoSmall(factor[0], factor[1], span[0], span[1], bound)
	}
	for x := uint64(0); x <= span[0]; x++ {
		part := x * factor[0]
		if part >= bound {
			if !ok || part < v {
				v, ok = part, true
			}
			break
		}
		if u, found := leastSmall(factor[1:], span[1:], bound-part); found && (!ok || u+part < v) {
			v, ok = u+part, true
		}
	}
	return v, ok
}

// leastOfTwoSmall returns the least a*x + b*y of at least bound, which is positive, with x <= m and y <= n. ok is false
// if there is none. As in leastOfTwo, a must not be less than b.
func leastOfTwoSmall(a, b, m, n, bound uint64) (v uint64, ok bool) {
	if a == 0 {
		return 0, false
	}
	if b == 0 {
		return leastSmall([]uint64{a}, []uint64{m}, bound)
	}
	enough := (bound + a - 1) / a
	if enough <= m {
		v, ok = enough*a, true
	}
	last, first := min(enough-1, m), uint64(0)
	if most := b * n; most < bound {
		first = (bound - most + a - 1) / a
	}
	if first > last {
		return v, ok
	}
	short := (bound - a*first) % b // a*x - bound is negative there
	if short > 0 {
		short = b - short
	}
	if over := bound + leastRemainderSmall(last-first, b, a%b, short); !ok || over < v {
		v, ok = over, true
	}
	return v, ok
}

// leastRemainderSmall is num.LeastLinearRemainder for uint64.
func leastRemainderSmall(n, m, a, c uint64) uint64 {
	if a == 0 || n == 0 {
		return c
	}
	hi, lo := bits.Mul64(a, n)
	lo, carry := bits.Add64(lo, c, 0)
	turns, end := bits.Div64(hi+carry, lo, m)
	if a > m/2 {
		return leastRemainderSmall(n, m, m-a, end)
	}
	if turns == 0 {
		return c
	}
	step, begin := m%a, (m-c)%a
	if step > 0 {
		step = a - step
	}
	if begin > 0 {
		begin = a - begin
	}
	return min(c, leastRemainderSmall(turns-1, a, step, begin))
}
