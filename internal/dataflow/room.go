package dataflow

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/internal/num"
)

// A WeightRoom says which weights fit a layer whose weights are loaded into the hardware. Nothing else of its circuit
// depends on the weights, or on the step functions after them.
type WeightRoom struct {
	Weight num.Type  `json:"weight"`
	Values num.Range `json:"values"` // the values of weights
	// Coding is the code in which tables store weights; nil if they store numbers.
	Coding *num.Coding `json:"coding,omitempty"`
	Out    num.Type    `json:"out"` // the codes of step functions; the zero Type for a layer without any
	// External reports that weights come from memory with every frame, and so lie in no table (WeightsPerFrame).
	External bool `json:"external,omitempty"`
}

// WeightRoomOf returns the room for weights of a type with the given range, with step functions whose codes have type
// out. These never fall: where a channel's would, the signs of its weights are reversed. So the room holds both signs
// of each weight. If tables store codes, it holds all weights that their bits can express.
func WeightRoomOf(weight num.Type, weights num.Range, coding *num.Coding, out num.Type) WeightRoom {
	r := WeightRoom{Weight: weight, Values: weight.Range(), Out: out}
	if weight.Kind == num.Bipolar || weight.IsFloat() || weights.Lo >= 0 || out == (num.Type{}) {
		return r.coded(coding, false)
	}
	most := max(weights.Hi, -weights.Lo)
	// round up to 2^n-1; the value -2^n itself is only needed if codes use all that its bits hold
	if most&(most-1) != 0 {
		most = 1<<bits.Len64(uint64(most)) - 1
	}
	r.Values = num.Range{Lo: -most, Hi: most}
	r.Weight = num.Narrowest([]int64{-most, 0, most})
	return r.coded(coding, true)
}

// coded returns the room r for weights that are stored as codes of c. If turn is true, the codes cover values of both
// signs.
func (r WeightRoom) coded(c *num.Coding, turn bool) WeightRoom {
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
	// Room returns the room that weights of the layer's types need.
	Room() WeightRoom
	// Loads reports whether the layer has tables that are loaded.
	Loads() bool
	// Loaded returns the layer, not bound, with tables that are loaded and room for other weights.
	Loaded(WeightRoom) Op
}

// Rooms returns the room that each node of a graph needs; nil for nodes whose weights cannot be loaded.
func (g *Graph) Rooms() []*WeightRoom {
	list := make([]*WeightRoom, len(g.Nodes))
	for i, n := range g.Nodes {
		if l, ok := n.Op.(Loadable); ok {
			r := l.Room()
			list[i] = &r
		}
	}
	return list
}

// HasLoadedTables reports whether some node has tables that are loaded.
func (g *Graph) HasLoadedTables() bool {
	return slices.ContainsFunc(g.Nodes, func(n *Node) bool {
		l, ok := n.Op.(Loadable)
		return ok && l.Loads()
	})
}

// A RoomError says which node cannot have weights that are loaded, and why.
type RoomError struct {
	Node *Node
	Err  error
}

func (e *RoomError) Error() string { return fmt.Sprintf("layer %s: %v", e.Node.Name, e.Err) }

func (e *RoomError) Unwrap() error { return e.Err }

// WithLoadedTables returns the graph with loaded tables in each node that has a room, which is not nil. It computes the
// same. Streams carry all values that the rooms allow. The error is a *RoomError.
func (g *Graph) WithLoadedTables(rooms []*WeightRoom) (*Graph, error) {
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
		in := make([]StreamType, len(n.In))
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
