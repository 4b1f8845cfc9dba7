package rtlsim

import (
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// skips returns a block in which every layer reads the outputs of all layers before it. It holds back the given
// number of words of them.
func skips(t testing.TB, layers, words, held int) *dataflow.Design {
	n := &net{t: t, perWord: 1}
	s := n.add("Pass", pass(words, 1, 1, 2), n.input(words))[0]
	var given [][]int // per layer: streams to the layers behind it
	next := func(each func(in []int) int) int {
		var in []int
		for k := range given {
			in = append(in, given[k][0])
			given[k] = given[k][1:]
		}
		return each(in)
	}
	join := func(in []int) int { return n.add("Concat", pass(words, len(in), 1, 1), in...)[0] }
	for i := range layers {
		given = append(given, n.add("Fork", pass(words, 1, layers+1-i, 1), s))
		s = n.add("Window", held1(words, held), next(join))[0]
	}
	given = append(given, []int{s})
	return n.design(2, next(join))
}

// TestGrow checks that a single run finds the depths that a block needs to avoid deadlock, however many streams the
// block has, and that none of its streams could be shallower.
func TestGrow(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	d := skips(t, 12, 500, 40)
	z := size(t, d, FIFOSizingOptions{Minimal: true})
	if !z.Feasible || !z.Exact || !keeps(t, d, z.Words, z, FIFOSizingOptions{Minimal: true}) {
		t.Fatalf("%+v deadlocks", z)
	}
	deep := 0
	for s, words := range z.Words {
		if words == MinFIFODepth {
			continue
		}
		deep++
		less := slices.Clone(z.Words)
		less[s] = max(MinFIFODepth, words-memoryWords)
		if keeps(t, d, less, z, FIFOSizingOptions{Minimal: true}) {
			t.Errorf("s%d needs no %d words", s, words)
		}
	}
	if deep < 50 {
		t.Errorf("%d streams are deep: the block tests too little", deep)
	}
}

// TestGrowTakesBack checks a stream that got words which another stream could have taken. If that other stream
// needs them anyway, the first one loses them again, as far as the effort permits.
func TestGrowTakesBack(t *testing.T) {
	t.Parallel()
	const words = 400
	n := &net{t: t, perWord: 1}
	fork := n.add("Fork", pass(words, 1, 2, 1), n.input(words))
	both := n.add("Both", pass(words, 1, 2, 1), fork[0])
	first := n.add("Window", held1(words, 200), fork[1])[0]
	then := n.add("Window", held1(words, 150), both[1])[0]
	d := n.design(2, n.add("Join", pass(words, 3, 1, 1), first, both[0], then)...)
	from := slices.Repeat([]int{MinFIFODepth}, len(d.FIFO))
	from[fork[0]] = memoryWords // so that growth chooses this stream
	for _, effort := range []int{0, 1} {
		opt := FIFOSizingOptions{Minimal: true, From: from, Effort: effort}
		z := size(t, d, opt)
		if !z.Feasible || z.Exact != (effort == 0) || !keeps(t, d, z.Words, z, opt) {
			t.Errorf("effort %d: %+v", effort, z)
		}
		less := slices.Clone(z.Words)
		if less[fork[0]] -= memoryWords; keeps(t, d, less, z, opt) != (effort == 1) {
			t.Errorf("effort %d: %v", effort, z.Words)
		}
	}
}
