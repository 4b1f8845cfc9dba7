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

// list returns program.NewStridedIndexList(shape, steps) from the cache. It counts in the budget as a table does.
func (s strides) list(shape, steps []int) *program.IndexList {
	key := fmt.Sprint(shape, steps)
	l, ok := s.lists[key]
	if !ok {
		s.within.table(graph.ElementCount(shape))
		l = program.NewStridedIndexList(shape, steps)
		s.lists[key] = l
	}
	return l
}

// strided returns program.NewStridedIndexTable(shape, steps) from the cache, because networks repeat their shapes.
// Callers must not change the result.
func (s strides) strided(shape, steps []int) []int32 {
	key := fmt.Sprint(shape, steps)
	t, ok := s.known[key]
	if !ok {
		s.within.table(graph.ElementCount(shape))
		t = program.NewStridedIndexTable(shape, steps)
		s.known[key] = t
	}
	return t
}

// every returns 0, step, 2*step ... with n entries.
func (s strides) every(n, step int) []int32 { return s.strided([]int{n}, []int{step}) }

// broadcast returns the map from the elements of shape out to those of a tensor of shape in, which is broadcast to it.
func (s strides) broadcast(out, in []int) graph.ElementIndexMap {
	if graph.ElementCount(in) == graph.ElementCount(out) {
		return graph.ElementIndexMap{} // the same shape but for leading axes of size 1
	}
	if graph.ElementCount(in) == 1 {
		return graph.ElementIndexMap{Table: []int32{0}}
	}
	steps := program.BroadcastStrides(len(out), in)
	first := slices.IndexFunc(steps, func(s int) bool { return s != 0 })
	last := len(steps) // the end of the axes along which elements change
	for last > 0 && (steps[last-1] == 0 || out[last-1] == 1) {
		last--
	}
	// elements change along all axes between
	if first >= 0 && graph.ElementCount(out) > 0 && graph.ElementCount(out[first:last]) == graph.ElementCount(in) {
		return graph.ElementIndexMap{Run: graph.ElementCount(out[last:]), Count: graph.ElementCount(in)}
	}
	return graph.ElementIndexMap{Table: s.strided(out, steps)}
}
