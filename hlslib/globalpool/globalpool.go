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

// LayerKind describes the pooling of frames in the table of layers, hlslib.LayerKinds. New returns a layer of this kind
// with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "GlobalPool",
	Doc:     "the maximum or the sum over a whole frame, per channel (GlobalMaxPool, GlobalAveragePool)",
	Example: `{"op":"sum"}`,
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"GlobalAccPool"}, WholeImage: true},
})

// Params select the operation of the pooling, PoolingMax or PoolingSum.
type Params = layer.PoolParams

// PoolingMax and PoolingSum are the operations of pooling: the maximum of each channel over a frame, or the sum.
const PoolingMax, PoolingSum = layer.PoolingMax, layer.PoolingSum

type op struct {
	layer.Base[Params]
	layer.ChannelwiseSchedule
}

// bind returns the layer for one input with at least two axes, and its output of shape [C], the last axis. A maximum
// has the input's type. A sum has the ranges of the input times the number of vectors in a frame. Fewer axes are an
// error, as is a sum that is too wide.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	if shape := in[0].Shape; len(shape) < 2 {
		return nil, nil, fmt.Errorf("an input of shape %v, want [..., channels]", shape)
	}
	o := &op{b, layer.NewChannelwiseScheduleForFirstInput(in)}
	out, err := b.P.Op.OutputType(in[0], o.Vectors, dataflow.Shape{o.Channels})
	o.Out = []dataflow.StreamType{out}
	return o, o.Out, err
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Computation = o.computation
	d.CarriedDelayNS = o.carriedDelayNS
	return d
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	return dataflow.PoolingComputation{Channels: o.Channels, Positions: o.Vectors, Sum: o.P.Op == layer.PoolingSum}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := slices.Clone(in[0].Data[:o.Channels])
	for i, x := range in[0].Data[o.Channels:] {
		c := i % o.Channels
		y[c] = o.P.Op.PoolTwo(y[c], x)
	}
	return []dataflow.Tensor{{Shape: o.Out[0].Shape, Data: y}}
}

// Folds yields every PE that divides the channels, in increasing order, within the limits of HLS.
func (o *op) Folds() dataflow.FoldIterator {
	return o.ChannelwiseSchedule.Folds(layer.TableLayout{}, false)
}

// Loop returns the loop over the input words, whose last vector writes the results. In HLS its latency is that of a
// word that is added to the kept one, or compared with it, in RTL the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	width := o.Out[0].Elem.Width
	if n := o.WordsPerVector(f); n > dataflow.MaxShiftRegisterWords {
		c.DoCounterLookup(n, f.PE*width, dataflow.MemoryLUTRAM)
	}
	c.DoInOneStage(width, append(o.P.Op.PipelineOps(), delay.OpSelect)...)
	l := o.LoopNest(f, c.DoStreamWrite())
	l.Write[0][0].Kind = dataflow.IndexSetKindLast
	return layer.LoopWithBackEndLatency(o, f, t, l.AsLoop())
}

// kernel keeps the maximum or sum of the vectors so far, one word for each group of PE channels.
type kernel struct {
	op      layer.Pooling
	vectors int
	kept    []dataflow.Word
	words   [1]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{op: o.P.Op, vectors: o.Vectors, kept: make([]dataflow.Word, o.WordsPerVector(f))}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	vector, fold := iteration/len(k.kept), iteration%len(k.kept)
	if vector == 0 {
		k.kept[fold] = append(k.kept[fold][:0], in[0]...)
	} else {
		for pe, kept := range k.kept[fold] {
			k.kept[fold][pe] = k.op.PoolTwo(in[0][pe], kept)
		}
	}
	if k.words[0] = nil; vector == k.vectors-1 {
		k.words[0] = k.kept[fold]
	}
	return k.words[:]
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "globalpool.hpp",
		Func:    "globalpool",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config:  o.ConfigFields(f, "channels computed", o.VectorCountField(), o.P.Op.ConfigField()),
		Storage: o.storage(f),
	}
}
