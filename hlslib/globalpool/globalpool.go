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
	"fmt"
	"iter"
	"slices"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Layer is the kind's row in the table of layers, New makes one of them.
var Layer, New = layer.Define(layer.Definition[Params]{
	Name:   "GlobalPool",
	Doc:    "the maximum or the sum over a whole frame, per channel (GlobalMaxPool, GlobalAveragePool)",
	FINN:   dataflow.FINNFile{Names: []string{"GlobalAccPool"}},
	Verify: func(p Params) error { return p.Op.Verify() },
	Takes:  layer.Inputs(1),
	Bind:   bind,
})

// Params makes the layer.
type Params struct {
	Op layer.Pooling `json:"op"`
}

// What is made of a frame.
const (
	Max = layer.Max
	Sum = layer.Sum
)

type op struct {
	layer.Base[Params]
	layer.Channelwise
}

// bind takes one input of at least two axes and gives one output of shape [C]: of the input's own type for a maximum,
// of V times its ranges for a sum.
func bind(b layer.Base[Params], in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if shape := in[0].Shape; len(shape) < 2 {
		return nil, nil, fmt.Errorf("an input of shape %v, want [..., channels]", shape)
	}
	o := &op{b, layer.Channels(in)}
	out, err := b.P.Op.Of(in[0], o.Vectors, dataflow.Shape{o.Channels})
	o.Out = []dataflow.Type{out}
	return o, o.Out, err
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := slices.Clone(in[0].Data[:o.Channels])
	for i, x := range in[0].Data[o.Channels:] {
		c := i % o.Channels
		y[c] = o.P.Op.Join(y[c], x)
	}
	return []dataflow.Tensor{{Shape: o.Out[0].Shape, Data: y}}
}

// Folds yields every PE that divides the channels, in increasing order.
func (o *op) Folds() iter.Seq[dataflow.Fold] { return o.Channelwise.Folds(layer.Tables{}, false) }

// Loop has a latency of one clock to fetch what is kept and one to join.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	l := o.Nest(f, 2)
	l.Write[0][0].Kind = dataflow.Last
	return l.Loop()
}

// kernel keeps what has been made of the vectors so far, by fold.
type kernel struct {
	op      layer.Pooling
	vectors int
	kept    []dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{op: o.P.Op, vectors: o.Vectors, kept: make([]dataflow.Word, o.Words(f))}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	vector, fold := iteration/len(k.kept), iteration%len(k.kept)
	y := slices.Clone(in[0])
	if vector > 0 {
		for pe, kept := range k.kept[fold] {
			y[pe] = k.op.Join(y[pe], kept)
		}
	}
	if vector == k.vectors-1 {
		return []dataflow.Word{y}
	}
	k.kept[fold] = y
	return []dataflow.Word{nil}
}

// Cost counts one join per PE, and the words that are kept. FINN estimates nothing.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, width := estimate.Model(t), o.Out[0].Elem.Width
	var join cost.Resources
	if o.Vectors > 1 {
		join = o.P.Op.Joiner(width)
	}
	return estimate.Layer(m, o.storage(f),
		m.Control(o.Counters(f)),
		join.Times(f.PE).As("pooling"),
		m.Registers(f.PE*width),
	)
}

// storage is the layer's memories: the accumulators go round in shift registers, or, where they are many, lie in LUTs.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	rows := o.Words(f)
	if o.Vectors == 1 {
		rows = 0
	}
	kept := dataflow.RAM("kept", "accumulators", rows, f.PE*o.Out[0].Elem.Width)
	return []dataflow.Storage{kept.At(dataflow.LUTRAM).Shifted()}
}

// Delay is that of joining a value with what is kept.
func (o *op) Delay(dataflow.Fold, dataflow.Target) float64 { return o.P.Op.Delay() }

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header:  "globalpool.hpp",
		Func:    "globalpool",
		Config:  o.Config(f, "channels computed", o.P.Op.Field()),
		Storage: o.storage(f),
	}
}
