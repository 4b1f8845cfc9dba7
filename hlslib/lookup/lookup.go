// Package lookup replaces indices by rows of a table: an embedding.
//
// PE elements of a row are given side by side. With n indices in a frame and rows of D elements the loop is
//
//	for i < n: for fold < D/PE: one clock
//
// or n*D/PE clocks a frame. Iterations with fold = 0 read a word, one index; every iteration writes a word, elements
// fold*PE .. fold*PE+PE-1 of the row. Row index*D/PE + fold of the memory holds them.
package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "Lookup"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "a row of a table for every index (Gather of constants, embeddings)",
	Decode: Decode,
}

// Params makes the layer.
type Params struct {
	Table [][]int64 `json:"table"` // [V][D]
}

type op struct {
	p Params
	// The rest is set by Bind.
	in, out dataflow.Type
	indices int   // in a frame
	depth   int   // D
	pe      []int // what divides D
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
	if len(p.Table) == 0 || len(p.Table[0]) == 0 {
		return errors.New("the table is empty")
	}
	for i, row := range p.Table {
		if len(row) != len(p.Table[0]) {
			return fmt.Errorf("row %d of the table has %d elements, row 0 has %d", i, len(row), len(p.Table[0]))
		}
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of indices, of shape [n] or [..., 1], whose range lies within the table; the output is [n, D] or
// [..., D]. Its ranges are those of the columns, over the rows that can be reached.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	if len(shape) > 1 && shape.Channels() != 1 {
		return nil, nil, fmt.Errorf("indices of shape %v, want one axis, or a last axis of 1", shape)
	}
	reached := in[0].Union()
	if last := int64(len(o.p.Table) - 1); reached.Lo < 0 || reached.Hi > last {
		return nil, nil, fmt.Errorf("indices in %v for a table of %d rows, want 0 to %d", reached, len(o.p.Table), last)
	}
	b := &op{p: o.p, in: in[0], indices: shape.Size(), depth: len(o.p.Table[0])}
	b.pe = dataflow.Divisors(b.depth)
	if len(shape) > 1 {
		shape = shape[:len(shape)-1]
	}
	b.out = dataflow.Type{Shape: append(slices.Clone(shape), b.depth), Elem: num.Narrowest(o.p.Table...)}
	rows := o.p.Table[reached.Lo : reached.Hi+1]
	for _, v := range rows[0] {
		b.out.Range = append(b.out.Range, num.Point(v))
	}
	for _, row := range rows[1:] {
		for d, v := range row {
			b.out.Range[d] = b.out.Range[d].Union(num.Point(v))
		}
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits and a frame within %d iterations", dataflow.MaxWord, dataflow.MaxIterations)
}
