package find

import (
	"fmt"

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
func Layout(w *graph.Window, shape []int) (dataflow.Shape, []int32) {
	return place.ChannelsLast(shape, channelAxis(w, shape))
}

// Frame lists the elements of a window's input in the order of its stream.
func Frame(w *graph.Window, shape []int) (dataflow.Shape, []int32, error) {
	if len(shape) < 3 || shape[0] != 1 {
		return nil, nil, unmapped.Because(fmt.Sprintf("its input has shape %v: the first axis is no single sample",
			shape), "export the model for one sample at a time")
	}
	to, at := Layout(w, shape)
	return to, place.Inverse(at, graph.Size(shape)), nil
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
