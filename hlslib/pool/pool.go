// Package pool is pooling behind a sliding window: of every window x of K positions of C channels in a frame it gives,
// per channel, the maximum or the sum over the positions,
//
//	y[c] = max over k of x[k][c]    or    y[c] = sum over k of x[k][c]
//
// A mean is a sum whose division belongs to the step function that follows.
//
// PE channels are computed side by side, from SIMD positions a clock. With V windows the loop is
//
//	for v < V: for fold < C/PE: for sf < K/SIMD: one clock
//
// or V*C*K/(PE*SIMD) clocks a frame. Every iteration reads a word; the window comes in tiles of PE channels, and element
// simd*PE+pe of the word is x[sf*SIMD+simd][fold*PE+pe]. Iterations with sf = K/SIMD-1 write a word,
// y[fold*PE .. fold*PE+PE-1].
package pool

import (
	"encoding/json"
	"fmt"

	"hlsgen/internal/dataflow"
)

// Kind is the layer's name.
const Kind = "Pool"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "the maximum or the sum over every window, per channel (MaxPool, AveragePool)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"StreamingMaxPool"}, OwnWindow: true},
}

// Params makes the layer.
type Params struct {
	Op Op `json:"op"`
}

// Op says what is made of a window.
type Op string

// The operations.
const (
	Max Op = "max"
	Sum Op = "sum"
)

type op struct {
	p Params
	// The rest is set by Bind.
	in, out                      dataflow.Type
	windows, positions, channels int   // V, K, C
	pe, simd                     []int // what divides C, and K
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
	if p.Op != Max && p.Op != Sum {
		return fmt.Errorf("pooling by %.40q, want %q or %q", p.Op, Max, Sum)
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [..., K, C] and gives one output of shape [..., C]: of the input's own type for a
// maximum, of K times its ranges for a sum.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	n := len(shape)
	if n < 2 {
		return nil, nil, fmt.Errorf("an input of shape %v, want windows [..., positions, channels]", shape)
	}
	b := &op{p: o.p, in: in[0], positions: shape[n-2], channels: shape[n-1], windows: dataflow.Shape(shape[:n-2]).Size()}
	b.pe, b.simd = dataflow.Divisors(b.channels), dataflow.Divisors(b.positions)
	b.out = b.in
	if o.p.Op == Sum {
		var err error
		if b.out, err = b.in.Sums(b.positions); err != nil {
			return nil, nil, err
		}
	}
	b.out.Shape = append(append(dataflow.Shape{}, shape[:n-2]...), b.channels)
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits and a frame within %d iterations", dataflow.MaxWord, dataflow.MaxIterations)
}
