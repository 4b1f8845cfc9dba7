package frontend

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/frontend/execution"
)

// A change assigns other codes to some elements of a quantiser. A smaller key means that a float32 program more likely
// computes these codes.
type change struct {
	tensor string
	of     []int
	codes  []float64
	key    float64
}

// drawsOf bounds the random draws among several ties, and the number of pairs of ties for which all pairs are tried.
const drawsOf = 256

// changes returns the changes to try, the likeliest first. One kind changes a single element that float32 may round to
// several codes. Another changes elements of a quantiser together if they lie equally near to a tie, because a program
// rounds equal numbers alike. A third changes random draws of exact ties, which round either way. The error of a sum
// mostly grows as the root of its number of terms, but its bound grows linearly. Changes that were tried before come
// later.
func (s *decider) changes(t *trial, tried map[element]bool) (list []change) {
	doubts := t.AmbiguousElements()
	for from := 0; from < len(doubts); {
		to := from
		for to < len(doubts) && doubts[to].Tensor == doubts[from].Tensor {
			to++
		}
		list = append(list, changesOf(t, doubts[from:to])...)
		from = to
	}
	for i := range list {
		if c := &list[i]; len(c.of) == 1 && tried[element{c.tensor, c.of[0]}] {
			c.key *= 4
		}
	}
	slices.SortStableFunc(list, func(a, b change) int { return cmp.Compare(a.key, b.key) })
	return list
}

// changesOf returns the changes to try for one quantiser.
func changesOf(t *trial, doubts []execution.AmbiguouslyRoundedElement) (list []change) {
	slices.SortStableFunc(doubts, func(a, b execution.AmbiguouslyRoundedElement) int {
		return cmp.Compare(a.Share,
			b.Share)
	})
	var ties []execution.AmbiguouslyRoundedElement
	for from := 0; from < len(doubts); {
		to := from
		for to < len(doubts) && doubts[to].Share <= doubts[from].Share*(1+0x1p-12)+0x1p-20 {
			to++
		}
		alike := doubts[from:to]
		for _, d := range alike {
			list = append(list, single(t, d)...)
		}
		if len(alike) > 1 {
			list = append(list, together(t, alike, func(int) bool { return true }))
		}
		if alike[0].Share < 0x1p-16 {
			ties = append(ties, alike...)
		}
		from = to
	}
	if n := len(ties); n > 2 {
		list = append(list, draws(t, ties)...)
	}
	return list
}

// draws returns changes of several ties of a quantiser: all pairs if there are few, and random draws of any size.
func draws(t *trial, ties []execution.AmbiguouslyRoundedElement) (list []change) {
	if n := len(ties); n*(n-1)/2 <= drawsOf {
		for i := range ties {
			for k := range i {
				list = append(list, together(t, ties, func(n int) bool { return n == i || n == k }))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, uint64(len(ties))))
	drawn := map[string]bool{}
	for n := range drawsOf {
		c := together(t, ties, func(int) bool { return r.IntN(2+n%4) == 0 })
		if of := fmt.Sprint(c.of); len(c.of) > 1 && !drawn[of] {
			drawn[of], list = true, append(list, c)
		}
	}
	return list
}

// single returns, for each other code to which an element may be rounded, a change to that code.
func single(t *trial, d execution.AmbiguouslyRoundedElement) (list []change) {
	now := t.All[d.Tensor].Lo[d.I]
	for v := d.Lo; v <= d.Hi; v++ {
		if v != now {
			key := d.Share * math.Sqrt(float64(d.Terms)) * math.Abs(v-now)
			list = append(list, change{d.Tensor, []int{d.I}, []float64{v}, key})
		}
	}
	return list
}

// together returns one change that moves every drawn element to a neighbouring code.
func together(t *trial, doubts []execution.AmbiguouslyRoundedElement, drawn func(i int) bool) (c change) {
	for i, d := range doubts {
		if !drawn(i) {
			continue
		}
		v := t.All[d.Tensor].Lo[d.I] + 1
		if v > d.Hi {
			v -= 2
		}
		c.tensor, c.of, c.codes = d.Tensor, append(c.of, d.I), append(c.codes, v)
		c.key = d.Share * math.Sqrt(float64(d.Terms))
	}
	return c
}

// combinations yields every combination of size changes that have no element in common. Combinations of likely changes
// come first.
func combinations(of []change, size int) iter.Seq[[]change] {
	var grow func(of, taken []change, yield func([]change) bool) bool
	grow = func(of, taken []change, yield func([]change) bool) bool {
		if len(taken) == size {
			return yield(slices.Clone(taken))
		}
		for i, c := range of {
			if slices.ContainsFunc(taken, c.meets) {
				continue
			}
			if !grow(of[:i], append(taken, c), yield) {
				return false
			}
		}
		return true
	}
	return func(yield func([]change) bool) { grow(of, nil, yield) }
}

// meets reports whether two changes have an element in common.
func (c change) meets(d change) bool {
	return c.tensor == d.tensor && slices.ContainsFunc(c.of, func(i int) bool { return slices.Contains(d.of, i) })
}
