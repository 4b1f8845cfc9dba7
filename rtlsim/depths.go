package rtlsim

import (
	"cmp"
	"slices"
	"sort"

	"hlsgen/internal/dataflow"
)

// A depths holds the depths of all FIFOs in words, while they are looked for. They are raised until a test passes, and
// then lowered as long as it still passes.
type depths struct {
	ports []dataflow.Port
	now   []int
	low   []int // lower bounds: two words, or the depths that the options ask for
	fixed []int // given depths, 0 for those to be found; nil if none are given
	each  int   // words of a step
	ahead []int // words for which the hardware has room beside the FIFO
}

func newDepths(p *plan, opt FIFOSizingOptions) depths {
	d := depths{ports: p.ports, low: slices.Repeat([]int{MinFIFODepth}, len(p.ports)), fixed: opt.Fixed,
		each: cmp.Or(opt.each,
			memoryWords), ahead: make([]int, len(p.ports))}
	for s := range d.low {
		d.ahead[s] = p.design.FIFOCapacityWords(s) - p.design.FIFO[s].Depth
		if opt.From != nil {
			d.low[s] = max(MinFIFODepth, opt.From[s])
		}
		if d.given(s) {
			d.low[s] = opt.Fixed[s]
		}
	}
	d.now = slices.Clone(d.low)
	return d
}

func (d *depths) step(s, words int) int { return stepAhead(words, d.each, d.ahead[s]) }

// bits returns the bits that FIFOs with these depths in words hold together.
func (d *depths) bits(words []int) (sum int) {
	for s, n := range words {
		sum += n * d.ports[s].Width()
	}
	return sum
}

func (d *depths) given(s int) bool { return d.fixed != nil && d.fixed[s] > 0 }

// raise makes the FIFO of stream s hold at least words words.
func (d *depths) raise(s, words int) {
	if !d.given(s) {
		d.now[s] = max(d.now[s], d.step(s, words))
	}
}

// trim lowers the depth of stream s to the least possible one that holds the given words, but not below its depth in
// was. It never raises it.
func (d *depths) trim(s, words int, was []int) {
	if !d.given(s) {
		d.now[s] = max(was[s], min(d.now[s], d.step(s, words)))
	}
}

// by sorts the streams in place, by the number that the function number returns for each.
func by(streams []int, number func(s int) int) {
	slices.SortStableFunc(streams, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
}

// numbers returns the list of the numbers 0 to n-1.
func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// without lowers streams to their depths in was where passes still returns true. It tries all of them together, then
// each half, so that earlier streams are lowered first.
func (d *depths) without(streams, was []int, passes func() bool) {
	if len(streams) == 0 || d.drop(streams, was, passes) || len(streams) == 1 {
		return
	}
	half := len(streams) / 2
	d.without(streams[:half], was, passes)
	d.without(streams[half:], was, passes)
}

// drop lowers all given streams to their depths in low. If passes then returns false, it undoes this and returns false.
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

// search sets stream s to the least possible depth, from the depth from on, at which passes returns true. It must do so
// at the current depth. Most often no smaller depth passes, so the one just below is tried first.
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
