// Package split parts the channels of its input: the first Channels[0] of every vector go to output 0, those that follow
// to output 1, and so on.
//
// Words have SIMD elements on all ports, so SIMD divides the channels of every output. With V vectors the loop is
//
//	for v < V: for k < outputs: for fold < Channels[k]/SIMD: one clock
//
// or V*C/SIMD clocks a frame, C being all channels. Every iteration reads a word and writes it to output k.
package split

import (
	"encoding/json"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
)

// Kind is the layer's name.
const Kind = "StreamingSplit"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "the channels parted among several outputs (Split on the last axis)",
	Decode: Decode,
}

// Params makes the layer.
type Params struct {
	Channels []int `json:"channels"` // of each output
}

type op struct {
	p Params
	// The rest is set by Bind.
	in      dataflow.Type
	out     []dataflow.Type
	vectors int
	simd    []int // what divides the channels of every output
}

// New makes the layer; p belongs to it from now on. What is wrong with p is Bind's to say.
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
	if n := len(p.Channels); n < 1 || n > dataflow.MaxPorts {
		return fmt.Errorf("%d outputs, want 1 to %d", n, dataflow.MaxPorts)
	}
	for k, c := range p.Channels {
		if c < 1 || c > dataflow.MaxChannels {
			return fmt.Errorf("output %d has %d channels, want 1 to %d", k, c, dataflow.MaxChannels)
		}
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [..., C], C being the sum of Channels; output k has shape [..., Channels[k]], and the
// element type and ranges of the input.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	sum, step := 0, 0
	for _, c := range o.p.Channels {
		sum, step = sum+c, gcd(step, c)
	}
	if len(shape) == 0 || sum != shape.Channels() {
		return nil, nil, fmt.Errorf("an input of shape %v, want %d channels", shape, sum)
	}
	b := &op{p: o.p, in: in[0], vectors: shape.Vectors(), simd: dataflow.Divisors(step)}
	first := 0
	for _, c := range o.p.Channels {
		t := dataflow.Type{Shape: slices.Clone(shape), Range: in[0].Range, Elem: in[0].Elem}
		t.Shape[len(shape)-1] = c
		if len(in[0].Range) > 1 {
			t.Range = in[0].Range[first : first+c : first+c]
		}
		b.out = append(b.out, t)
		first += c
	}
	for range b.Folds() {
		return b, slices.Clone(b.out), nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits and a frame within %d iterations", dataflow.MaxWord, dataflow.MaxIterations)
}

// words is the words of a vector at each output.
func (o *op) words(simd int) []int {
	w := make([]int, len(o.out))
	for k, c := range o.p.Channels {
		w[k] = c / simd
	}
	return w
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
