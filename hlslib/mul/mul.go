// Package mul is the product of two streams: of two inputs a and b, each moved by a constant, with a function on top,
//
//	y[c] = f[c]((a[c]+Offset[0]) * (b[c]+Offset[1]))
//
// on every vector of a frame. An offset is what an integer quantiser's zero point asks for, negated. f[c] may be any step
// function, one requantiser may stand for all of them where there are too many steps, or there is nothing, and then y[c] is
// the product.
//
// Both inputs have one shape, or b is a single vector of as many channels as a's vectors: a gate, which multiplies every
// vector of a (squeeze-and-excitation).
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame. Every iteration reads a word of a, channels fold*PE .. fold*PE+PE-1, and writes the word of the
// same channels. It reads such a word of b too; but a gate is read along with the first vector, and kept for the others.
//
// The tables of the step functions are those of the thresholding layer.
package mul

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "MultiplyStreams"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "the product of two inputs, or of an input and a gate per channel, then one step function per channel or a requantiser (Mul)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"ElementwiseMul"}},
}

// Limits of what Bind accepts.
const (
	MaxThresholds  = 1 << 12 // of one channel
	maxProductBits = 63
)

// Params makes the layer.
type Params struct {
	Offset  [2]int64     `json:"offset"`            // by input, each within 32 bits
	Steps   []num.Step   `json:"steps,omitempty"`   // none, one for all channels, or one per channel
	Requant *num.Requant `json:"requant,omitempty"` // of every channel, in place of steps
}

type op struct {
	p Params
	// The rest is set by Bind.
	in                [2]dataflow.Type
	out               dataflow.Type
	vectors, channels int
	gate              bool        // input 1 is one vector, for all of input 0
	factor            [2]num.Type // an input plus its offset
	product           num.Type
	products          num.Range       // of all channels
	compare           num.Comparators // one row for all channels, or one per channel; Over is nil without steps
	stepBits          int             // of one channel in a row of the steps' tables
	pe                []int           // what divides the channels
}

// New makes the layer; p belongs to it from now on. What is wrong with p is Bind's to say.
func New(p Params) dataflow.Op { return &op{p: p} }

// Decode makes the layer from the JSON of its Params.
func Decode(params []byte) (dataflow.Op, error) {
	var text struct {
		Offset  []int64      `json:"offset"` // a list, for JSON drops what an array has no room for
		Steps   []num.Step   `json:"steps"`
		Requant *num.Requant `json:"requant"`
	}
	if err := json.Unmarshal(params, &text); err != nil {
		return nil, err
	}
	p := Params{Steps: text.Steps, Requant: text.Requant}
	if n := len(text.Offset); n != 0 && n != len(p.Offset) {
		return nil, fmt.Errorf("offsets of %d inputs, want none or %d", n, len(p.Offset))
	}
	copy(p.Offset[:], text.Offset)
	if err := p.verify(); err != nil {
		return nil, err
	}
	return New(p), nil
}

func (p Params) verify() error {
	for i, v := range p.Offset {
		if v < math.MinInt32 || v > math.MaxInt32 {
			return fmt.Errorf("the offset %d of input %d takes more than 32 bits", v, i)
		}
	}
	for c, s := range p.Steps {
		if err := s.Verify(); err != nil {
			return fmt.Errorf("channel %d: %w", c, err)
		}
	}
	if p.Requant == nil {
		return nil
	}
	if len(p.Steps) > 0 {
		return errors.New("step functions and a requantiser")
	}
	return p.Requant.Verify()
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes two inputs of one shape, or a second that is one vector, [C] or [1, .., C]. The last axis has as many channels
// as there are step functions, or any number where there is at most one; the output has the first input's shape.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 2 {
		return nil, nil, fmt.Errorf("%d inputs, want 2", len(in))
	}
	shape, other := in[0].Shape, in[1].Shape
	b := &op{p: o.p, in: [2]dataflow.Type(in), vectors: shape.Vectors(), channels: shape.Channels()}
	if !slices.Equal(shape, other) {
		if len(other) > len(shape) || other.Vectors() != 1 || other.Channels() != b.channels {
			return nil, nil, fmt.Errorf("inputs of shapes %v and %v, want one shape, or a second of one vector of %d", shape, other, b.channels)
		}
		b.gate = b.vectors > 1
	}
	if n := len(o.p.Steps); n > 1 && n != b.channels {
		return nil, nil, fmt.Errorf("%d step functions for inputs of shape %v, want none, one or %d", n, shape, b.channels)
	}
	b.pe = dataflow.Divisors(b.channels)
	products, err := b.bindProduct()
	if err != nil {
		return nil, nil, err
	}
	if err := b.bindOutput(products); err != nil {
		return nil, nil, err
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits, a table's row within %d and a frame within %d iterations",
		dataflow.MaxWord, dataflow.MaxRow, dataflow.MaxIterations)
}

// bindProduct derives the types of factors and products, and gives the products' ranges: one where all channels are alike,
// else one per channel.
func (o *op) bindProduct() ([]num.Range, error) {
	products := make([]num.Range, max(len(o.in[0].Range), len(o.in[1].Range)))
	var factor [2]num.Range
	for c := range products {
		a, ok0 := o.in[0].Channel(c).Plus(num.Point(o.p.Offset[0]))
		b, ok1 := o.in[1].Channel(c).Plus(num.Point(o.p.Offset[1]))
		if !ok0 || !ok1 {
			return nil, fmt.Errorf("channel %d: an input and its offset leave 64 bits", c)
		}
		low, ok0 := a.Times(b.Lo)
		high, ok1 := a.Times(b.Hi)
		if !ok0 || !ok1 {
			return nil, fmt.Errorf("channel %d: the product leaves 64 bits", c)
		}
		products[c] = low.Union(high) // a product is linear in each factor, so that its ends are at the factors' ends
		if c == 0 {
			factor, o.products = [2]num.Range{a, b}, products[0]
		}
		factor[0], factor[1], o.products = factor[0].Union(a), factor[1].Union(b), o.products.Union(products[c])
	}
	signs := 0
	for i, r := range factor {
		o.factor[i] = num.Smallest(r)
		if o.p.Offset[i] == 0 && o.in[i].Elem.Kind == num.Bipolar {
			o.factor[i] = o.in[i].Elem
			signs++
		}
	}
	o.product = num.Smallest(o.products)
	if signs == 2 {
		o.product = o.factor[0]
	}
	if o.product.Width > maxProductBits {
		return nil, fmt.Errorf("the product needs %d bits for %v, at most %d are possible", o.product.Width, o.products, maxProductBits)
	}
	return products, nil
}

// bindOutput derives the output's ranges and element type, and the comparators that make it.
func (o *op) bindOutput(products []num.Range) error {
	o.out = dataflow.Type{Shape: o.in[0].Shape, Range: products, Elem: o.product}
	if o.p.Requant != nil {
		return o.bindRequant(products)
	}
	if len(o.p.Steps) == 0 {
		return nil
	}
	n := max(len(products), len(o.p.Steps))
	o.out.Range = make([]num.Range, n)
	values := make([][]int64, n)
	breaks := 0
	for c := range n {
		r := products[min(c, len(products)-1)]
		live := o.p.Steps[min(c, len(o.p.Steps)-1)].Over(r)
		o.out.Range[c], values[c] = live.Reach(r), live.Value
		breaks = max(breaks, len(live.At))
	}
	o.out.Elem = num.Narrowest(values...)
	// A delta costs about as much as a threshold: units may write a function with twice its breakpoints.
	o.compare = num.Compare(o.p.Steps, products, o.product, 2*breaks).Merged()
	if n := o.compare.Steps(); n > MaxThresholds {
		return fmt.Errorf("a channel has %d thresholds, at most %d are possible", n, MaxThresholds)
	}
	o.stepBits = dataflow.StepBits(o.compare, o.product)
	return nil
}

// bindRequant is bindOutput with a requantiser.
func (o *op) bindRequant(products []num.Range) error {
	o.out.Range = make([]num.Range, len(products))
	for c, r := range products {
		var ok bool
		if o.out.Range[c], ok = o.p.Requant.Range(r); !ok {
			return fmt.Errorf("channel %d: the requantiser's product leaves %d bits", c, maxProductBits)
		}
	}
	o.out.Elem = num.Smallest(o.out.Union())
	return nil
}

// multiplies reports whether the inputs take a multiplier: a factor of -1, 0 and 1 is a choice.
func (o *op) multiplies() bool {
	choice := num.Range{Lo: -1, Hi: 1}
	return !o.factor[0].Range().Within(choice) && !o.factor[1].Range().Within(choice)
}

// rescales reports whether the requantiser takes a multiplier: 0 and a power of two are wiring, or a choice of sign.
func (o *op) rescales() bool {
	if o.p.Requant == nil {
		return false
	}
	m := o.p.Requant.Multiplier
	m = max(m, -m) // the least int64 stays: a power of two as well
	return m&(m-1) != 0
}
