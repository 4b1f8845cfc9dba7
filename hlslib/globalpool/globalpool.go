// Package globalpool is pooling over a whole frame: from V vectors x of C channels it computes the maximum or the sum
// of each channel,
//
//	y[c] = max over v of x[v][c]    or    y[c] = sum over v of x[v][c]
//
// A mean is a sum; the step function that follows includes the division.
//
// PE channels are computed side by side. The loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame. Every iteration reads the word x[v][fold*PE .. fold*PE+PE-1], and joins it with the kept
// values of its channels. The iterations of the last vector write the result. The layer keeps C values: the words of
// one vector.
package globalpool

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
)

// Layer describes the pooling of frames in the table of layers; New makes a layer of this kind.
var Layer, New = layer.DefineKind(layer.Definition[Params]{
	Name:    "GlobalPool",
	Doc:     "the maximum or the sum over a whole frame, per channel (GlobalMaxPool, GlobalAveragePool)",
	Example: `{"op":"sum"}`,
	Bind:    bind,
	FINN:    dataflow.FINNFile{Names: []string{"GlobalAccPool"}, WholeImage: true},
})

// Params select the operation of the pooling, Max or Sum.
type Params = layer.PoolParams

// Max and Sum are the operations of pooling: the maximum of each channel over a frame, or the sum.
const Max, Sum = layer.MaxPooling, layer.SumPooling

type op struct {
	layer.Base[Params]
	layer.ChannelwiseSchedule
}

// bind returns the layer for one input with at least two axes, and its output of shape [C], the last axis. A maximum
// has the input's type. A sum has the ranges of the input times the number of vectors in a frame.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	if shape := in[0].Shape; len(shape) < 2 {
		return nil, nil, fmt.Errorf("an input of shape %v, want [..., channels]", shape)
	}
	o := &op{b, layer.ChannelSchedule(in)}
	out, err := b.P.Op.OutputType(in[0], o.Vectors, dataflow.Shape{o.Channels})
	o.Out = []dataflow.StreamType{out}
	return o, o.Out, err
}

// Computation describes Eval as data, which compiled engines execute.
func (o *op) Computation() dataflow.Computation {
	return dataflow.Pooler{Channels: o.Channels, Positions: o.Vectors, Sum: o.P.Op == layer.SumPooling}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := slices.Clone(in[0].Data[:o.Channels])
	for i, x := range in[0].Data[o.Channels:] {
		c := i % o.Channels
		y[c] = o.P.Op.Pool(y[c], x)
	}
	return []dataflow.Tensor{{Shape: o.Out[0].Shape, Data: y}}
}

// Folds yields every PE that divides the channels, in increasing order.
func (o *op) Folds() dataflow.Folds { return o.ChannelwiseSchedule.Folds(layer.Tables{}, false) }

// Loop returns the loop over the input words, whose last vector writes the results. Its latency is that of a word that
// is added to the kept one, or compared with it.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.Read()
	width := o.Out[0].Elem.Width
	if n := o.Words(f); n > dataflow.ShiftRegister {
		c.DoCounterLookup(n, f.PE*width, dataflow.LUTRAM)
	}
	c.DoInOneStage(width, append(o.P.Op.Chain(), delay.OpSelect)...)
	l := o.Nest(f, c.Write())
	l.Write[0][0].Kind = dataflow.LastIndex
	return layer.WithLatency(o, f, t, l.Loop())
}

// kernel keeps the maximum or sum of the vectors so far, one word for each group of PE channels.
type kernel struct {
	op      layer.Pooling
	vectors int
	kept    []dataflow.Word
	words   [1]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{op: o.P.Op, vectors: o.Vectors, kept: make([]dataflow.Word, o.Words(f))}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	vector, fold := iteration/len(k.kept), iteration%len(k.kept)
	if vector == 0 {
		k.kept[fold] = append(k.kept[fold][:0], in[0]...)
	} else {
		for pe, kept := range k.kept[fold] {
			k.kept[fold][pe] = k.op.Pool(in[0][pe], kept)
		}
	}
	if k.words[0] = nil; vector == k.vectors-1 {
		k.words[0] = k.kept[fold]
	}
	return k.words[:]
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header:  "globalpool.hpp",
		Func:    "globalpool",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config:  o.Config(f, "channels computed", o.VectorsField(), o.P.Op.Field()),
		Storage: o.storage(f),
	}
}
