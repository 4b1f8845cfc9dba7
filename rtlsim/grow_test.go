package rtlsim

import (
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
)

// skips is a block in which every layer reads what all before it gave, and holds back words of it.
func skips(t testing.TB, layers, words, held int) *dataflow.Design {
	n := &net{t: t, perWord: 1}
	s := n.add("Pass", pass(words, 1, 1, 2), n.input(words))[0]
	var given [][]int // by layer, what it gives those behind it
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

// What a block needs to be free from deadlock is found in one run, and none of its streams needs less, however many
// there are.
func TestGrow(t *testing.T) {
	t.Parallel()
	d := skips(t, 12, 500, 40)
	z := size(t, d, SizeOptions{Minimal: true})
	if !z.Kept || !z.Exact || !keeps(t, d, z.Words, z, SizeOptions{Minimal: true}) {
		t.Fatalf("%+v deadlocks", z)
	}
	deep := 0
	for s, words := range z.Words {
		if words == Least {
			continue
		}
		deep++
		less := slices.Clone(z.Words)
		less[s] = max(Least, words-memoryWords)
		if keeps(t, d, less, z, SizeOptions{Minimal: true}) {
			t.Errorf("s%d needs no %d words", s, words)
		}
	}
	if deep < 50 {
		t.Errorf("%d streams are deep: the block tests too little", deep)
	}
}
