// Package crop keeps some rows and columns of a frame of pixels: Start, Start+Step ... below Stop.
//
// With H rows of W pixels of C channels, in words of SIMD elements, the loop is
//
//	for y < H: for x < W: for fold < C/SIMD: one clock
//
// or H*W*C/SIMD clocks a frame (FINN's formula). Every iteration reads a word; those of a pixel that stays write it.
package crop

import (
	"encoding/json"
	"fmt"

	"hlsgen/internal/dataflow"
)

// Kind is the layer's name.
const Kind = "Crop"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "some rows and columns of a feature map (Slice, cropping, subsampling)",
	Decode: Decode,
}

// Params makes the layer. Pairs are of rows and of columns.
type Params struct {
	Start [2]int `json:"start"`
	Stop  [2]int `json:"stop"` // the first that does not stay
	Step  [2]int `json:"step"`
}

type op struct {
	p Params
	// The rest is set by Bind.
	in, out       dataflow.Type
	rows, columns dataflow.Stride // of the input; those that stay are hit
	simd          []int           // what divides the channels
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

var axes = [2]string{"rows", "columns"}

func (p Params) verify() error {
	for a, name := range axes {
		if p.Start[a] < 0 || p.Stop[a] <= p.Start[a] {
			return fmt.Errorf("%s from %d to before %d, want at least one", name, p.Start[a], p.Stop[a])
		}
		if p.Step[a] < 1 || p.Step[a] > dataflow.MaxElements {
			return fmt.Errorf("%s in steps of %d, want 1 to %d", name, p.Step[a], dataflow.MaxElements)
		}
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [H, W, C], with H and W at least Stop; the output has as many rows and columns as stay,
// and the element type and ranges of the input.
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
	for a, name := range axes {
		if o.p.Stop[a] > shape[a] {
			return nil, nil, fmt.Errorf("%s to before %d of an input of shape %v, which has %d", name, o.p.Stop[a], shape, shape[a])
		}
	}
	b := &op{p: o.p, in: in[0], rows: o.axis(0, shape[0]), columns: o.axis(1, shape[1]), simd: dataflow.Divisors(shape[2])}
	b.out = dataflow.Type{Shape: dataflow.Shape{b.rows.Hits(), b.columns.Hits(), shape[2]}, Range: in[0].Range, Elem: in[0].Elem}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a frame within %d iterations", dataflow.MaxIterations)
}

// axis is the input's rows (a = 0) or columns (1), which are n.
func (o *op) axis(a, n int) dataflow.Stride {
	return dataflow.Stride{Length: n, First: o.p.Start[a], End: o.p.Stop[a], Step: o.p.Step[a]}
}
