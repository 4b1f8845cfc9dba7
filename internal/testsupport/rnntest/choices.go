package rnntest

import (
	"math/rand/v2"
	"slices"
)

// Choices supplies the decisions by which a network is drawn. The choice 0 is always the simplest, and missing
// choices are 0. So smaller numbers and shorter lists give simpler networks.
type Choices struct {
	rnd  *rand.Rand
	list []int // given choices, if rnd is nil
	Made []int // choices made so far
}

// Seeded returns random choices, which the seed determines.
func Seeded(seed uint64) *Choices { return &Choices{rnd: rand.New(rand.NewPCG(seed, 13))} }

// Given returns choices that repeat a recorded list. After its end they are 0.
func Given(list []int) *Choices { return &Choices{list: list} }

// below chooses a number from 0 to n-1.
func (c *Choices) below(n int) int {
	v := 0
	switch at := len(c.Made); {
	case c.rnd != nil:
		v = c.rnd.IntN(n)
	case at < len(c.list):
		v = min(c.list[at], n-1)
	}
	c.Made = append(c.Made, v)
	return v
}

// between chooses a number from lo to hi.
func (c *Choices) between(lo, hi int) int { return lo + c.below(hi-lo+1) }

// rarely chooses true once in n times on average.
func (c *Choices) rarely(n int) bool { return c.below(n) == n-1 }

// one chooses an entry of a list.
func one[T any](c *Choices, list ...T) T { return list[c.below(len(list))] }

// Shrink looks for fewer and smaller choices for which fails still returns true. It makes at most the given number
// of trials and returns the simplest list found.
func Shrink(list []int, trials int, fails func(list []int) bool) []int {
	list = slices.Clone(list)
	try := func(next []int) bool {
		if trials--; trials < 0 || slices.Equal(next, list) || !fails(next) {
			return false
		}
		list = next
		return true
	}
	for size := len(list); size > 0 && trials > 0; size /= 2 {
		for at := 0; at < len(list); at += size {
			end := min(at+size, len(list))
			zero := slices.Clone(list)
			clear(zero[at:end])
			if try(zero) || try(slices.Delete(slices.Clone(list), at, end)) {
				continue
			}
			if size == 1 && list[at] > 1 {
				half := slices.Clone(list)
				half[at] /= 2
				try(half)
			}
		}
	}
	for len(list) > 0 && list[len(list)-1] == 0 { // missing choices are 0 too
		list = list[:len(list)-1]
	}
	return list
}
