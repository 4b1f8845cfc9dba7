package graph

import (
	"fmt"
	"slices"
)

// A strides caches index tables and lists by their shape and strides, so that equal ones are shared.
type strides struct {
	known  map[string][]int32
	lists  map[string]*IndexList
	within *budget
}

// list returns Strides(shape, steps) from the cache. It counts in the budget as a table does.
func (s strides) list(shape, steps []int) *IndexList {
	key := fmt.Sprint(shape, steps)
	l, ok := s.lists[key]
	if !ok {
		s.within.table(Size(shape))
		l = Strides(shape, steps)
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
		s.within.table(Size(shape))
		t = Strided(shape, steps)
		s.known[key] = t
	}
	return t
}

// Strided returns, for every element of shape in row-major order, the sum of its coordinates times strides.
func Strided(shape, strides []int) []int32 {
	return stridedFrom(0, shape, strides)
}

// stridedFrom is like Strided, but adds at to every entry.
func stridedFrom(at int, shape, strides []int) []int32 {
	run, step := 1, 0 // along the last axis
	outer := len(shape) - 1
	if outer >= 0 {
		run, step = shape[outer], strides[outer]
	}
	index, coord := make([]int32, Size(shape)), make([]int, len(shape))
	for rest := index; len(rest) > 0; rest = rest[run:] {
		for i := range rest[:run] {
			rest[i] = int32(at + i*step)
		}
		for k := outer - 1; k >= 0; k-- {
			coord[k]++
			at += strides[k]
			if coord[k] < shape[k] {
				break
			}
			at -= coord[k] * strides[k]
			coord[k] = 0
		}
	}
	return index
}

// alongAxis returns the pick that maps every element of shape to its coordinate along an axis.
func alongAxis(shape []int, axis int) ElementPick {
	return ElementPick{Run: Size(shape[axis+1:]), Count: shape[axis]}
}

// every returns 0, step, 2*step ... with n entries.
func (s strides) every(n, step int) []int32 { return s.strided([]int{n}, []int{step}) }

// pickIndex returns, for every element with coordinate j along each axis a, the sum of from[a][j] over all axes. It is
// -1 if one of these is negative.
func pickIndex(from [][]int32) []int32 {
	index := []int32{0}
	for _, axis := range from {
		next := make([]int32, 0, len(index)*len(axis))
		for _, base := range index {
			for _, at := range axis {
				if base < 0 || at < 0 {
					next = append(next, -1)
				} else {
					next = append(next, base+at)
				}
			}
		}
		index = next
	}
	return index
}

// rowMajor returns the row-major strides of a shape.
func rowMajor(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i, d := range slices.Backward(shape) {
		s[i] = n
		n *= d
	}
	return s
}

// tables returns the index tables of a step.
func (s *Step) tables() (all [][]int32) {
	elem := s.Elem
	switch {
	case s.Move != nil:
		all = append(all, s.Move.Index)
	case s.Dot != nil:
		all, elem = append(all, s.Dot.AOffset, s.Dot.BOffset), s.Dot.Then
	case s.Order != nil:
		all = append(all, s.Order.Base, s.Order.Rank)
	}
	if elem != nil {
		for _, p := range elem.Index {
			all = append(all, p.Table)
		}
	}
	return all
}

// broadcast returns the pick that maps the elements of shape out to those of a tensor of shape in, which is broadcast.
func (s strides) broadcast(out, in []int) ElementPick {
	if Size(in) == Size(out) {
		return ElementPick{} // the same shape but for leading axes of size 1
	}
	if Size(in) == 1 {
		return ElementPick{Table: []int32{0}}
	}
	steps := broadcastStrides(len(out), in)
	first := slices.IndexFunc(steps, func(s int) bool { return s != 0 })
	last := len(steps) // the end of the axes along which elements change
	for last > 0 && (steps[last-1] == 0 || out[last-1] == 1) {
		last--
	}
	if first >= 0 && Size(out) > 0 && Size(out[first:last]) == Size(in) { // elements change along all axes between
		return ElementPick{Run: Size(out[last:]), Count: Size(in)}
	}
	return ElementPick{Table: s.strided(out, steps)}
}

// broadcastStrides returns the strides of a tensor of shape in along rank axes, 0 for axes along which it is broadcast.
func broadcastStrides(rank int, in []int) []int {
	strides := make([]int, rank)
	for j, stride := range rowMajor(in) {
		if in[j] != 1 {
			strides[j+rank-len(in)] = stride
		}
	}
	return strides
}
