package place

import (
	"slices"

	"hlsgen/frontend/program"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// ChannelsLastLayoutOf returns the shape of the stream that carries a tensor whose channels are on axis. Channels go
// last; a leading axis of 1 is dropped, and images become [H, W, C]. The list holds the position of each element on the
// stream; it is nil if they stay in order.
func ChannelsLastLayoutOf(shape []int, axis int) (dataflow.Shape, *program.IndexList) {
	if len(shape) == 0 {
		return dataflow.Shape{1}, nil
	}
	strides := make([]int, len(shape))
	n := shape[axis]
	var out dataflow.Shape
	for i, d := range slices.Backward(shape) {
		if i != axis {
			strides[i] = n
			n *= d
		}
	}
	strides[axis] = 1
	for i, d := range shape {
		if i != axis && (i > 0 || d > 1) {
			out = append(out, d)
		}
	}
	for len(shape) > 2 && len(out) < 2 {
		out = append(dataflow.Shape{1}, out...)
	}
	out = append(out, shape[axis])
	if axis == len(shape)-1 {
		return out, nil
	}
	return out, program.NewStridedIndexList(shape, strides)
}

// ElementIndicesByPosition returns the index of the element at each of n positions. at holds the position of each
// element; nil means that element i is at position i.
func ElementIndicesByPosition(at *program.IndexList, n int) []int32 {
	if at == nil {
		return scaled.NewCountingList(n)
	}
	out := make([]int32, n)
	for i, position := range at.All {
		out[position] = int32(i)
	}
	return out
}

// HeightWidthChannelsOf returns the rows, columns and channels of a stream's shape. A shape of fewer than three axes
// has one row.
func HeightWidthChannelsOf(s dataflow.Shape) (h, w, c int) {
	c = s.ChannelCount()
	switch {
	case len(s) >= 3:
		w = s[len(s)-2]
		h = s.ElementCount() / c / w
	default:
		h, w = 1, s.ElementCount()/c
	}
	return h, w, c
}
