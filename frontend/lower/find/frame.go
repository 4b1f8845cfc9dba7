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

// Layout returns the shape of the stream for a window's data or results. It also returns the position of each element
// on it, nil if these are in order.
func Layout(w *program.Window, shape []int) (dataflow.Shape, *program.IndexList) {
	return place.ChannelsLast(shape, channelAxis(w, shape))
}

// Layouts caches layouts by shape and axis of channels, since networks repeat shapes. Callers must not change them.
type Layouts map[string]*layout

// A layout holds what Layout returns, and the elements in the order of their positions.
type layout struct {
	shape        dataflow.Shape
	at, elements *program.IndexList
}

func (all Layouts) find(w *program.Window, shape []int) *layout {
	key := fmt.Sprint(shape, channelAxis(w, shape))
	l := all[key]
	if l == nil {
		l = new(layout)
		l.shape, l.at = Layout(w, shape)
		all[key] = l
	}
	return l
}

// Of returns what Layout returns, from the cache. Callers must not change the list.
func (all Layouts) Of(w *program.Window, shape []int) (dataflow.Shape, *program.IndexList) {
	l := all.find(w, shape)
	return slices.Clone(l.shape), l.at
}

// Frame lists the elements of a window's input in the order of its stream.
func (all Layouts) Frame(w *program.Window, shape []int) (dataflow.Shape, *program.IndexList, error) {
	if len(shape) < 3 || shape[0] != 1 {
		return nil, nil, unmapped.NewReason(fmt.Sprintf("its input has shape %v: the first axis is no single sample",
			shape), "export the model for one sample at a time")
	}
	l := all.find(w, shape)
	if l.elements == nil {
		if n := graph.Size(shape); l.at == nil {
			l.elements = program.Strides([]int{n}, []int{1})
		} else {
			l.elements = l.at.Inverse()
		}
	}
	return slices.Clone(l.shape), l.elements, nil
}

// A Channels describes the channels of a tensor: N of them, and the distance Stride between elements of adjacent ones.
type Channels struct{ N, Stride int }

// ChannelsOf returns the channels of a window's data or results with the given shape.
func ChannelsOf(w *program.Window, shape []int) Channels {
	axis := channelAxis(w, shape)
	return Channels{shape[axis], graph.Size(shape[axis+1:])}
}

// Of returns the channel of element i.
func (c Channels) Of(i int32) int32 { return i / int32(c.Stride) % int32(c.N) }
