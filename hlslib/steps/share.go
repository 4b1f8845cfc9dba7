package steps

import (
	"slices"
	"sync"

	"hlsgen/internal/num"
)

// Functions that are some of others find what is known of these: the layers that share a layer's channels would find
// the same again, of each of many ways to share them.

// A share is what is known of single functions, whatever is built beside them.
type share struct {
	mutex    sync.Mutex
	proved   map[proof][]bool // by function: the form gives what it gives
	crossing map[int][]cross  // by bits of a segment, then by function: segments begin at the same values for any type
}

// A proof is what a form of a function depends on, beside the function and its comparators. Two things are left out of
// segments: the number of thresholds, for what a function has fewer than others is never exceeded, and whether all
// functions jump alike, for the jump is then this one's too.
type proof struct {
	form  string
	of    num.Type
	first int64 // of the values that are cut into segments
}

// A cross is how a function's breakpoints lie in segments; known is false where that was not asked for.
type cross struct {
	inside int // of one segment, at most
	live   int // blocks of rows with a breakpoint inside: in all others, every row is the same
	known  bool
}

// Share tells that functions are those of some channels of others. It is called before forms are asked for.
func (f *Functions) Share(whole *Functions, channels []int) { f.whole, f.channels = whole, channels }

// root is the functions of which these are some, or they themselves.
func (f *Functions) root() *Functions {
	if f.whole != nil {
		return f.whole
	}
	return f
}

// origins is which of the whole's functions each one is: with the same comparators; -1 where it is none.
func origins(f *Functions) []int {
	list := make([]int, len(f.compare.At))
	for n := range list {
		if list[n] = n; f.whole == nil {
			continue
		}
		k, all := &f.compare, &f.whole.compare
		at := min(f.channels[n], len(all.At)-1)
		if list[n] = at; k.Delta != nil || all.Delta != nil || k.Unit != all.Unit || k.Count != all.Count ||
			k.Base[min(n, len(k.Base)-1)] != all.Base[min(at, len(all.Base)-1)] ||
			!slices.Equal(k.At[n], all.At[at]) {
			list[n] = -1
		}
	}
	return list
}

// proofs is which of so many functions a form gives, of values of a type; nil where that is of no use to others:
// multipliers depend on what is built beside them. The share is locked.
func (s *share) proofs(form Form, of num.Type, functions int) []bool {
	if _, ok := form.(*Scaled); ok {
		return nil
	}
	p := proof{form: form.Name(), of: of}
	if g, ok := form.(*segment); ok {
		p.first = g.first
	}
	if s.proved == nil {
		s.proved = map[proof][]bool{}
	}
	if s.proved[p] == nil {
		s.proved[p] = make([]bool, functions)
	}
	return s.proved[p]
}

// crossings is those of so many functions in segments, as far as they are known; nil of a window, which depends on all
// functions. The share is locked.
func (s *share) crossings(g segmentation, functions int) []cross {
	if g.window {
		return nil
	}
	if s.crossing == nil {
		s.crossing = map[int][]cross{}
	}
	if s.crossing[g.low] == nil {
		s.crossing[g.low] = make([]cross, functions)
	}
	return s.crossing[g.low]
}
