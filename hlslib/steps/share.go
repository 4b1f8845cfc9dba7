package steps

import (
	"slices"
	"sync"

	"hlsgen/internal/num"
)

// Functions can be a selection of other functions, for example if several layers share a layer's channels. They then
// share the results about single functions, so that nothing is computed again for each way of sharing.

// A share holds results about single functions that do not depend on the functions built beside them.
type share struct {
	mutex    sync.Mutex
	proved   map[proof][]bool // by function: whether the form was proved equal to it
	crossing map[int][]cross  // by low, then by function: segments of one size start at the same values for any type
}

// A proof identifies a form for which a function was proved, apart from the function and its comparators. The number
// of thresholds per segment is left out: unused thresholds are never exceeded. Whether all functions have equal jumps
// is left out, too: if they do, this function has that jump.
type proof struct {
	form  string
	of    num.Type
	first int64 // first value of the window
}

// A cross counts a function's breakpoints inside segments. known is false if they have not been counted yet.
type cross struct {
	inside int // the most breakpoints inside one segment
	live   int // blocks of rows with a breakpoint inside; the rows of all other blocks are equal
	known  bool
}

// MarkAsChannelsOf declares that f consists of the given channels of whole, so that results about these are shared. It
// must be called before any form is requested.
func (f *StepFunctions) MarkAsChannelsOf(whole *StepFunctions, channels []int) {
	f.whole, f.channels = whole, channels
}

// root returns the functions from which f's are selected, or f itself if they are not selected from others.
func (f *StepFunctions) root() *StepFunctions {
	if f.whole != nil {
		return f.whole
	}
	return f
}

// origins returns the index of each of f's functions among those from which they are selected. It is -1 if the
// comparators differ.
func origins(f *StepFunctions) []int {
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

// proofs returns, by function, whether a form like this one was proved equal to it. It returns nil if that cannot be
// shared: multipliers depend on the functions built beside them. The caller must hold the lock.
func (s *share) proofs(form StepFunctionHardware, of num.Type, functions int) []bool {
	if _, ok := form.(*ScaledForm); ok {
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

// crossings returns the counts by function for segments of the size g.low. It returns nil for a window, which depends
// on all functions. The caller must hold the lock.
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
