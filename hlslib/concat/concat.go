// Package concat joins the channels of several inputs: of every vector, those of input 0 come first, then those of input
// 1, and so on. The inputs have the same shape but for the last axis.
//
// Words have SIMD elements on all ports, so SIMD divides the channels of every input. With V vectors of C[k] channels at
// input k the loop is
//
//	for v < V: for k < inputs: for fold < C[k]/SIMD: one clock
//
// or V*C/SIMD clocks a frame, C being all channels. Every iteration reads a word of input k and writes it.
//
// Where the inputs' elements are not all of one type, the output's are of the narrowest that holds every range, and words
// are recoded on their way.
package concat

import (
	"encoding/json"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "StreamingConcat"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "the channels of several inputs one after the other (Concat on the last axis)",
	Decode: Decode,
}

// Params makes the layer.
type Params struct {
	Inputs int `json:"inputs"`
}

type op struct {
	p Params
	// The rest is set by Bind.
	in      []dataflow.Type
	out     dataflow.Type
	vectors int
	simd    []int // what divides the channels of every input
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
	if p.Inputs < 2 || p.Inputs > dataflow.MaxPorts {
		return fmt.Errorf("%d inputs, want 2 to %d", p.Inputs, dataflow.MaxPorts)
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes inputs of shapes [..., C[k]] that differ in the last axis alone; the output is [..., C], C their sum.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != o.p.Inputs {
		return nil, nil, fmt.Errorf("%d inputs, want %d", len(in), o.p.Inputs)
	}
	first := in[0].Shape
	if len(first) == 0 {
		return nil, nil, fmt.Errorf("input 0 is a scalar, want a shape with channels")
	}
	b := &op{p: o.p, in: slices.Clone(in), vectors: first.Vectors()}
	b.out = dataflow.Type{Shape: slices.Clone(first), Elem: in[0].Elem}
	last := len(first) - 1
	b.out.Shape[last] = 0
	step, alike := 0, true
	for k, t := range in {
		if len(t.Shape) != len(first) || !slices.Equal(t.Shape[:last], first[:last]) {
			return nil, nil, fmt.Errorf("input %d has shape %v, input 0 %v; only the last axis may differ", k, t.Shape, first)
		}
		c := t.Shape.Channels()
		b.out.Shape[last] += c
		step = gcd(step, c)
		for i := range c {
			b.out.Range = append(b.out.Range, t.Channel(i))
		}
		alike = alike && t.Elem == in[0].Elem
	}
	if !alike {
		b.out.Elem = num.Smallest(b.out.Union())
	}
	if len(slices.Compact(slices.Clone(b.out.Range))) == 1 {
		b.out.Range = b.out.Range[:1:1]
	}
	b.simd = dataflow.Divisors(step)
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits and a frame within %d iterations", dataflow.MaxWord, dataflow.MaxIterations)
}

// words is the words of a vector at each input.
func (o *op) words(simd int) []int {
	w := make([]int, len(o.in))
	for k, t := range o.in {
		w[k] = t.Shape.Channels() / simd
	}
	return w
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
