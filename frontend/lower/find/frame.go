package find

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
)

// channelAxis returns the axis of channels in a window's data.
func channelAxis(w *program.Window, shape []int) int {
	if w.ChannelsLast {
		return len(shape) - 1
	}
	return 1
}

// WindowLayoutOf returns the shape of the stream that carries a window's data or results of the given shape. It also
// returns the position of each element on the stream, or nil if they stay in order.
func WindowLayoutOf(w *program.Window, shape []int) (dataflow.Shape, *program.IndexList) {
	return place.ChannelsLastLayoutOf(shape, channelAxis(w, shape))
}

// WindowLayoutCache caches layouts by shape and axis of channels, since networks repeat shapes. Callers must not change
// them.
type WindowLayoutCache map[string]*layout

// A layout holds the results of WindowLayoutOf, and the elements in the order of their positions.
type layout struct {
	shape        dataflow.Shape
	at, elements *program.IndexList
}

func (all WindowLayoutCache) find(w *program.Window, shape []int) *layout {
	key := fmt.Sprint(shape, channelAxis(w, shape))
	l := all[key]
	if l == nil {
		l = new(layout)
		l.shape, l.at = WindowLayoutOf(w, shape)
		all[key] = l
	}
	return l
}

// WindowLayoutOf returns what the function WindowLayoutOf returns, from the cache. Callers must not change the list.
func (all WindowLayoutCache) WindowLayoutOf(w *program.Window, shape []int) (dataflow.Shape, *program.IndexList) {
	l := all.find(w, shape)
	return slices.Clone(l.shape), l.at
}

// WindowFrameElements returns the shape of the stream that carries a window's input, and the input's elements in the
// order of that stream. The error is that the first axis is not a single sample.
func (all WindowLayoutCache) WindowFrameElements(w *program.Window, shape []int) (dataflow.Shape, *program.IndexList,
	error) {
	if len(shape) < 3 || shape[0] != 1 {
		return nil, nil, unmapped.NewReason(fmt.Sprintf("its input has shape %v: the first axis is no single sample",
			shape), "export the model for one sample at a time")
	}
	l := all.find(w, shape)
	if l.elements == nil {
		if n := graph.ElementCount(shape); l.at == nil {
			l.elements = program.NewStridedIndexList([]int{n}, []int{1})
		} else {
			l.elements = l.at.InversePermutation()
		}
	}
	return slices.Clone(l.shape), l.elements, nil
}

// A ChannelLayout describes the channels of a tensor: N of them, and the distance Stride between elements of adjacent
// ones.
type ChannelLayout struct{ N, Stride int }

// ChannelLayoutOf returns the layout of the channels in a window's data or results with the given shape.
func ChannelLayoutOf(w *program.Window, shape []int) ChannelLayout {
	axis := channelAxis(w, shape)
	return ChannelLayout{shape[axis], graph.ElementCount(shape[axis+1:])}
}

// ChannelOfElement returns the channel of element i.
func (c ChannelLayout) ChannelOfElement(i int32) int32 { return i / int32(c.Stride) % int32(c.N) }
