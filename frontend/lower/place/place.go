// Package place puts integer tensors on streams: it moves their elements, connects layers by wires, and builds the
// graph. What comes in is layers (any dataflow.Op), the origin of each element of their inputs, and their readers.
// What goes out is a dataflow.Graph. It does not know what layers compute.
//
// Files: place.go tells where the elements of a tensor are; netlist.go connects layers; build.go builds the graph,
// with copies of streams for several readers; moved.go describes movements of elements, movement.go adds the layers
// that perform them; box.go finds rectangles of pixels; order.go computes channels-last orders.
//
// For example, a tensor of shape [1, 2, 1, 3] travels as pixels of two channels: its elements 0 1 2 | 3 4 5 are at
// positions 0 2 4 | 1 3 5. Transposing it costs nothing, since it only changes the list of positions. A layer that
// needs its elements in another order than they arrive gets them by a movement. For example, if it needs each pixel
// twice, the movement has the positions 0 1 0 1 2 3 ... and becomes an UpsampleNearestNeighbour.
package place

import (
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
)

// A TensorPlace says on which stream an integer tensor travels, and at which positions. Element i is at position
// At.At(i), or at i if At is nil. Tensors with the same integers share a stream.
type TensorPlace struct {
	*WireStream
	At    *program.IndexList
	Alias bool // the tensor has the integers of another tensor, unchanged
}

// A WireStream is a stream of the hardware that has a wire in a Netlist, or gets one when a layer first asks for it.
type WireStream struct {
	Type   dataflow.StreamType
	Source WireSource // adds the wire
	Held   bool       // nothing may ask for the stream's integers yet: they wait for the function behind them

	wire   int
	onWire bool
}

// A WireSource adds the layers that write a stream, when a layer first asks for the stream.
type WireSource interface {
	// EnsureWire adds the layers that write the stream to the netlist, and returns its wire. name names the wire if the
	// source has no better name.
	EnsureWire(n *Netlist, name string) int
}

// NewStreamOnWire returns a stream that is on an existing wire and has that wire's type.
func NewStreamOnWire(n *Netlist, wire int) *WireStream {
	return &WireStream{Type: n.WireType(wire), wire: wire, onWire: true}
}

// IsOnWire reports whether the stream has a wire already.
func (s *WireStream) IsOnWire() bool { return s.onWire }

// EnsureWire returns the stream's wire. If there is none yet, it lets Source add one to n, with the given name.
func (s *WireStream) EnsureWire(n *Netlist, name string) int {
	if !s.onWire {
		s.wire, s.onWire = s.Source.EnsureWire(n, name), true
	}
	return s.wire
}

// AttachWire puts the stream on an existing wire that its Source did not make, and gives the stream the wire's type.
func (s *WireStream) AttachWire(n *Netlist, wire int) {
	s.Type, s.wire, s.onWire = n.WireType(wire), wire, true
}

// PositionOf returns the position on the stream at which element i of the tensor travels.
func (p *TensorPlace) PositionOf(i int32) int32 {
	if p.At == nil {
		return i
	}
	return p.At.At(int(i))
}

// ChannelOf returns the channel of the stream in which element i of the tensor travels.
func (p *TensorPlace) ChannelOf(i int32) int {
	return int(p.PositionOf(i)) % p.Type.Shape.ChannelCount()
}

// A HostSource is the source of a stream that the host writes.
type HostSource struct {
	Tensor, Name string // name of the integer tensor, and of the stream
	stream       *WireStream
}

// NewStreamFromHost returns a stream of type t called name, to which the host writes the integers of the given tensor.
func NewStreamFromHost(tensor, name string, t dataflow.StreamType) *WireStream {
	h := &HostSource{Tensor: tensor, Name: name}
	h.stream = &WireStream{Type: t, Source: h}
	return h.stream
}

// EnsureWire adds a wire that the host writes, and returns it. The wire gets the source's own name.
func (h *HostSource) EnsureWire(n *Netlist, _ string) int {
	return n.input(h.Name, h.Tensor, h.stream.Type)
}

// IsFromHost reports whether the host writes the stream, so that the host has the integers.
func (s *WireStream) IsFromHost() bool {
	_, ok := s.Source.(*HostSource)
	return ok
}

// SendFromHost makes the host send the tensor in the given shape, which its first layer needs. If m moves elements, the
// host performs m, and m becomes a movement in order. It does nothing if the host does not write the stream, or the
// stream has a wire. So it is if m is no permutation, or would move elements and alone returns false.
func (p *TensorPlace) SendFromHost(m *Movement, shape dataflow.Shape, alone func() bool) {
	n := p.Type.Shape.ElementCount()
	if !p.IsFromHost() || p.onWire || m.Len() != n {
		return
	}
	if from, ok := m.whole(); !ok || from == ConstantWireIndex {
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
		// new position of the element at each old position
		to := ElementIndicesByPosition(program.NewIndexList(places), n)
		at := make([]int32, n)
		for e := range at {
			at[e] = to[p.PositionOf(int32(e))]
		}
		p.At, *m = program.NewIndexList(at), newInOrderMovement(n)
	}
	p.Type.Shape = append(dataflow.Shape(nil), shape...)
}
