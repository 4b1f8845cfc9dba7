// Package globalpool is pooling over a whole frame: of its V vectors x of C channels it gives, per channel, the maximum
// or the sum,
//
//	y[c] = max over v of x[v][c]    or    y[c] = sum over v of x[v][c]
//
// A mean is a sum whose division belongs to the step function that follows.
//
// PE channels are computed side by side. The loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame. Every iteration reads a word, x[v][fold*PE .. fold*PE+PE-1], and joins it with what is kept
// of its channels; those of the last vector write the result. What is kept are C values: the words of one vector.
package globalpool

import (
	"encoding/json"
	"fmt"

	"hlsgen/internal/dataflow"
)

// Kind is the layer's name.
const Kind = "GlobalPool"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "the maximum or the sum over a whole frame, per channel (GlobalMaxPool, GlobalAveragePool)",
	Decode: Decode,
	FINN:   dataflow.FINNFile{Names: []string{"GlobalAccPool"}},
}

// Params makes the layer.
type Params struct {
	Op Op `json:"op"`
}

// Op says what is made of a frame.
type Op string

// The operations.
const (
	Max Op = "max"
	Sum Op = "sum"
)

type op struct {
	p Params
	// The rest is set by Bind.
	in, out           dataflow.Type
	vectors, channels int
	pe                []int // what divides the channels
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
	if p.Op != Max && p.Op != Sum {
		return fmt.Errorf("pooling by %.40q, want %q or %q", p.Op, Max, Sum)
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input of at least two axes and gives one output of shape [C]: of the input's own type for a maximum,
// of V times its ranges for a sum.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	shape := in[0].Shape
	if len(shape) < 2 {
		return nil, nil, fmt.Errorf("an input of shape %v, want [..., channels]", shape)
	}
	b := &op{p: o.p, in: in[0], vectors: shape.Vectors(), channels: shape.Channels()}
	b.pe = dataflow.Divisors(b.channels)
	b.out = b.in
	if o.p.Op == Sum {
		var err error
		if b.out, err = b.in.Sums(b.vectors); err != nil {
			return nil, nil, err
		}
	}
	b.out.Shape = dataflow.Shape{b.channels}
	for range b.Folds() {
		return b, []dataflow.Type{b.out}, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a word within %d bits and a frame within %d iterations", dataflow.MaxWord, dataflow.MaxIterations)
}
