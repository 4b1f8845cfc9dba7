// Package dup is the fork of a stream: what several layers read is written to a stream for each of them.
//
// PE channels travel side by side. With V vectors of C channels in a frame the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame; every iteration reads a word and writes it to all the copies. So the slowest of the readers
// holds up the others as soon as their FIFOs are full.
package dup

import (
	"encoding/json"
	"fmt"

	"hlsgen/internal/dataflow"
)

// Kind is the layer's name.
const Kind = "DuplicateStreams"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "one stream for each of several readers (a tensor that is used more than once)",
	Decode: Decode,
}

// Params makes the layer.
type Params struct {
	Copies int `json:"copies"` // outputs, 2 to dataflow.MaxPorts
}

type op struct {
	p   Params
	typ dataflow.Type // set by Bind
	pe  []int         // what divides the channels
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
	if p.Copies < 2 || p.Copies > dataflow.MaxPorts {
		return fmt.Errorf("%d copies, want 2 to %d", p.Copies, dataflow.MaxPorts)
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input; all outputs are of its type.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	b := &op{p: o.p, typ: in[0], pe: dataflow.Divisors(in[0].Shape.Channels())}
	out := make([]dataflow.Type, o.p.Copies)
	for i := range out {
		out[i] = in[0]
	}
	for range b.Folds() {
		return b, out, nil
	}
	return nil, nil, fmt.Errorf("no fold keeps a frame within %d iterations", dataflow.MaxIterations)
}
