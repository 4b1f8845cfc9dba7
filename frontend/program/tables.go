package program

import (
	"slices"

	"hlsgen/frontend/graph"
)

// NewStridedIndexTable returns a table with an entry for every element of shape in row-major order: the sum of its
// coordinates times strides.
func NewStridedIndexTable(shape, strides []int) []int32 {
	return NewStridedIndexTableFrom(0, shape, strides)
}

// NewStridedIndexTableFrom returns the table of NewStridedIndexTable with the number at added to every entry.
func NewStridedIndexTableFrom(at int, shape, strides []int) []int32 {
	run, step := 1, 0 // along the last axis
	outer := len(shape) - 1
	if outer >= 0 {
		run, step = shape[outer], strides[outer]
	}
	index, coord := make([]int32, graph.ElementCount(shape)), make([]int, len(shape))
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

// NewAxisCoordinateMap returns the map from every element of shape, in row-major order, to its coordinate along an
// axis.
func NewAxisCoordinateMap(shape []int, axis int) graph.ElementIndexMap {
	return graph.ElementIndexMap{Run: graph.ElementCount(shape[axis+1:]), Count: shape[axis]}
}

// SumsOfAxisIndices returns, for every element with coordinate j along each axis a, the sum of from[a][j] over all
// axes. The sum is -1 if one of the terms is negative.
func SumsOfAxisIndices(from [][]int32) []int32 {
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

// RowMajorStrides returns, for each axis of a shape, how many elements lie between neighbours along it in row-major
// order.
func RowMajorStrides(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i, d := range slices.Backward(shape) {
		s[i] = n
		n *= d
	}
	return s
}

// AllIndexTables returns the tables of indices that a step holds as slices, shared with the step; some may be nil.
// Those in a Move's Places, in an IndexList and in an Elem's Offset are not among them.
func (s *Step) AllIndexTables() (all [][]int32) {
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

// BroadcastStrides returns, for each of rank axes, the stride of a tensor of shape in that is broadcast to these axes.
// It is the row-major stride, or 0 for an axis along which the tensor is repeated.
func BroadcastStrides(rank int, in []int) []int {
	strides := make([]int, rank)
	for j, stride := range RowMajorStrides(in) {
		if in[j] != 1 {
			strides[j+rank-len(in)] = stride
		}
	}
	return strides
}
