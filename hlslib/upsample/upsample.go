// Package upsample repeats the pixels of a frame, out[y][x] = in[y/Scale[0]][x/Scale[1]].
//
// With H rows of W pixels of C channels, in words of SIMD elements, the loop is
//
//	for y < H: for r < Scale[0]: for x < W: for s < Scale[1]: for fold < C/SIMD: one clock
//
// or as many clocks a frame as it writes words, H*W*C/SIMD times both scales (FINN's formula). Every iteration writes a
// word; those with r = 0 and s = 0 read it. It is kept for the others: a row of words where rows are repeated, else the
// words of a pixel.
package upsample

import (
	"encoding/json"
	"fmt"

	"hlsgen/internal/dataflow"
)

// Kind is the layer's name.
const Kind = "UpsampleNearestNeighbour"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "every pixel several times (Resize and Upsample to the nearest neighbour)",
	Decode: Decode,
}

// Params makes the layer.
type Params struct {
	Scale [2]int `json:"scale"` // of rows and of columns
}

type op struct {
	p Params
	// The rest is set by Bind.
	in, out dataflow.Type
	simd    []int // what divides the channels
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
	for _, s := range p.Scale {
		if s < 1 || s > dataflow.MaxElements {
			return fmt.Errorf("scales of %d by %d, want 1 to %d", p.Scale[0], p.Scale[1], dataflow.MaxElements)
		}
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [H, W, C] and gives one output of shape [H*Scale[0], W*Scale[1], C] with the element type
// and ranges of the input.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	if len(shape) != 3 {
		return nil, nil, fmt.Errorf("an input of shape %v, want rows, columns and channels", shape)
	}
	if s := o.p.Scale; s[0] > dataflow.MaxElements/shape.Size()/s[1] {
		return nil, nil, fmt.Errorf("an input of shape %v scaled by %d and %d, at most %d elements are possible", shape, s[0], s[1], dataflow.MaxElements)
	}
	b := &op{p: o.p, in: in[0], simd: dataflow.Divisors(shape[2])}
	b.out = dataflow.Type{Shape: dataflow.Shape{shape[0] * o.p.Scale[0], shape[1] * o.p.Scale[1], shape[2]}, Range: in[0].Range, Elem: in[0].Elem}
	return b, []dataflow.Type{b.out}, nil
}

// kept is the number of words that the buffer holds.
func (o *op) kept(simd int) int {
	words := o.in.Shape.Channels() / simd
	if o.p.Scale[0] > 1 {
		words *= o.in.Shape[1]
	}
	return words
}
