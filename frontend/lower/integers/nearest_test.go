package integers

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// TestAround compares Around with a search over all integers.
func TestAround(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(1, 2))
	both := 0
	for range 3000 {
		n := 1 + r.IntN(3)
		scale, ranges := make([]*big.Rat, n), make([]num.Range, n)
		for i := range n {
			scale[i] = big.NewRat(r.Int64N(400)-200, 1+r.Int64N(40))
			ranges[i].Lo = r.Int64N(20) - 10
			ranges[i].Hi = ranges[i].Lo + r.Int64N([]int64{400, 60, 12}[n-1])
		}
		bound, closed := big.NewRat(r.Int64N(4000)-2000, 1+r.Int64N(20)), r.IntN(2) == 0
		var below, from *big.Rat
		v := make([]int64, n)
		var try func(i int)
		try = func(i int) {
			if i < n {
				for v[i] = ranges[i].Lo; v[i] <= ranges[i].Hi; v[i]++ {
					try(i + 1)
				}
				return
			}
			sum := new(big.Rat)
			for i, x := range v {
				sum.Add(sum, new(big.Rat).Mul(scale[i], big.NewRat(x, 1)))
			}
			if c := sum.Cmp(bound); c > 0 || c == 0 && closed {
				if from == nil || sum.Cmp(from) < 0 {
					from = sum
				}
			} else if below == nil || sum.Cmp(below) > 0 {
				below = sum
			}
		}
		try(0)
		l := NewSumLattice(scale, ranges)
		gotBelow, gotFrom := l.NeighbourSums(bound, closed)
		if !same(gotBelow, below) || !same(gotFrom, from) {
			t.Fatalf("%v over %v around %v (%t): %v and %v, want %v and %v", scale, ranges, bound, closed, gotBelow,
				gotFrom, below, from)
		}
		if b, f := l.ApproxNeighbourSums(bound, closed); !same(b, below) || !same(f, from) {
			t.Fatalf("%v over %v near %v (%t): %v and %v, want %v and %v", scale, ranges, bound, closed, b, f, below,
				from)
		}
		if below != nil && from != nil {
			both++
		}
	}
	if both < 1000 {
		t.Errorf("%d bounds lie among the sums: too few to tell", both)
	}
}

func same(a, b *big.Rat) bool { return a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0 }

// TestNear compares the approximation with the exact result.
func TestNear(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	cut, quick := 0, 0
	for range 1500 {
		n := 2 + r.IntN(2)
		scale, ranges := make([]*big.Rat, n), make([]num.Range, n)
		for i := range n {
			scale[i] = new(big.Rat).SetFloat64(r.NormFloat64() * float64(int64(1)<<r.IntN(30)))
			ranges[i].Lo = -r.Int64N(1 << 12)
			ranges[i].Hi = r.Int64N([]int64{1 << 16, 1 << 4}[n-2])
			if n == 3 {
				ranges[i].Lo = -3
			}
		}
		l := NewSumLattice(scale, ranges)
		if l.small.shift > 0 {
			cut++
		}
		bound := new(big.Rat).SetFloat64(r.NormFloat64() * 1e9)
		below, from := l.NeighbourSums(bound, true)
		b, f := l.ApproxNeighbourSums(bound, true)
		if (b == nil) != (below == nil) || (f == nil) != (from == nil) || b != nil && b.Cmp(below) < 0 ||
			f != nil && f.Cmp(from) > 0 {
			t.Fatalf("%v over %v: %v and %v, want %v and %v", scale, ranges, b, f, below, from)
		}
		if b != nil && f != nil && b.Cmp(f) < 0 {
			quick++
		}
	}
	if cut < 500 || quick < 500 {
		t.Errorf("%d lattices in few bits, %d bounds between: too few to tell", cut, quick)
	}
}
