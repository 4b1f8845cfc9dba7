// Package vvau is the vector-vector-activation unit: a depthwise convolution behind a sliding window.
//
// A frame is V windows x of K positions by C channels; from each the layer makes C outputs
//
//	y[c] = f[c](sum over k of W[c][k]*x[k][c])
//
// f[c] is a non-decreasing step function, built of thresholds, or nothing, and then y[c] is the accumulator (package mac).
//
// PE channels are computed side by side, each from SIMD positions a clock. With NF = C/PE and SF = K/SIMD the loop is
//
//	for v < V: for nf < NF: for sf < SF: one clock
//
// or V*NF*SF clocks a frame. Windows travel tile by tile of PE channels, by position and then by channel: every iteration
// reads a word, the channels nf*PE .. nf*PE+PE-1 of the positions sf*SIMD .. sf*SIMD+SIMD-1, and element i*PE+pe of it is
// x[sf*SIMD+i][nf*PE+pe]. Iterations with sf = SF-1 write a word, y[nf*PE .. nf*PE+PE-1]. Row nf*SF+sf of the weight
// table is what one iteration takes: element pe*SIMD+i of it is W[nf*PE+pe][sf*SIMD+i].
package vvau

import (
	"encoding/json"
	"fmt"
	"slices"

	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "VVAU"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "each channel by weights of its own, then one step function per channel (depthwise convolutions)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"VectorVectorActivation", "Vector_Vector_Activate"}},
}

// Params makes the layer.
type Params struct {
	Weights [][]int64  `json:"weights"`         // [C][K]
	Steps   []num.Step `json:"steps,omitempty"` // none, one for all channels, or one per channel
}

type op struct {
	p                   Params
	channels, positions int
	// The rest is set by Bind.
	unit    *mac.Unit
	in, out dataflow.Type
	vectors int
	pe      []int // what divides the channels
	simd    []int // what divides the positions
}

// New makes the layer; p belongs to it from now on. What is wrong with p is Bind's to say.
func New(p Params) dataflow.Op {
	o := &op{p: p, channels: len(p.Weights)}
	if o.channels > 0 {
		o.positions = len(p.Weights[0])
	}
	return o
}

// Decode makes the layer from the JSON of its Params.
func Decode(params []byte) (dataflow.Op, error) {
	var p Params
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if err := mac.Verify(p.Weights, p.Steps, nil); err != nil {
		return nil, err
	}
	return New(p), nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [..., K, C] and gives one output of shape [..., C].
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := mac.Verify(o.p.Weights, o.p.Steps, nil); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	outer := len(shape) - 2
	if outer < 0 || shape[outer] != o.positions || shape[outer+1] != o.channels {
		return nil, nil, fmt.Errorf("an input of shape %v for weights of %d channels by %d positions, want [..., %d, %d]",
			shape, o.channels, o.positions, o.positions, o.channels)
	}
	b := &op{p: o.p, channels: o.channels, positions: o.positions, in: in[0]}
	b.vectors = shape[:outer].Size()
	b.pe, b.simd = dataflow.Divisors(b.channels), dataflow.Divisors(b.positions)
	var err error
	b.unit, err = mac.Bind(b.p.Weights, b.p.Steps, nil, b.in.Elem, func(c int) []num.Range { return []num.Range{b.in.Channel(c)} })
	if err != nil {
		return nil, nil, err
	}
	b.out = dataflow.Type{Shape: append(slices.Clone(shape[:outer]), b.channels), Range: b.unit.Range, Elem: b.unit.Out}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, mac.ErrFolds
}

// Accumulator tells the accumulator's width by all rules.
func (o *op) Accumulator() dataflow.Bound { return o.unit.Bound }

// Counts gives operations and parameters by FINN's names.
func (o *op) Counts() map[string]int64 { return o.unit.Counts(o.vectors) }
