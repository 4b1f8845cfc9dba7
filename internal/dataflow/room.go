package dataflow

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/internal/num"
)

// LoadableWeightLimits says which weights fit a layer whose weights are loaded into the hardware. Nothing else of its
// circuit depends on the weights, or on the step functions after them.
type LoadableWeightLimits struct {
	Weight num.Type  `json:"weight"`
	Values num.Range `json:"values"` // the values of weights
	// Coding is the code in which tables store weights; nil if they store numbers.
	Coding *num.Coding `json:"coding,omitempty"`
	Out    num.Type    `json:"out"` // the codes of step functions; the zero Type for a layer without any
	// External reports that weights come from memory with every frame, and so lie in no table.
	External bool `json:"external,omitempty"`
}

// NewLoadableWeightLimits returns the limits for weights of a type and a range, with step functions whose codes have
// type out. These never fall: where a channel's would, the signs of its weights are reversed. So the limits include
// both signs of each weight. If tables store codes, they include all weights that the codes' bits can express.
func NewLoadableWeightLimits(weight num.Type, weights num.Range, coding *num.Coding,
	out num.Type) LoadableWeightLimits {
	r := LoadableWeightLimits{Weight: weight, Values: weight.Range(), Out: out}
	if weight.Kind == num.KindBipolar || weight.IsMinifloat() || weights.Lo >= 0 || out == (num.Type{}) {
		return r.coded(coding, false)
	}
	most := max(weights.Hi, -weights.Lo)
	// round up to 2^n-1; the value -2^n itself is only needed if codes use all that its bits hold
	if most&(most-1) != 0 {
		most = 1<<bits.Len64(uint64(most)) - 1
	}
	r.Values = num.Range{Lo: -most, Hi: most}
	r.Weight = num.NarrowestTypeOfValues([]int64{-most, 0, most})
	return r.coded(coding, true)
}

// coded returns the limits r for weights that are stored as codes of c. If turn is true, the codes cover values of both
// signs.
func (r LoadableWeightLimits) coded(c *num.Coding, turn bool) LoadableWeightLimits {
	if c == nil {
		return r
	}
	values := slices.Clone(c.Values)
	for _, v := range c.Values {
		if turn && r.Weight.Holds(-v) {
			values = append(values, -v)
		}
	}
	if c = num.CodingOf(r.Weight, values); c != nil && c.LogicBitCount() == 0 {
		r.Coding, r.Values = c, num.RangeOfLists(c.Values)
	}
	return r
}

// HasLoadableWeights is implemented by bound layers whose weights may be loaded, or may come from memory with every
// frame (LoadableWeightLimits.External). In the second case each iteration reads a word of them, which is the next row
// of the table, and the table repeats.
type HasLoadableWeights interface {
	// Room returns the limits for weights of the layer's types.
	Room() LoadableWeightLimits
	// Loads reports whether the layer has tables that are loaded.
	Loads() bool
	// Loaded returns the layer, not bound, with tables that are loaded and take all weights within the limits.
	Loaded(LoadableWeightLimits) Op
	// External reports whether the weights come from memory.
	External() bool
	// Reads returns the number of times that a frame reads the whole table.
	Reads() int
	// WeightTable returns the weights of a fold, a row per iteration.
	WeightTable(Fold) Table
	// WeightPort returns the format of the rows as words, for one pass over the table.
	WeightPort(Fold) Port
}

// LoadableWeightLimitsByNode returns, by node of the graph, the limits for its weights. They are nil for nodes whose
// weights cannot be loaded.
func (g *Graph) LoadableWeightLimitsByNode() []*LoadableWeightLimits {
	list := make([]*LoadableWeightLimits, len(g.Nodes))
	for i, n := range g.Nodes {
		if l, ok := n.Op.(HasLoadableWeights); ok {
			r := l.Room()
			list[i] = &r
		}
	}
	return list
}

// HasRunTimeLoadedTables reports whether some node has tables that are loaded.
func (g *Graph) HasRunTimeLoadedTables() bool {
	return slices.ContainsFunc(g.Nodes, func(n *Node) bool {
		l, ok := n.Op.(HasLoadableWeights)
		return ok && l.Loads()
	})
}

// A LoadableWeightsError says which node cannot have weights that are loaded, and why.
type LoadableWeightsError struct {
	Node *Node
	Err  error
}

func (e *LoadableWeightsError) Error() string { return fmt.Sprintf("layer %s: %v", e.Node.Name, e.Err) }

func (e *LoadableWeightsError) Unwrap() error { return e.Err }

// WithRunTimeLoadedTables returns a graph that computes the same, with loaded tables in each node for which rooms has
// limits. Streams carry all values that the limits allow. The error is a *LoadableWeightsError, or that of Verify.
func (g *Graph) WithRunTimeLoadedTables(rooms []*LoadableWeightLimits) (*Graph, error) {
	l := &Graph{In: slices.Clone(g.In), Out: slices.Clone(g.Out), Streams: make([]*Stream, len(g.Streams))}
	for i, s := range g.Streams {
		own := *s
		l.Streams[i] = &own
	}
	for i, n := range g.Nodes {
		op := n.Op
		if rooms[i] != nil {
			op = op.(HasLoadableWeights).Loaded(*rooms[i])
		}
		in := make([]StreamType, len(n.In))
		for k, s := range n.In {
			in[k] = l.Streams[s].Type
		}
		bound, out, err := op.Bind(in)
		if err != nil {
			return nil, &LoadableWeightsError{n, err}
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
