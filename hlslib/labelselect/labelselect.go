// Package labelselect is the selection of labels: of every vector x of N labels in a frame it gives the indices of the K
// that come first, in order. The largest label comes first, or the smallest; of equal labels the one with the lower
// index, or the one with the higher.
//
// PE labels are taken side by side. With V vectors the loop is
//
//	for v < V: for fold < N/PE: one clock
//
// or V*N/PE clocks a frame. Every iteration reads a word, x[fold*PE .. fold*PE+PE-1]; the last of a vector writes one
// word, its K indices, the first place lowest.
//
// The K first labels so far are kept in order. An iteration puts the labels of its word in order, by joining halves,
// which no other iteration waits for, and joins them with those kept. What it carries over to the next is thus one
// comparison of every kept label with every one of the word, all of them side by side, and one choice among the places:
// as deep for 64 labels a clock as for one. The comparators are K*min(K,PE), which is why K is limited.
package labelselect

import (
	"encoding/json"
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "LabelSelect"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "the indices of the first K labels of every vector, in order (ArgMax, ArgMin, TopK)",
	Decode: Decode,
}

// MaxK is the most places that Bind accepts.
const MaxK = 16

// Params makes the layer.
type Params struct {
	Labels int   `json:"labels"` // in a vector, N
	K      int   `json:"k"`      // places that are given
	First  First `json:"first"`
	Ties   Ties  `json:"ties"`
}

// First says which label takes the first place.
type First string

// The orders.
const (
	Largest  First = "largest"
	Smallest First = "smallest"
)

// Ties says which of equal labels comes first.
type Ties string

// The orders of equal labels.
const (
	LowerIndex  Ties = "lower index"
	HigherIndex Ties = "higher index"
)

type op struct {
	p Params
	// The rest is set by Bind.
	in, out dataflow.Type
	vectors int
	pe      []int // what divides the labels
}

// New makes the layer. What is wrong with p is Bind's to say.
func New(p Params) dataflow.Op { return &op{p: p} }

// Decode makes the layer from the JSON of its Params.
func Decode(params []byte) (dataflow.Op, error) {
	var p Params
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if err := p.verify(); err != nil {
		return nil, err
	}
	return New(p), nil
}

func (p Params) verify() error {
	switch {
	case p.Labels < 1 || p.Labels > dataflow.MaxChannels:
		return fmt.Errorf("vectors of %d labels, want 1 to %d", p.Labels, dataflow.MaxChannels)
	case p.K < 1 || p.K > p.Labels:
		return fmt.Errorf("%d places for %d labels, want 1 to %d", p.K, p.Labels, p.Labels)
	case p.K > MaxK:
		return fmt.Errorf("%d places, at most %d are possible: every place is compared with every label of a word", p.K, MaxK)
	case p.First != Largest && p.First != Smallest:
		return fmt.Errorf("%.40q comes first, want %q or %q", p.First, Largest, Smallest)
	case p.Ties != LowerIndex && p.Ties != HigherIndex:
		return fmt.Errorf("of equal labels %.40q comes first, want %q or %q", p.Ties, LowerIndex, HigherIndex)
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [..., N], where N may be the product of several trailing axes, and gives one output of
// shape [..., K]: indices from 0 to N-1.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	x, ok := in[0].Vectors(o.p.Labels)
	if !ok {
		return nil, nil, fmt.Errorf("an input of shape %v, want vectors of %d labels", in[0].Shape, o.p.Labels)
	}
	b := &op{p: o.p, in: x, vectors: x.Shape.Vectors(), pe: dataflow.Divisors(o.p.Labels)}
	index := num.Range{Lo: 0, Hi: int64(o.p.Labels - 1)}
	b.out = dataflow.Type{
		Shape: append(append(dataflow.Shape{}, x.Shape[:len(x.Shape)-1]...), o.p.K),
		Range: []num.Range{index},
		Elem:  num.Smallest(index),
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a frame within %d iterations", dataflow.MaxIterations)
}

// before reports whether label a at index i comes before label b at index j.
func (o *op) before(a int64, i int, b int64, j int) bool {
	switch {
	case a == b:
		return i < j == (o.p.Ties == LowerIndex)
	case o.p.First == Largest:
		return a > b
	}
	return a < b
}
