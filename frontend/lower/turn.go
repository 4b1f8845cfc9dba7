package lower

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// A turn says how a layer takes the samples of a frame, which are divided into parts. A layer of single vectors takes
// any parts of whole vectors, and gives as many. A recurrence or a window over time needs those in before. A reordering
// takes any.
type turn struct {
	op      dataflow.Op // layer for all samples; nil for a reordering
	vectors int         // vectors of a sample, if each is computed separately; otherwise 0
	before  []int       // otherwise: parts by input; for a reordering the best number of parts, 0 for any
	after   int         // parts of the outputs
	shaped  bool        // the inputs' axes matter
	dataflow.Dependence
}

// turn returns how a node takes the samples. If it cannot take them, reason says why.
func (t *interleaver) turn(n *dataflow.Node) (as turn, reason string) {
	switch d := dataflow.DependenceOf(n.Op); d.Form {
	case dataflow.DependenceFormSeparate:
		if wanted := t.wanted(n); len(n.Out) > 1 && wanted > 0 && d.Out%wanted == 0 && t.agree(n) {
			// One reordering serves all readers.
			before := slices.Repeat([]int{wanted}, len(n.In))
			return turn{Dependence: d, op: n.Op, before: before, after: wanted, shaped: len(n.In) > 1}, ""
		}
		return turn{Dependence: d, op: n.Op, vectors: d.Out, shaped: len(n.In) > 1}, ""
	case dataflow.DependenceFormCopy: // if time steps stay time steps, it moves elements within one
		if behind := t.wanted(n); behind > 0 && d.In[0]%behind == 0 {
			return turn{before: []int{behind}}, ""
		}
		return turn{before: []int{0}}, ""
	case dataflow.DependenceFormRecurrent, dataflow.DependenceFormWindow:
		return turn{Dependence: d, op: d.Beside(t.turns.Samples), before: d.In, after: d.Out,
			shaped: d.Form == dataflow.DependenceFormWindow}, ""
	default:
		return as, d.Why
	}
}

// wants returns the number of parts that is best for an input of the layer, if readers of its outputs need behind
// parts. 0 means any.
func (as turn) wants(input, behind int) int {
	switch {
	case as.vectors == 0:
		return as.before[input]
	case as.vectors == 1:
		return 1
	case behind > 0 && as.vectors%behind == 0:
		return behind
	}
	return 0
}

// wanted returns the number of parts that the readers of node n's outputs need; 0 means any.
func (t *interleaver) wanted(n *dataflow.Node) int {
	for _, s := range n.Out {
		if t.wants[s] > 0 {
			return t.wants[s]
		}
	}
	return 0
}

// agree reports whether the readers of all outputs of a node need the same parts.
func (t *interleaver) agree(n *dataflow.Node) bool {
	return !slices.ContainsFunc(n.Out, func(s int) bool { return t.wants[s] != t.wants[n.Out[0]] })
}

// common returns the best number of parts for all inputs of a layer that computes vectors separately: that of one
// of its inputs, or else the number that the readers of its outputs need.
func (t *interleaver) common(n *dataflow.Node, vectors int) int {
	for _, s := range n.In {
		if vectors%t.parts[s] == 0 {
			return t.parts[s]
		}
	}
	return max(1, (turn{vectors: vectors}).wants(0, t.wanted(n)))
}

// behind returns the number of parts of a reordering's output: the number that its reader needs, or else that of its
// input.
func (t *interleaver) behind(n *dataflow.Node) int {
	if wanted := t.wanted(n); wanted > 0 {
		return wanted
	}
	if parts := t.parts[n.In[0]]; t.shape(n.Out[0]).VectorCount()%parts == 0 {
		return parts
	}
	return 1
}
