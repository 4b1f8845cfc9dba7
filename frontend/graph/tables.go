package graph

import (
	"fmt"
	"slices"
)

// strides are index tables by what they are: a shape, and a stride per axis.
type strides map[string][]int32

// strided is Strided with memory: networks repeat their shapes, and equal tables are one. Nobody may change them.
func (p *Program) strided(shape, steps []int) []int32 {
	key := fmt.Sprint(shape, steps)
	t, ok := p.strides[key]
	if !ok {
		p.table(Size(shape))
		t = Strided(shape, steps)
		p.strides[key] = t
	}
	return t
}

// Strided lists, for every element of shape in order, the sum of its coordinates times strides.
func Strided(shape, strides []int) []int32 {
	return stridedFrom(0, shape, strides)
}

// stridedFrom is Strided from element at on.
func stridedFrom(at int, shape, strides []int) []int32 {
	index, coord := make([]int32, Size(shape)), make([]int, len(shape))
	for i := range index {
		index[i] = int32(at)
		for k := len(shape) - 1; k >= 0; k-- {
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

// along lists, for every element of shape, its coordinate along an axis, times step.
func (p *Program) along(shape []int, axis, step int) []int32 {
	steps := make([]int, len(shape))
	steps[axis] = step
	return p.strided(shape, steps)
}

// every lists 0, step, 2*step ..., n of them.
func every(p *Program, n, step int) []int32 { return p.strided([]int{n}, []int{step}) }

// pickIndex lists, for every element whose coordinate along axis a is j, the sum of from[a][j] over all axes: -1 where
// one of them is negative.
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

// rowMajor is the strides of a tensor.
func rowMajor(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i, d := range slices.Backward(shape) {
		s[i] = n
		n *= d
	}
	return s
}

// tables lists the index tables of a step.
func (s *Step) tables() (all [][]int32) {
	elem := s.Elem
	switch {
	case s.Move != nil:
		all = append(all, s.Move.Index)
	case s.Dot != nil:
		all, elem = append(all, s.Dot.ABase, s.Dot.BBase, s.Dot.AOffset, s.Dot.BOffset), s.Dot.Then
	case s.Order != nil:
		all = append(all, s.Order.Base, s.Order.Rank)
	}
	if elem != nil {
		all = append(all, elem.Index...)
	}
	return all
}

// broadcast maps elements of shape out to elements of a tensor of shape in.
func (p *Program) broadcast(out, in []int) []int32 {
	if Size(in) == Size(out) {
		return nil // equal but for leading ones
	}
	if Size(in) == 1 {
		return []int32{0}
	}
	return p.strided(out, broadcastStrides(len(out), in))
}

// broadcastStrides is the stride of a tensor of shape in along each of more axes, 0 where it is broadcast.
func broadcastStrides(rank int, in []int) []int {
	strides := make([]int, rank)
	for j, stride := range rowMajor(in) {
		if in[j] != 1 {
			strides[j+rank-len(in)] = stride
		}
	}
	return strides
}
