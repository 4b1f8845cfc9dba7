package rtlsim

import (
	"cmp"
	"slices"
	"sort"

	"hlsgen/internal/dataflow"
)

// depths are the words of all streams, which are raised until something passes, and then lowered as far as it does.
type depths struct {
	ports []dataflow.Port
	now   []int
	low   []int // no less: two, or what is asked for, or given
	fixed []int // what is given, 0 where it is not; nil for nowhere
	each  int   // words of a step
	ahead []int // words for which the hardware has room besides
}

func newDepths(p *plan, opt SizeOptions) depths {
	d := depths{ports: p.ports, low: slices.Repeat([]int{Least}, len(p.ports)), fixed: opt.Fixed, each: cmp.Or(opt.each,
		memoryWords), ahead: make([]int, len(p.ports))}
	for s := range d.low {
		d.ahead[s] = p.design.Places(s) - p.design.FIFO[s].Depth
		if opt.From != nil {
			d.low[s] = max(Least, opt.From[s])
		}
		if d.given(s) {
			d.low[s] = opt.Fixed[s]
		}
	}
	d.now = slices.Clone(d.low)
	return d
}

func (d *depths) step(s, words int) int { return stepAhead(words, d.each, d.ahead[s]) }

// bits is what FIFOs of so many words hold.
func (d *depths) bits(words []int) (sum int) {
	for s, n := range words {
		sum += n * d.ports[s].Width()
	}
	return sum
}

func (d *depths) given(s int) bool { return d.fixed != nil && d.fixed[s] > 0 }

// raise gives a stream so many words at least.
func (d *depths) raise(s, words int) {
	if !d.given(s) {
		d.now[s] = max(d.now[s], d.step(s, words))
	}
}

// trim takes back what a stream has beyond so many words, and beyond what it had.
func (d *depths) trim(s, words int, was []int) {
	if !d.given(s) {
		d.now[s] = max(was[s], min(d.now[s], d.step(s, words)))
	}
}

// by is streams in the order of a number.
func by(streams []int, number func(s int) int) {
	slices.SortStableFunc(streams, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
}

// numbers is 0, 1, 2 ... below n.
func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// without takes those of some streams back to what they had that need not be deeper where others are, the first ones
// first.
func (d *depths) without(streams, was []int, passes func() bool) {
	if len(streams) == 0 || d.drop(streams, was, passes) || len(streams) == 1 {
		return
	}
	half := len(streams) / 2
	d.without(streams[:half], was, passes)
	d.without(streams[half:], was, passes)
}

// drop takes streams to lower bounds if that passes.
func (d *depths) drop(streams, low []int, passes func() bool) bool {
	was := slices.Clone(d.now)
	for _, s := range streams {
		d.now[s] = low[s]
	}
	if passes() {
		return true
	}
	d.now = was
	return false
}

// search takes a stream to the first step from some words on that passes; the depth that it has does. Most often that
// is the first one, so the last before it is tried first.
func (d *depths) search(s, from int, passes func() bool) {
	steps := []int{from}
	for steps[len(steps)-1] < d.now[s] {
		steps = append(steps, d.step(s, steps[len(steps)-1]+1))
	}
	at := func(i int) bool {
		d.now[s] = steps[i]
		return passes()
	}
	first := len(steps) - 1
	if first > 0 && at(first-1) {
		first = sort.Search(first-1, at)
	}
	d.now[s] = steps[first]
}
