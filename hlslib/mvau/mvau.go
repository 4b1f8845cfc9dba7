// Package mvau is the matrix-vector-activation unit: a fully connected layer, or a convolution behind a sliding window.
//
// A frame is V vectors x of MW elements; from each the layer makes MH outputs
//
//	y[c] = f[c](sum over k of W[c][k]*x[k])
//
// f[c] is a non-decreasing step function, built of thresholds, or nothing, and then y[c] is the accumulator.
//
// PE outputs are computed side by side, each from SIMD inputs a clock. With NF = MH/PE and SF = MW/SIMD the loop is
//
//	for v < V: for nf < NF: for sf < SF: one clock
//
// or V*NF*SF clocks a frame. Iterations with nf = 0 read a word, x[sf*SIMD .. sf*SIMD+SIMD-1]; it is kept for the other
// nf. Iterations with sf = SF-1 write a word, y[nf*PE .. nf*PE+PE-1]. Row nf*SF+sf of the weight table is what one
// iteration takes: element pe*SIMD+simd of it is W[nf*PE+pe][sf*SIMD+simd].
//
// The accumulator is the narrowest type that holds the final sums of all channels; what lies between may wrap around,
// which two's complement forgives. Where weights and inputs are both bipolar, products are matches of bits and the
// accumulator counts them: p matches in MW are a sum of 2p-MW, and thresholds are moved likewise.
package mvau

import (
	"encoding/json"
	"errors"
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "MVAU"

// Doc says in one line what the layer does.
const Doc = "matrix times vector, then one step function per channel (fully connected layers, convolutions)"

// Limits of what Bind accepts.
const (
	MaxWeight     = 1 << 40 // magnitude of a weight
	MaxThresholds = 1 << 12 // of one channel: a jump by n of the outputs' common unit is n thresholds
	maxAccBits    = 63
)

// Params makes the layer.
type Params struct {
	Weights [][]int64  `json:"weights"`         // [MH][MW]
	Steps   []num.Step `json:"steps,omitempty"` // none, one for all channels, or one per channel
}

type op struct {
	p      Params
	mh, mw int
	// The rest is set by Bind.
	in, out dataflow.Type
	vectors int
	weight  num.Type // of one weight
	acc     num.Type // of the accumulator
	xnor    bool     // weights and inputs are bipolar, acc counts matches
	product num.Range
	compare num.Comparators // one row per channel; Over is nil without activation
	bound   dataflow.Bound
	pe      []int // what divides MH
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
	if len(p.Weights) == 0 || len(p.Weights[0]) == 0 {
		return errors.New("there are no weights")
	}
	mw := len(p.Weights[0])
	for c, row := range p.Weights {
		if len(row) != mw {
			return fmt.Errorf("row %d of the weights has %d elements, row 0 has %d", c, len(row), mw)
		}
		for k, w := range row {
			if w > MaxWeight || w < -MaxWeight {
				return fmt.Errorf("weight %d of channel %d is %d, beyond 2^40", k, c, w)
			}
		}
	}
	if n := len(p.Steps); n > 1 && n != len(p.Weights) {
		return fmt.Errorf("%d step functions for %d channels, want none, one or %d", n, len(p.Weights), len(p.Weights))
	}
	for c, s := range p.Steps {
		if err := s.Verify(); err != nil {
			return fmt.Errorf("channel %d: %w", c, err)
		}
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of shape [..., MW], where MW may be the product of several trailing axes, and gives one output of
// shape [..., MH].
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	x, ok := in[0].Vectors(o.mw)
	if !ok {
		return nil, nil, fmt.Errorf("an input of shape %v for weights of %d by %d, want vectors of %d", in[0].Shape, o.mh, o.mw, o.mw)
	}
	shape := x.Shape
	b := &op{p: o.p, mh: o.mh, mw: o.mw, in: x, vectors: shape.Vectors()}
	b.weight = num.Narrowest(b.p.Weights...)
	b.xnor = b.weight.Kind == num.Bipolar && b.in.Elem.Kind == num.Bipolar
	b.pe, b.simd = dataflow.Divisors(b.mh), dataflow.Divisors(b.mw)
	if err := b.bindAccumulator(); err != nil {
		return nil, nil, err
	}
	b.out.Shape = append(append(dataflow.Shape{}, shape[:len(shape)-1]...), b.mh)
	if err := b.bindOutput(); err != nil {
		return nil, nil, err
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits, a table's row within %d and a frame within %d iterations",
		dataflow.MaxWord, dataflow.MaxRow, dataflow.MaxIterations)
}

// sum is the exact range of channel c's sum of products.
func (o *op) sum(c int) (num.Range, bool) { return num.Dot(o.p.Weights[c], o.in.Range) }

// accumulated is what the accumulator holds for the sums r.
func (o *op) accumulated(r num.Range) num.Range {
	if o.xnor {
		k := int64(o.mw)
		return num.Range{Lo: (r.Lo + k) / 2, Hi: (r.Hi + k) / 2}
	}
	return r
}

// activation is channel c's step function; ok is false where there is none.
func (o *op) activation(c int) (s num.Step, ok bool) {
	switch len(o.p.Steps) {
	case 0:
		return num.Step{}, false
	case 1:
		return o.p.Steps[0], true
	}
	return o.p.Steps[c], true
}

// bindOutput derives the output's ranges and element type, and the comparators that make it.
func (o *op) bindOutput() error {
	o.out.Range = make([]num.Range, o.mh)
	steps, values := make([]num.Step, o.mh), make([][]int64, o.mh)
	acc := make([]num.Range, o.mh)
	for c := range o.mh {
		r, _ := o.sum(c)
		s, ok := o.activation(c)
		if !ok {
			o.out.Range[c] = r
			continue
		}
		acc[c] = o.accumulated(r)
		steps[c] = o.onAccumulator(s.Over(r)).Over(acc[c])
		if !steps[c].NonDecreasing() {
			return fmt.Errorf("channel %d: the step function falls between the sums in %v; turn it round with the signs of the weights", c, r)
		}
		o.out.Range[c], values[c] = steps[c].Reach(acc[c]), steps[c].Value
	}
	if len(o.p.Steps) == 0 {
		o.out.Elem = num.Smallest(o.out.Union())
		return nil
	}
	o.out.Elem = num.Narrowest(values...)
	o.compare = num.Compare(steps, acc, o.acc, MaxThresholds)
	if o.compare.Delta != nil {
		return fmt.Errorf("a channel's step function takes more than %d thresholds of one unit; make it a layer of its own", MaxThresholds)
	}
	return nil
}

// onAccumulator is s as a function of the accumulator. Matches p stand for the sum 2p-MW, which reaches a breakpoint at
// from p = (at+MW)/2 on, rounded up; of two breakpoints that meet there, no sum lies between.
func (o *op) onAccumulator(s num.Step) num.Step {
	if !o.xnor {
		return s
	}
	m := num.Step{Value: s.Value[:1:1]}
	for i, at := range s.At {
		p := (at + int64(o.mw) + 1) >> 1
		if n := len(m.At); n > 0 && m.At[n-1] == p {
			m.Value[n] = s.Value[i+1]
			continue
		}
		m.At, m.Value = append(m.At, p), append(m.Value, s.Value[i+1])
	}
	return m
}
