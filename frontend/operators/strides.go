package operators

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A strides caches index tables and lists by their shape and strides, so that equal ones are shared.
type strides struct {
	known  map[string][]int32
	lists  map[string]*program.IndexList
	within *budget
}

// list returns Strides(shape, steps) from the cache. It counts in the budget as a table does.
func (s strides) list(shape, steps []int) *program.IndexList {
	key := fmt.Sprint(shape, steps)
	l, ok := s.lists[key]
	if !ok {
		s.within.table(graph.Size(shape))
		l = program.Strides(shape, steps)
		s.lists[key] = l
	}
	return l
}

// strided returns Strided(shape, steps) from the cache, because networks repeat their shapes. Callers must not change
// the result.
func (s strides) strided(shape, steps []int) []int32 {
	key := fmt.Sprint(shape, steps)
	t, ok := s.known[key]
	if !ok {
		s.within.table(graph.Size(shape))
		t = program.Strided(shape, steps)
		s.known[key] = t
	}
	return t
}

// every returns 0, step, 2*step ... with n entries.
func (s strides) every(n, step int) []int32 { return s.strided([]int{n}, []int{step}) }

// broadcast returns the pick that maps the elements of shape out to those of a tensor of shape in, which is broadcast.
func (s strides) broadcast(out, in []int) graph.ElementPick {
	if graph.Size(in) == graph.Size(out) {
		return graph.ElementPick{} // the same shape but for leading axes of size 1
	}
	if graph.Size(in) == 1 {
		return graph.ElementPick{Table: []int32{0}}
	}
	steps := program.BroadcastStrides(len(out), in)
	first := slices.IndexFunc(steps, func(s int) bool { return s != 0 })
	last := len(steps) // the end of the axes along which elements change
	for last > 0 && (steps[last-1] == 0 || out[last-1] == 1) {
		last--
	}
	// elements change along all axes between
	if first >= 0 && graph.Size(out) > 0 && graph.Size(out[first:last]) == graph.Size(in) {
		return graph.ElementPick{Run: graph.Size(out[last:]), Count: graph.Size(in)}
	}
	return graph.ElementPick{Table: s.strided(out, steps)}
}
