// Package mvau is the matrix-vector-activation unit: a fully connected layer, or a convolution behind a sliding window.
//
// A frame is V vectors x of MW elements; from each the layer makes MH outputs
//
//	y[c] = f[c](sum over k of W[c][k]*x[k])
//
// f[c] is a non-decreasing step function, built of thresholds, or nothing, and then y[c] is the accumulator (package mac).
// Every product may go through a requantiser before it is summed, as in accelerators whose products have a format of
// their own.
//
// With G groups a vector is a window [K, C]: group g has the channels from g*C/G on, of all positions, and makes the
// outputs from g*MH/G on. Its MW = K*C/G elements travel together: tile by tile of C/G channels, by position and then by
// channel, which is the order of its weights.
//
// PE outputs of a group are computed side by side, each from SIMD inputs a clock. With NF = MH/G/PE and SF = MW/SIMD the
// loop is
//
//	for v < V: for g < G: for nf < NF: for sf < SF: one clock
//
// or V*G*NF*SF clocks a frame. Iterations with nf = 0 read a word, x[sf*SIMD .. sf*SIMD+SIMD-1] of the group; it is kept
// for the other nf. Iterations with sf = SF-1 write a word, the PE outputs from (g*NF+nf)*PE on. Row (g*NF+nf)*SF+sf of
// the weight table is what one iteration takes: element pe*SIMD+i of it is W[(g*NF+nf)*PE+pe][sf*SIMD+i].
package mvau

import (
	"encoding/json"
	"fmt"
	"slices"

	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "MVAU"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "matrix times vector, then one step function per channel (fully connected layers, convolutions)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"MatrixVectorActivation", "StreamingFCLayer"}},
}

// Params makes the layer.
type Params struct {
	Weights [][]int64  `json:"weights"`          // [MH][MW]
	Steps   []num.Step `json:"steps,omitempty"`  // none, one for all channels, or one per channel
	Groups  int        `json:"groups,omitempty"` // 0 is 1
	// Product requantises every product of a weight and an input before the sum; nil for exact products.
	Product *num.Requant `json:"product,omitempty"`
}

// groups is G.
func (p Params) groups() int { return max(1, p.Groups) }

type op struct {
	p      Params
	mh, mw int
	// The rest is set by Bind.
	unit    *mac.Unit
	in, out dataflow.Type
	vectors int
	tile    int   // of the input
	pe      []int // what divides the outputs of a group
	simd    []int // what divides MW
}

// New makes the layer; p belongs to it from now on. What is wrong with p is Bind's to say.
func New(p Params) dataflow.Op {
	o := &op{p: p, mh: len(p.Weights)}
	if o.mh > 0 {
		o.mw = len(p.Weights[0])
	}
	return o
}

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
	if err := mac.Verify(p.Weights, p.Steps, p.Product); err != nil {
		return err
	}
	if p.Groups < 0 || len(p.Weights)%p.groups() != 0 {
		return fmt.Errorf("%d groups of %d outputs", p.Groups, len(p.Weights))
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [..., MW], where MW may be the product of several trailing axes, and gives one output of
// shape [..., MH]. With several groups the input is [..., K, C] with K*C = G*MW, or [..., C] with C = G*MW.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	b := &op{p: o.p, mh: o.mh, mw: o.mw}
	groups := b.p.groups()
	if b.mw > dataflow.MaxElements/groups {
		return nil, nil, fmt.Errorf("%d groups of %d inputs, a frame has at most %d elements", groups, b.mw, dataflow.MaxElements)
	}
	var ok bool
	if b.in, ok = in[0].Vectors(groups * b.mw); !ok {
		return nil, nil, fmt.Errorf("an input of shape %v for weights of %d by %d, want vectors of %d", in[0].Shape, b.mh, b.mw, groups*b.mw)
	}
	if groups > 1 {
		window, ok := windowOf(in[0].Shape, groups*b.mw)
		if !ok || window.Channels()%groups != 0 {
			return nil, nil, fmt.Errorf("an input of shape %v for %d groups of %d inputs, want [..., positions, channels] with channels for every group", in[0].Shape, groups, b.mw)
		}
		b.tile = window.Tiled(window.Channels() / groups)
	}
	b.vectors = b.in.Shape.Vectors()
	b.pe, b.simd = dataflow.Divisors(b.mh/groups), dataflow.Divisors(b.mw)
	var err error
	if b.unit, err = mac.Bind(b.p.Weights, b.p.Steps, b.p.Product, b.in.Elem, b.groupRanges(in[0].Shape.Channels())); err != nil {
		return nil, nil, err
	}
	b.out = dataflow.Type{Shape: slices.Clone(b.in.Shape), Range: b.unit.Range, Elem: b.unit.Out}
	b.out.Shape[len(b.out.Shape)-1] = b.mh
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, mac.ErrFolds
}

// windowOf is the shape [K, C] of a vector of n elements: of the last axis, or of the last two.
func windowOf(s dataflow.Shape, n int) (window dataflow.Shape, ok bool) {
	c := s.Channels()
	if c == n {
		return dataflow.Shape{1, c}, true
	}
	if len(s) < 2 || s[len(s)-2] != n/c {
		return nil, false
	}
	return s[len(s)-2:], true
}

// groupRanges gives the inputs that an output's weights meet: those of its group, of windows of so many channels.
func (o *op) groupRanges(channels int) func(c int) []num.Range {
	groups := o.p.groups()
	if groups == 1 || len(o.in.Range) == 1 {
		return func(int) []num.Range { return o.in.Range }
	}
	each := channels / groups
	of := make([][]num.Range, groups)
	for g := range of {
		for at := g * each; at < len(o.in.Range); at += channels {
			of[g] = append(of[g], o.in.Range[at:at+each]...)
		}
	}
	return func(c int) []num.Range { return of[c/(o.mh/groups)] }
}

// Accumulator tells the accumulator's width by all rules.
func (o *op) Accumulator() dataflow.Bound { return o.unit.Bound }

// Counts gives operations and parameters by FINN's names.
func (o *op) Counts() map[string]int64 { return o.unit.Counts(o.vectors) }
