// Package pool is pooling behind a sliding window: from every window x of K positions by C channels it computes, per
// channel, the maximum or the sum over the positions,
//
//	y[c] = max over k of x[k][c]    or    y[c] = sum over k of x[k][c]
//
// A mean is a sum; the step function that follows includes the division.
//
// PE channels are computed side by side, with SIMD positions each per clock. With V windows the loop is
//
//	for v < V: for fold < C/PE: for sf < K/SIMD: one clock
//
// or V*C*K/(PE*SIMD) clocks a frame. Every iteration reads a word. The window travels in tiles of PE channels, and
// element simd*PE+pe of the word is x[sf*SIMD+simd][fold*PE+pe]. Iterations with sf = K/SIMD-1 write the word
// y[fold*PE .. fold*PE+PE-1].
package pool

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
)

// LayerKind describes the pooling in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with the
// given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "Pool",
	Doc:     "the maximum or the sum over every window, per channel (MaxPool, AveragePool)",
	Example: `{"op":"max"}`,
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"StreamingMaxPool"}, OwnWindow: true},
})

// Params select the operation of the pooling, PoolingMax or PoolingSum.
type Params = layer.PoolParams

// PoolingMax and PoolingSum are the operations of pooling: the maximum of each channel over a window, or the sum.
const PoolingMax, PoolingSum = layer.PoolingMax, layer.PoolingSum

type op struct {
	layer.Base[Params]
	in, out                      dataflow.StreamType
	windows, positions, channels int   // V, K, C
	pe, simd                     []int // the divisors of C, and of K
}

// bind returns the layer for one input of shape [..., K, C], and its output of shape [..., C]. A maximum has the
// input's type. A sum has K times the input's ranges. An input with fewer than two axes is an error, as is a sum that
// is too wide.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	shape := in[0].Shape
	n := len(shape) - 2
	if n < 0 {
		return nil, nil, fmt.Errorf("an input of shape %v, want windows [..., positions, channels]", shape)
	}
	o := &op{Base: b, in: in[0], windows: shape[:n].ElementCount(), positions: shape[n], channels: shape[n+1]}
	o.pe, o.simd = dataflow.Divisors(o.channels), dataflow.Divisors(o.positions)
	var err error
	o.out, err = b.P.Op.OutputType(in[0], o.positions, append(slices.Clone(shape[:n]), o.channels))
	return o, []dataflow.StreamType{o.out}, err
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	d.CarriedDelayNS = o.carriedDelayNS
	return d
}

// dependence says that every window of a frame is computed independently.
func (o *op) dependence() dataflow.Dependence {
	d := dataflow.NewSeparateDependence(1, o.windows)
	d.Window = true
	return d
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	return dataflow.PoolingComputation{Channels: o.channels, Positions: o.positions, Sum: o.P.Op == PoolingSum}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, o.windows*o.channels)}
	for v := range o.windows {
		for c := range o.channels {
			at := func(k int) int64 { return in[0].Data[(v*o.positions+k)*o.channels+c] }
			result := at(0)
			for k := 1; k < o.positions; k++ {
				result = o.P.Op.PoolTwo(result, at(k))
			}
			y.Data[v*o.channels+c] = result
		}
	}
	return []dataflow.Tensor{y}
}

// Folds yields every PE that divides the channels with every SIMD that divides a window's positions, in increasing
// order, within the limits of HLS.
func (o *op) Folds() dataflow.FoldIterator {
	return layer.FoldChoices{PE: o.pe, SIMD: o.simd, Fits: func(f dataflow.Fold) bool {
		return max(f.SIMD*o.in.Elem.Width, o.out.Elem.Width)*f.PE <= dataflow.MaxWordBits &&
			o.windows <= dataflow.MaxIterationsPerFrame/(o.channels/f.PE)/(o.positions/f.SIMD)
	}}.AllFolds()
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	tiles := o.in.RowMajorPort(f.PE * f.SIMD)
	tiles.Tile = o.in.Shape.PortTileFor(f.PE)
	return []dataflow.Port{tiles}, []dataflow.Port{o.out.RowMajorPort(f.PE)}
}

// Loop returns the loop over the input words. In HLS its latency is that of a word whose positions are combined in a
// tree, and then with the window's positions so far. In RTL it is the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	c.DoReductionTree(f.SIMD, o.in.Elem.Width, o.P.Op.PipelineOps()...)
	sf := o.positions / f.SIMD
	if sf > 1 {
		c.DoInOneStage(o.out.Elem.Width, append(o.P.Op.PipelineOps(), delay.OpSelect)...)
	}
	return layer.LoopWithBackEndLatency(o, f, t, layer.NewWindowsLoop(o.windows, o.channels/f.PE, sf,
		c.DoStreamWrite()))
}

// kernel keeps, by channel, the maximum or sum of the window's positions so far.
type kernel struct {
	op    layer.Pooling
	sf    int // extent
	kept  dataflow.Word
	words [1]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{op: o.P.Op, sf: o.positions / f.SIMD, kept: make(dataflow.Word, f.PE)}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	sf, pe := iteration%k.sf, len(k.kept)
	for i, x := range in[0] {
		if kept := &k.kept[i%pe]; sf == 0 && i < pe {
			*kept = x
		} else {
			*kept = k.op.PoolTwo(*kept, x)
		}
	}
	if k.words[0] = nil; sf == k.sf-1 {
		k.words[0] = k.kept
	}
	return k.words[:]
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "pool.hpp",
		Func:    "pool",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config: []dataflow.ConfigField{
			{Name: "sf", Doc: "words of a window's tile", Value: o.positions / f.SIMD},
			{Name: "pe", Doc: "channels computed side by side", Value: f.PE},
			{Name: "simd", Doc: "positions of each consumed per clock", Value: f.SIMD},
			o.P.Op.ConfigField(),
		},
	}
}
