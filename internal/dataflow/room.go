package dataflow

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/internal/num"
)

// A Room is what a layer has room for whose weights are loaded into the hardware: nothing else of its circuit depends
// on the weights, or on the step functions behind them.
type Room struct {
	Weight num.Type  `json:"weight"`
	Values num.Range `json:"values"` // of weights
	// Coding is how tables have weights; nil where they have them as numbers.
	Coding *num.Coding `json:"coding,omitempty"`
	Out    num.Type    `json:"out"` // codes of step functions; the zero Type of a layer without any
	// External has weights come from memory with every frame; then they lie in no table (External).
	External bool `json:"external,omitempty"`
}

// RoomOf is the room for weights that lie where some do, with codes of some type. Behind weights are step functions
// that never fall, which turns the signs of a channel's weights round where its function would: then both signs of a
// weight have room. Of codes there is room for all weights whose bits are those of codes: numbers all of which are odd,
// for one.
func RoomOf(weight num.Type, weights num.Range, coding *num.Coding, out num.Type) Room {
	r := Room{Weight: weight, Values: weight.Range(), Out: out}
	if weight.Kind == num.Bipolar || weight.IsFloat() || weights.Lo >= 0 || out == (num.Type{}) {
		return r.coded(coding, false)
	}
	most := max(weights.Hi, -weights.Lo)
	if most&(most-1) != 0 { // -2^n is asked for where the codes are all that its bits hold
		most = 1<<bits.Len64(uint64(most)) - 1
	}
	r.Values = num.Range{Lo: -most, Hi: most}
	r.Weight = num.Narrowest([]int64{-most, 0, most})
	return r.coded(coding, true)
}

// coded is r with codes, of values of both signs if they turn round.
func (r Room) coded(c *num.Coding, turn bool) Room {
	if c == nil {
		return r
	}
	values := slices.Clone(c.Values)
	for _, v := range c.Values {
		if turn && r.Weight.Holds(-v) {
			values = append(values, -v)
		}
	}
	if c = num.CodingOf(r.Weight, values); c != nil && c.Logic() == 0 {
		r.Coding, r.Values = c, num.Span(c.Values)
	}
	return r
}

// Loadable is implemented by bound layers whose weights may be loaded.
type Loadable interface {
	// Room is what weights of the types that the layer has need.
	Room() Room
	// Loads reports whether it has tables that are loaded.
	Loads() bool
	// Loaded is the layer, not bound, with tables that are loaded, and room for other weights.
	Loaded(Room) Op
}

// Rooms lists the room that each node of a graph needs; nil of those whose weights are not loaded.
func (g *Graph) Rooms() []*Room {
	list := make([]*Room, len(g.Nodes))
	for i, n := range g.Nodes {
		if l, ok := n.Op.(Loadable); ok {
			r := l.Room()
			list[i] = &r
		}
	}
	return list
}

// Loads reports whether a node has tables that are loaded.
func (g *Graph) Loads() bool {
	return slices.ContainsFunc(g.Nodes, func(n *Node) bool {
		l, ok := n.Op.(Loadable)
		return ok && l.Loads()
	})
}

// A RoomError says which node has no room for its weights, or for what is in front of it.
type RoomError struct {
	Node *Node
	Err  error
}

func (e *RoomError) Error() string { return fmt.Sprintf("layer %s: %v", e.Node.Name, e.Err) }

func (e *RoomError) Unwrap() error { return e.Err }

// Loaded is the graph with tables that are loaded, where a node has a room: it computes the same. Streams carry what
// there is room for. The error is a *RoomError.
func (g *Graph) Loaded(rooms []*Room) (*Graph, error) {
	l := &Graph{In: slices.Clone(g.In), Out: slices.Clone(g.Out), Streams: make([]*Stream, len(g.Streams))}
	for i, s := range g.Streams {
		own := *s
		l.Streams[i] = &own
	}
	for i, n := range g.Nodes {
		op := n.Op
		if rooms[i] != nil {
			op = op.(Loadable).Loaded(*rooms[i])
		}
		in := make([]Type, len(n.In))
		for k, s := range n.In {
			in[k] = l.Streams[s].Type
		}
		bound, out, err := op.Bind(in)
		if err != nil {
			return nil, &RoomError{n, err}
		}
		own := *n
		own.Op = bound
		l.Nodes = append(l.Nodes, &own)
		for k, s := range n.Out {
			l.Streams[s].Type = out[k]
		}
	}
	return l, l.Verify()
}
