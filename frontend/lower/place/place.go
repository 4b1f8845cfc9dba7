// Package place puts integer tensors on streams: it moves their elements, joins layers by wires, and makes the graph.
// What comes in is layers (any dataflow.Op), where each element of their inputs comes from, and who reads what; what
// goes out is a dataflow.Graph. It does not know what layers compute.
//
// Files: place.go says where the elements of a tensor are; netlist.go joins layers; build.go makes the graph, with
// copies of streams that several read; moved.go says which elements move where, movement.go makes the layers that move
// them; box.go finds rectangles of pixels; order.go is channels-last and its like.
//
// For example, a tensor of shape [1, 2, 1, 3] travels as pixels of two channels: its elements 0 1 2 | 3 4 5 are at 0 2
// 4 | 1 3 5. Transposing it costs nothing, it is another list of positions. A layer that wants its elements in another
// order than they come in, say each pixel twice, gets them by a movement: positions 0 1 0 1 2 3 ..., which is an
// UpsampleNearestNeighbour.
//
// It sees graph, scaled, unmapped, dataflow, num and hlslib.
package place

import (
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
)

// A Place is where an integer tensor is: on which stream, and at which position of it each of its elements; At is nil
// where element i is at i. Tensors that are the same integers share a stream.
type Place struct {
	*Stream
	At    *graph.List
	Alias bool // it is the integers of another tensor, as they are
}

// A Stream is on a wire, or will be as soon as a layer asks for it.
type Stream struct {
	Type   dataflow.Type
	Source Source // makes the wire
	Held   bool   // its integers cannot be asked for yet: they wait for what becomes of them

	wire   int
	onWire bool
}

// A Source makes the wire of a stream when the first layer asks for it.
type Source interface {
	// Wire adds what makes the stream to the netlist; name is what its wire is called after, if it has no name of its
	// own.
	Wire(n *Netlist, name string) int
}

// On is a stream that is on a wire.
func On(n *Netlist, wire int) *Stream { return &Stream{Type: n.Type(wire), wire: wire, onWire: true} }

// OnWire reports whether a layer, or the host, makes the stream.
func (s *Stream) OnWire() bool { return s.onWire }

// Wire gives the wire of a stream; name is what it is called where it has to be made.
func (s *Stream) Wire(n *Netlist, name string) int {
	if !s.onWire {
		s.wire, s.onWire = s.Source.Wire(n, name), true
	}
	return s.wire
}

// Is says which wire a stream is on, which did not come from its source.
func (s *Stream) Is(n *Netlist, wire int) { s.Type, s.wire, s.onWire = n.Type(wire), wire, true }

// Position is where element i is on the wire.
func (p *Place) Position(i int32) int32 {
	if p.At == nil {
		return i
	}
	return p.At.At(int(i))
}

// Channel is the channel of element i.
func (p *Place) Channel(i int32) int { return int(p.Position(i)) % p.Type.Shape.Channels() }

// A Host is the source of a stream that the host writes.
type Host struct {
	Tensor, Name string // of integers; of the stream
	stream       *Stream
}

// FromHost is a stream of the host's.
func FromHost(tensor, name string, t dataflow.Type) *Stream {
	h := &Host{Tensor: tensor, Name: name}
	h.stream = &Stream{Type: t, Source: h}
	return h.stream
}

// Wire adds an input.
func (h *Host) Wire(n *Netlist, _ string) int { return n.input(h.Name, h.Tensor, h.stream.Type) }

// OnHost reports whether the host has the integers.
func (s *Stream) OnHost() bool {
	_, ok := s.Source.(*Host)
	return ok
}

// Send lets the host send a tensor in the shape that its first layer wants, and, where that layer is its only reader,
// in the order: the movement then is of elements in order.
func (p *Place) Send(m *Movement, shape dataflow.Shape, alone func() bool) {
	n := p.Type.Shape.Size()
	if !p.OnHost() || p.onWire || m.Len() != n {
		return
	}
	if from, ok := m.whole(); !ok || from == Constant {
		places := m.places()
		seen := make([]bool, n)
		for _, i := range places {
			if seen[i] {
				return
			}
			seen[i] = true
		}
		if !alone() {
			return
		}
		to := Inverse(graph.Listed(places), n) // the new position of what was at each
		at := make([]int32, n)
		for e := range at {
			at[e] = to[p.Position(int32(e))]
		}
		p.At, *m = graph.Listed(at), InOrder(n)
	}
	p.Type.Shape = append(dataflow.Shape(nil), shape...)
}
