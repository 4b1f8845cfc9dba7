// Package threshold is the thresholding layer: a step function per channel, y[c] = f[c](x[c]), on every vector of a frame.
//
// A step function is a base and thresholds; each threshold that x exceeds adds to the output: one unit common to all,
// or, where a function falls or jumps unevenly, a delta of its own.
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame; every iteration reads a word, x[fold*PE .. fold*PE+PE-1], and writes the word of the same
// channels. Row fold of the threshold table holds what one iteration compares with: element pe*steps+i is threshold i
// of channel fold*PE+pe. Where all channels have the same function, one row of steps thresholds serves them all.
package threshold

import (
	"encoding/json"
	"errors"
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "Thresholding"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "one step function per channel (quantised activations, requantisation)",
	Decode: Decode,
}

// MaxThresholds is the most thresholds of one channel that Bind accepts.
const MaxThresholds = 1 << 12

// Params makes the layer.
type Params struct {
	Steps []num.Step `json:"steps"` // one for all channels, or one per channel
}

type op struct {
	p Params
	// The rest is set by Bind.
	in, out           dataflow.Type
	vectors, channels int
	compare           num.Comparators // one row for all channels, or one per channel
	pe                []int           // what divides the channels
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
	if len(p.Steps) == 0 {
		return errors.New("there are no step functions")
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

// Bind takes one input whose last axis has as many channels as there are step functions, or any number for one; the
// output has the same shape.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	b := &op{p: o.p, in: in[0], vectors: shape.Vectors(), channels: shape.Channels()}
	if n := len(b.p.Steps); n > 1 && n != b.channels {
		return nil, nil, fmt.Errorf("%d step functions for an input of shape %v, want one or %d", n, shape, b.channels)
	}
	b.pe = dataflow.Divisors(b.channels)
	b.bindOutput()
	if n := b.compare.Steps(); n > MaxThresholds {
		return nil, nil, fmt.Errorf("a channel has %d thresholds, at most %d are possible", n, MaxThresholds)
	}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits, a table's row within %d and a frame within %d iterations",
		dataflow.MaxWord, dataflow.MaxRow, dataflow.MaxIterations)
}

// step is channel c's step function.
func (o *op) step(c int) num.Step { return o.p.Steps[min(c, len(o.p.Steps)-1)] }

func (o *op) bindOutput() {
	n := max(len(o.p.Steps), len(o.in.Range))
	o.out = dataflow.Type{Shape: o.in.Shape, Range: make([]num.Range, n)}
	values := make([][]int64, n)
	breaks := 0
	for c := range n {
		live := o.step(c).Over(o.in.Channel(c))
		o.out.Range[c], values[c] = live.Reach(o.in.Channel(c)), live.Value
		breaks = max(breaks, len(live.At))
	}
	o.out.Elem = num.Narrowest(values...)
	// A delta costs about as much as a threshold: units may write a function with twice its breakpoints.
	o.compare = num.Compare(o.p.Steps, o.in.Range, o.in.Elem, 2*breaks).Merged()
}
