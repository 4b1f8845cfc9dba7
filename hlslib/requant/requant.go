// Package requant is the requantising layer: an activation of too many steps for thresholds (16-bit codes, say), computed
// by arithmetic on every vector of a frame,
//
//	y[c] = clip(round((m[c]*x[c] + b[c]) / 2^Shift), Lo, Hi)
//
// with an integer multiplier m and an integer bias b per channel, or one for all channels. Division by 2^Shift is a shift
// to the right. A negative multiplier makes a falling activation, and 0 a constant channel. Mode is how it rounds. Down is
// the plain shift, and half a unit in the bias, 2^(Shift-1), makes it round to the nearest; what a bias cannot say is a
// rounding that depends on the value, as half to even does.
//
// Fit finds the parameters with which the layer equals given step functions.
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame; every iteration reads a word, x[fold*PE .. fold*PE+PE-1], and writes the word of the same
// channels. Row fold of the tables of multipliers and of biases has those of the channels of one iteration: element pe is
// that of channel fold*PE+pe. Where all channels have the same, the table is one row of one element. The table of limits
// is one row, the lowest and the highest output.
package requant

import (
	"encoding/json"
	"errors"
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "Requantization"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "multiply, add, shift and clip per channel (activations of many steps)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"Requant"}},
}

// Limits of what Bind accepts.
const (
	MaxShift   = num.MaxRequantShift
	maxSumBits = 63
)

// Params makes the layer.
type Params struct {
	Multiplier []int64      `json:"multiplier"`     // one for all channels, or one per channel
	Bias       []int64      `json:"bias"`           // likewise, independently
	Shift      int          `json:"shift"`          // 0..MaxShift
	Mode       num.Rounding `json:"mode,omitempty"` // floor where empty
	Lo         int64        `json:"lo"`             // the least output; the least int64 clips nothing
	Hi         int64        `json:"hi"`             // the greatest output
}

type op struct {
	p Params
	// The rest is set by Bind.
	in, out           dataflow.Type
	vectors, channels int
	sum               num.Type // of m*x + b, exact
	code              num.Range
	multiplier, bias  num.Type // the narrowest that holds those of all channels
	pe                []int    // what divides the channels
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
	err := p.mode().Verify()
	switch {
	case len(p.Multiplier) == 0:
		return errors.New("there is no multiplier")
	case len(p.Bias) == 0:
		return errors.New("there is no bias")
	case p.Shift < 0 || p.Shift > MaxShift:
		return fmt.Errorf("a shift by %d, want 0..%d", p.Shift, MaxShift)
	case err != nil:
		return err
	case p.Lo > p.Hi:
		return fmt.Errorf("outputs from %d up to %d", p.Lo, p.Hi)
	}
	return nil
}

// mode is how the layer rounds.
func (p Params) mode() num.Rounding {
	if p.Mode == "" {
		return num.Floor
	}
	return p.Mode
}

// of is channel c's of a list that has one for all channels or one per channel.
func of[T any](list []T, c int) T { return list[min(c, len(list)-1)] }

// sum is the exact range of channel c before the shift; ok is false where it leaves 64 bits.
func (p Params) sum(c int, x num.Range) (s num.Range, ok bool) {
	product, ok1 := x.Times(of(p.Multiplier, c))
	s, ok2 := product.Plus(num.Point(of(p.Bias, c)))
	return s, ok1 && ok2
}

// code is a sum over 2^Shift, rounded.
func (p Params) code(sum int64) int64 { return p.mode().Quotient(sum, p.Shift) }

// clip keeps a code within the limits.
func (p Params) clip(code int64) int64 { return min(max(code, p.Lo), p.Hi) }

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input whose last axis has as many channels as there are multipliers and biases, or any number for one;
// the output has the same shape. The sum before the shift must stay within 63 bits.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	b := &op{p: o.p, in: in[0], vectors: shape.Vectors(), channels: shape.Channels()}
	for _, n := range []struct {
		what  string
		count int
	}{{"multipliers", len(b.p.Multiplier)}, {"biases", len(b.p.Bias)}} {
		if n.count > 1 && n.count != b.channels {
			return nil, nil, fmt.Errorf("%d %s for an input of shape %v, want one or %d", n.count, n.what, shape, b.channels)
		}
	}
	b.pe = dataflow.Divisors(b.channels)
	if err := b.bindOutput(); err != nil {
		return nil, nil, err
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits, a table's row within %d and a frame within %d iterations",
		dataflow.MaxWord, dataflow.MaxRow, dataflow.MaxIterations)
}

// bindOutput derives the types inside the layer, and the output's ranges. The ends of an input's range give the ends of
// the output's: multiplying, adding, rounding and clipping all keep an order or turn it round.
func (o *op) bindOutput() error {
	sums, err := o.p.sums(max(len(o.in.Range), len(o.p.Multiplier), len(o.p.Bias)), o.in.Channel)
	if err != nil {
		return err
	}
	o.out = dataflow.Type{Shape: o.in.Shape, Range: make([]num.Range, len(sums))}
	all := sums[0]
	for c, s := range sums {
		all = all.Union(s)
		o.out.Range[c] = num.Range{Lo: o.p.clip(o.p.code(s.Lo)), Hi: o.p.clip(o.p.code(s.Hi))}
	}
	o.sum, o.code = num.Smallest(all), num.Range{Lo: o.p.code(all.Lo), Hi: o.p.code(all.Hi)}
	o.out.Elem = num.Smallest(o.out.Union())
	o.multiplier, o.bias = num.Smallest(hull(o.p.Multiplier)), num.Smallest(hull(o.p.Bias))
	return nil
}

// sums gives the sums' ranges of the first n channels, whose inputs are in x. The error says how they leave 63 bits.
func (p Params) sums(n int, x func(c int) num.Range) ([]num.Range, error) {
	sums := make([]num.Range, n)
	for c := range sums {
		s, ok := p.sum(c, x(c))
		if !ok {
			return nil, fmt.Errorf("channel %d: the sum leaves 64 bits", c)
		}
		sums[c] = s
	}
	all := sums[0]
	for _, s := range sums {
		all = all.Union(s)
	}
	if t := num.Smallest(all); t.Width > maxSumBits {
		return nil, fmt.Errorf("the sum needs %d bits for %v, at most %d are possible", t.Width, all, maxSumBits)
	}
	return sums, nil
}

// hull is the smallest range that holds the values.
func hull(values []int64) num.Range {
	r := num.Point(values[0])
	for _, v := range values {
		r = r.Union(num.Point(v))
	}
	return r
}
