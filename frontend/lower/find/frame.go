package find

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/internal/dataflow"
)

// channelAxis is the axis of channels of a window's data.
func channelAxis(w *graph.Window, shape []int) int {
	if w.ChannelsLast {
		return len(shape) - 1
	}
	return 1
}

// Layout is the frame of a window's data or results, and the positions of its elements.
func Layout(w *graph.Window, shape []int) (dataflow.Shape, *graph.List) {
	return place.ChannelsLast(shape, channelAxis(w, shape))
}

// Layouts are layouts by shape and axis of channels: networks repeat their shapes, and each has one, which nobody may
// change.
type Layouts map[string]*layout

// A layout is what Layout gives, and the elements in the order of the positions.
type layout struct {
	shape        dataflow.Shape
	at, elements *graph.List
}

func (all Layouts) find(w *graph.Window, shape []int) *layout {
	key := fmt.Sprint(shape, channelAxis(w, shape))
	l := all[key]
	if l == nil {
		l = new(layout)
		l.shape, l.at = Layout(w, shape)
		all[key] = l
	}
	return l
}

// Of is Layout, whose lists are made once for every shape.
func (all Layouts) Of(w *graph.Window, shape []int) (dataflow.Shape, *graph.List) {
	l := all.find(w, shape)
	return slices.Clone(l.shape), l.at
}

// Frame lists the elements of a window's input in the order of its stream.
func (all Layouts) Frame(w *graph.Window, shape []int) (dataflow.Shape, *graph.List, error) {
	if len(shape) < 3 || shape[0] != 1 {
		return nil, nil, unmapped.Because(fmt.Sprintf("its input has shape %v: the first axis is no single sample",
			shape), "export the model for one sample at a time")
	}
	l := all.find(w, shape)
	if l.elements == nil {
		if n := graph.Size(shape); l.at == nil {
			l.elements = graph.Strides([]int{n}, []int{1})
		} else {
			l.elements = l.at.Inverse()
		}
	}
	return slices.Clone(l.shape), l.elements, nil
}

// A Channels is the channels of a tensor: how many, and how far apart elements of neighbouring ones are.
type Channels struct{ N, Stride int }

// ChannelsOf are the channels of a window's data or results.
func ChannelsOf(w *graph.Window, shape []int) Channels {
	axis := channelAxis(w, shape)
	return Channels{shape[axis], graph.Size(shape[axis+1:])}
}

// Of is the channel of element i.
func (c Channels) Of(i int32) int32 { return i / int32(c.Stride) % int32(c.N) }
