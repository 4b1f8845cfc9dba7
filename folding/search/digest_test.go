package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDigests checks that digests never exclude a list whose amounts are all within another's, and exclude most others.
func TestDigests(t *testing.T) {
	t.Parallel()
	passed, failed := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := r.IntN(liveKinds)
		d := newDigester(n)
		span := make([]int64, n)
		for k := range span {
			span[k] = 1 + r.Int64N(1<<r.IntN(41))
			d.span(k, -span[k], span[k])
		}
		list := func() []int64 {
			l := make([]int64, n)
			for k := range l {
				l[k] = r.Int64N(2*span[k]+1) - span[k]
			}
			return l
		}
		a, b := list(), list()
		for k := range b {
			if r.IntN(3) == 0 {
				b[k] = a[k]
			}
		}
		within := true
		for k := range a {
			within = within && a[k] <= b[k]
		}
		may := d.next([]uint64{d.of(a)}, 0, d.of(b)) == 0
		if within && !may {
			t.Fatalf("seed %d: %v is within %v, and its digest is not", seed, a, b)
		}
		if !within {
			if failed++; may {
				passed++
			}
		}
	}
	if 10*passed > failed {
		t.Errorf("digests do not tell %d of %d", passed, failed)
	}
}

// TestNth checks selection against sorting.
func TestNth(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 8))
		list := make([]float64, 1+r.IntN(60))
		for i := range list {
			list[i] = float64(r.IntN(1 + r.IntN(40)))
		}
		sorted, n := slices.Sorted(slices.Values(list)), r.IntN(len(list))
		if got := nth(list, n); got != sorted[n] {
			t.Fatalf("seed %d: %v is number %d of %v", seed, got, n, sorted)
		}
	}
}
