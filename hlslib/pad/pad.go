// Package pad is the padding of feature maps: around a frame of pixels, and, for transposed convolutions, between them.
//
// A frame of H rows of W pixels becomes one of H' rows of W' pixels,
//
//	H' = Before[0] + H + (H-1)*Between[0] + After[0]
//
// and W' likewise: Before and After pixels around, Between pixels from one to the next. All of their channels are Code.
//
// With C channels in words of SIMD elements the loop is
//
//	for y < H': for x < W': for fold < C/SIMD: one clock
//
// or H'*W'*C/SIMD clocks a frame (FINN's formula). Every iteration writes a word; those of a pixel of the frame read it.
//
// Where the input's element type does not hold Code, the output's is the narrowest that holds Code and the input's range,
// and words are recoded on their way.
package pad

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "FMPadding"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "pixels of a constant around a feature map, and between its pixels (Pad, ConvTranspose)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"FMPadding_Pixel"}},
}

// Params makes the layer. Pairs are of rows and of columns.
type Params struct {
	Before  [2]int `json:"before"`
	After   [2]int `json:"after"`
	Between [2]int `json:"between"`
	Code    int64  `json:"code"` // the padding's integer, of 32 bits
}

type op struct {
	p Params
	// The rest is set by Bind.
	in, out       dataflow.Type
	rows, columns dataflow.Stride // of the output; pixels of the frame are hit
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

func (p Params) verify() error {
	for _, n := range slices.Concat(p.Before[:], p.After[:], p.Between[:]) {
		if n < 0 || n > dataflow.MaxElements {
			return fmt.Errorf("padding by %d pixels, want 0 to %d", n, dataflow.MaxElements)
		}
	}
	if p.Code < math.MinInt32 || p.Code > math.MaxInt32 {
		return fmt.Errorf("padding with %d, want an integer of 32 bits", p.Code)
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [H, W, C] and gives one output of shape [H', W', C].
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
	b := &op{p: o.p, in: in[0], rows: o.axis(0, shape[0]), columns: o.axis(1, shape[1]), simd: dataflow.Divisors(shape[2])}
	h, w, most := b.rows.Length, b.columns.Length, dataflow.MaxElements/shape[2]
	if h > most || w > most/h {
		return nil, nil, fmt.Errorf("an output of shape [%d %d %d], at most %d elements are possible", h, w, shape[2], dataflow.MaxElements)
	}
	b.out = dataflow.Type{Shape: dataflow.Shape{h, w, shape[2]}, Range: in[0].Range, Elem: in[0].Elem}
	if h > shape[0] || w > shape[1] {
		b.out.Range = slices.Clone(in[0].Range)
		for c, r := range b.out.Range {
			b.out.Range[c] = r.Union(num.Point(o.p.Code))
		}
		if !b.out.Elem.Holds(o.p.Code) {
			b.out.Elem = num.Smallest(b.out.Union())
		}
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits", dataflow.MaxWord)
}

// axis is the output's rows (a = 0) or columns (1), where the input has n.
func (o *op) axis(a, n int) dataflow.Stride {
	step := o.p.Between[a] + 1
	end := o.p.Before[a] + (n-1)*step + 1
	return dataflow.Stride{Length: end + o.p.After[a], First: o.p.Before[a], End: end, Step: step}
}
