// Package add is the join of two streams: the sum of two inputs a and b of one shape, each scaled by an integer, with a
// step function on top,
//
//	y[c] = f[c](m0[c]*a[c] + m1[c]*b[c])
//
// on every vector of a frame. The factors m0 and m1 are 1 where none are given; f[c] may be any step function, or
// nothing, and then y[c] is the sum. So a plain addition is one layer, and so is a residual join whose branches have
// scales of their own and whose result is quantised.
//
// A factor may be 0: a channel of one branch may be dead. Where both factors of a channel are 0 nothing is joined, and
// Bind refuses: such a constant is a step function of one value.
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame; every iteration reads a word of each input, channels fold*PE .. fold*PE+PE-1, and writes the
// word of the same channels.
//
// Factors that are the same for all channels are constants. Otherwise row fold of the table of factors has those of both
// inputs: element 2*pe is m0[fold*PE+pe], and element 2*pe+1 is m1[fold*PE+pe]. The tables of the step functions are
// those of the thresholding layer.
package add

import (
	"encoding/json"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "AddStreams"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "the scaled sum of two inputs, then one step function per channel (Add, residual joins)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"ElementwiseAdd"}},
}

// Limits of what Bind accepts.
const (
	MaxThresholds = 1 << 12 // of one channel
	maxSumBits    = 63
)

// Params makes the layer.
type Params struct {
	Factors [2][]int64 `json:"factors"`         // by input: none for 1, one for all channels, or one per channel
	Steps   []num.Step `json:"steps,omitempty"` // none, one for all channels, or one per channel
}

type op struct {
	p Params
	// The rest is set by Bind.
	in                [2]dataflow.Type
	out               dataflow.Type
	vectors, channels int
	sum               num.Type
	factor            [2]num.Type     // the narrowest that holds an input's factors
	compare           num.Comparators // one row for all channels, or one per channel; Over is nil without steps
	stepBits          int             // of one channel in a row of the steps' tables
	pe                []int           // what divides the channels
}

// New makes the layer; p belongs to it from now on. What is wrong with p is Bind's to say.
func New(p Params) dataflow.Op { return &op{p: p} }

// Decode makes the layer from the JSON of its Params.
func Decode(params []byte) (dataflow.Op, error) {
	var text struct {
		Factors [][]int64  `json:"factors"` // a list, for JSON drops what an array has no room for
		Steps   []num.Step `json:"steps"`
	}
	if err := json.Unmarshal(params, &text); err != nil {
		return nil, err
	}
	p := Params{Steps: text.Steps}
	if n := len(text.Factors); n != 0 && n != len(p.Factors) {
		return nil, fmt.Errorf("factors of %d inputs, want none or %d", n, len(p.Factors))
	}
	copy(p.Factors[:], text.Factors)
	if err := p.verify(); err != nil {
		return nil, err
	}
	return New(p), nil
}

func (p Params) verify() error {
	for c := range max(len(p.Factors[0]), len(p.Factors[1])) {
		if p.factor(0, c) == 0 && p.factor(1, c) == 0 {
			return fmt.Errorf("channel %d: both factors are 0", c)
		}
	}
	for c, s := range p.Steps {
		if err := s.Verify(); err != nil {
			return fmt.Errorf("channel %d: %w", c, err)
		}
	}
	return nil
}

// factor is what channel c of an input is multiplied with.
func (p Params) factor(input, c int) int64 {
	f := p.Factors[input]
	if len(f) == 0 {
		return 1
	}
	return f[min(c, len(f)-1)]
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes two inputs of one shape, whose last axis has as many channels as there are factors and step functions, or
// any number where there is at most one; the output has the same shape.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 2 {
		return nil, nil, fmt.Errorf("%d inputs, want 2", len(in))
	}
	shape := in[0].Shape
	if !slices.Equal(shape, in[1].Shape) {
		return nil, nil, fmt.Errorf("inputs of shapes %v and %v, want one shape", shape, in[1].Shape)
	}
	b := &op{p: o.p, in: [2]dataflow.Type(in), vectors: shape.Vectors(), channels: shape.Channels()}
	for _, n := range []struct {
		what  string
		count int
	}{{"factors of input 0", len(o.p.Factors[0])}, {"factors of input 1", len(o.p.Factors[1])}, {"step functions", len(o.p.Steps)}} {
		if n.count > 1 && n.count != b.channels {
			return nil, nil, fmt.Errorf("%d %s for inputs of shape %v, want none, one or %d", n.count, n.what, shape, b.channels)
		}
	}
	b.pe = dataflow.Divisors(b.channels)
	sums, err := b.bindSum()
	if err != nil {
		return nil, nil, err
	}
	if err := b.bindOutput(sums); err != nil {
		return nil, nil, err
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits, a table's row within %d and a frame within %d iterations",
		dataflow.MaxWord, dataflow.MaxRow, dataflow.MaxIterations)
}

// bindSum derives the types of factors and sums, and gives the sums' ranges: one where all channels are alike, else one
// per channel.
func (o *op) bindSum() ([]num.Range, error) {
	for i, f := range o.p.Factors {
		if len(f) == 0 {
			f = []int64{1}
		}
		o.factor[i] = num.Smallest(hull(f))
	}
	n := max(len(o.in[0].Range), len(o.in[1].Range), len(o.p.Factors[0]), len(o.p.Factors[1]), 1)
	sums := make([]num.Range, n)
	for c := range sums {
		a, ok0 := o.in[0].Channel(c).Times(o.p.factor(0, c))
		b, ok1 := o.in[1].Channel(c).Times(o.p.factor(1, c))
		s, ok := a.Plus(b)
		if !ok0 || !ok1 || !ok {
			return nil, fmt.Errorf("channel %d: the sum leaves 64 bits", c)
		}
		sums[c] = s
	}
	union := sums[0]
	for _, s := range sums {
		union = union.Union(s)
	}
	if o.sum = num.Smallest(union); o.sum.Width > maxSumBits {
		return nil, fmt.Errorf("the sum needs %d bits for %v, at most %d are possible", o.sum.Width, union, maxSumBits)
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

// bindOutput derives the output's ranges and element type, and the comparators that make it.
func (o *op) bindOutput(sums []num.Range) error {
	o.out = dataflow.Type{Shape: o.in[0].Shape, Range: sums, Elem: o.sum}
	if len(o.p.Steps) == 0 {
		return nil
	}
	n := max(len(sums), len(o.p.Steps))
	o.out.Range = make([]num.Range, n)
	values := make([][]int64, n)
	breaks := 0
	for c := range n {
		s := sums[min(c, len(sums)-1)]
		live := o.p.Steps[min(c, len(o.p.Steps)-1)].Over(s)
		o.out.Range[c], values[c] = live.Reach(s), live.Value
		breaks = max(breaks, len(live.At))
	}
	o.out.Elem = num.Narrowest(values...)
	// A delta costs about as much as a threshold: units may write a function with twice its breakpoints.
	o.compare = num.Compare(o.p.Steps, sums, o.sum, 2*breaks).Merged()
	if n := o.compare.Steps(); n > MaxThresholds {
		return fmt.Errorf("a channel has %d thresholds, at most %d are possible", n, MaxThresholds)
	}
	o.stepBits = dataflow.StepBits(o.compare, o.sum)
	return nil
}
