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
	"slices"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Layer is the row of the fork in the table of layers; New makes one.
var Layer, New = layer.Define(layer.Definition[Params]{
	Name:    "DuplicateStreams",
	Doc:     "one stream for each of several readers (a tensor that is used more than once)",
	Example: `{"copies":2}`,
	Bind:    bind,
})

// Params makes the layer.
type Params struct {
	Copies int `json:"copies"` // outputs, 2 to dataflow.MaxPorts
}

// Verify says what is wrong with p whatever the inputs.
func (p Params) Verify() error { return layer.Within("copies", p.Copies, 2, dataflow.MaxPorts) }

type op struct {
	layer.Base[Params]
	layer.Channelwise
}

// bind takes one input; all outputs are of its type.
func bind(b layer.Base[Params], in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	o := &op{b, layer.Channels(in)}
	o.Out = slices.Repeat(in, b.P.Copies)
	return o, o.Out, nil
}

// Dependence has every element apart.
func (o *op) Dependence() dataflow.Dependence { return dataflow.EachApart(1, o.In[0].Shape.Size()) }

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := make([]dataflow.Tensor, o.P.Copies)
	for i := range y {
		y[i] = dataflow.Tensor{Shape: in[0].Shape, Data: slices.Clone(in[0].Data)}
	}
	return y
}

// Folds yields every PE that divides the channels, in increasing order.
func (o *op) Folds() dataflow.Folds { return o.Channelwise.Folds(layer.Tables{}, false) }

// Loop has a latency of one clock.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.Begin(t)
	c.Read()
	return o.Nest(f, c.Write()).Loop()
}

// kernel is the number of copies; there is no state.
type kernel int

func (o *op) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel { return kernel(o.P.Copies) }

func (k kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	y := make([]dataflow.Word, k)
	for i := range y {
		y[i] = slices.Clone(in[0])
	}
	return y
}

// Cost counts words, and a LUT per copy that waits for room in all the others. The copies of a word are wiring. FINN
// estimates nothing.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, word := estimate.Model(t), o.In[0].Port(f.PE)
	return estimate.Parts(
		m.Control(cost.Counter(word.Words)),
		layer.Handshakes(o.P.Copies),
		m.Registers(word.Width()),
	)
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "dup.hpp",
		Func:   "duplicate",
		Config: []dataflow.Field{{Name: "words", Doc: "words in a frame", Value: o.In[0].Port(f.PE).Words}},
	}
}
