// Package vvau is the vector-vector-activation unit: a depthwise convolution behind a sliding window.
//
// A frame is V windows x of K positions by C channels; from each the layer computes C outputs
//
//	y[c] = f[c](sum over k of W[c][k]*x[k][c])
//
// f[c] is a non-decreasing step function, built from thresholds, or absent; then y[c] is the accumulator (package
// mac).
//
// PE channels are computed side by side, with SIMD positions each per clock. With NF = C/PE and SF = K/SIMD the loop
// is
//
//	for v < V: for nf < NF: for sf < SF: one clock
//
// or V*NF*SF clocks a frame. Windows travel tile by tile of PE channels, and within a tile by position and then by
// channel. Every iteration reads a word: the channels nf*PE .. nf*PE+PE-1 of the positions sf*SIMD .. sf*SIMD+SIMD-1.
// Its element i*PE+pe is x[sf*SIMD+i][nf*PE+pe]. Iterations with sf = SF-1 write the word y[nf*PE .. nf*PE+PE-1]. Row
// nf*SF+sf of the weight table is for one iteration; its element pe*SIMD+i is W[nf*PE+pe][sf*SIMD+i].
package vvau

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the vector-vector unit in the table of layers, hlslib.LayerKinds. New returns a layer of this
// kind with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "VVAU",
	Doc:     "each channel by weights of its own, then one step function per channel (depthwise convolutions)",
	Example: `{"weights":[[1,-1]]}`,
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"VectorVectorActivation", "Vector_Vector_Activate"}},
})

// Params are the parameters of the vector-vector unit: the weights of each channel, and the step functions of its sums.
type Params struct {
	Weights [][]int64          `json:"weights"`         // [C][K]
	Steps   []num.StepFunction `json:"steps,omitempty"` // none, one for all channels, or one per channel
	// Room limits weights and step functions that are loaded at run time; nil if they are constants.
	Room *dataflow.LoadableWeightLimits `json:"room,omitempty"`
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error { return mac.VerifyWeightsAndSteps(p.Weights, p.Steps, nil) }

type op struct {
	layer.Base[Params]
	*mac.Unit
	channels, positions int
	in, out             dataflow.StreamType
	vectors             int
	pe, simd            []int // the divisors of the channels, and of the positions
}

// bind returns the layer for one input of shape [..., K, C], and its output of shape [..., C]. It returns an error
// unless C and K are those of the weights. Sums that are too wide, too many thresholds, and weights that do not fit
// Params.Room are errors, too.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	o := &op{Base: b, in: in[0], channels: len(b.P.Weights), positions: len(b.P.Weights[0])}
	shape := in[0].Shape
	outer := len(shape) - 2
	if outer < 0 || shape[outer] != o.positions || shape[outer+1] != o.channels {
		return nil, nil, fmt.Errorf(
			"an input of shape %v for weights of %d channels by %d positions, want [..., %d, %d]",
			shape, o.channels, o.positions, o.positions, o.channels)
	}
	o.vectors = shape[:outer].ElementCount()
	o.pe, o.simd = dataflow.Divisors(o.channels), dataflow.Divisors(o.positions)
	var err error
	ranges := func(c int) []num.Range { return []num.Range{o.in.ChannelRange(c)} }
	if b.P.Room != nil {
		o.Unit, err = mac.BindLoadableUnit(*b.P.Room, b.P.Weights, b.P.Steps, nil, o.in.Elem, ranges)
	} else {
		o.Unit, err = mac.BindUnit(b.P.Weights, b.P.Steps, nil, o.in.Elem, ranges)
	}
	if err != nil {
		return nil, nil, err
	}
	o.Apart = true
	o.out = dataflow.StreamType{Shape: append(slices.Clone(shape[:outer]), o.channels), Range: o.Range, Elem: o.Out}
	return o, []dataflow.StreamType{o.out}, nil
}

// Loaded returns the layer, not yet bound, with weights and step functions that are loaded at run time. room limits
// them.
func (o *op) Loaded(room dataflow.LoadableWeightLimits) dataflow.Op {
	p := o.P
	p.Room = &room
	return New(p)
}

// Reads returns how many times the table of weights is read from start to end for a frame: once per window.
func (o *op) Reads() int { return o.vectors }

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	mac.DescribeUnit(o.Unit, &d)
	d.Counts = o.counts
	return d
}

// dependence says that every window of a frame is computed independently.
func (o *op) dependence() dataflow.Dependence {
	d := dataflow.NewSeparateDependence(1, o.vectors)
	d.Window = true
	return d
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	return dataflow.ProductsComputation{Weights: o.P.Weights, Steps: o.P.Steps, Vectors: o.vectors, Groups: o.channels,
		Runs: o.positions, Run: 1, Stride: o.channels}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, 0, o.vectors*o.channels)}
	for v := range o.vectors {
		window := in[0].Data[v*o.positions*o.channels:]
		for c, row := range o.P.Weights {
			sum := int64(0)
			for k, w := range row {
				sum += w * window[k*o.channels+c]
			}
			y.Data = append(y.Data, o.ExactOutput(c, sum))
		}
	}
	return []dataflow.Tensor{y}
}

// Folds yields every PE that divides the channels and every SIMD that divides a window's positions, within the limits
// of HLS. They come in increasing order, with each memory and each kind of multiplier that the operands need.
func (o *op) Folds() dataflow.FoldIterator {
	return o.Unit.FoldsThatFit(o.pe, o.simd, func(f dataflow.Fold) bool {
		return o.IsFoldWithinHLSLimits(f.PE*f.SIMD, f,
			o.vectors)
	})
}

// Products returns how many products the layer, or a part of it, computes in a clock, and the bits of their wider
// factor.
func (o *op) Products(f dataflow.Fold, parts int) (n, bits int) {
	return mac.ProductsPerClock(o.Unit, f, parts), max(o.Weight.Width, o.in.Elem.Width)
}

// Adds returns how many bits the circuit of the layer, or of a part of it, adds in a clock to sum its products.
func (o *op) Adds(f dataflow.Fold, parts int) int { return mac.AddendBitsPerClock(o.Unit, f, parts) }

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	tiles := o.in.RowMajorPort(f.PE * f.SIMD)
	tiles.Tile = o.in.Shape.PortTileFor(f.PE)
	return []dataflow.Port{tiles}, []dataflow.Port{o.out.RowMajorPort(f.PE)}
}

func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	o.AppendToChain(&c, f, cost.DSPPacking{})
	l := layer.NewWindowsLoop(o.vectors, o.channels/f.PE, o.positions/f.SIMD, c.DoStreamWrite())
	return layer.LoopWithBackEndLatency(o, mac.FoldWithoutUnusedMemory(o.Unit, f), t, l)
}

// A kernel is the state of the hardware: counters and a sum per PE. Sums wrap around at 64 bits rather than at the
// accumulator's width, which leaves the accumulator's bits right.
type kernel struct {
	o      *op
	f      dataflow.Fold
	nf     int     // nf of the iteration
	at     int     // the iteration's first position
	sums   []int64 // by PE
	output func(first int, sums []int64) dataflow.Word
	words  [1]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{o: o, f: f, sums: make([]int64, f.PE), output: o.NewHardwareOutputFunc(f)}
}

func (k *kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	if k.at == 0 {
		clear(k.sums)
	}
	first := k.nf * k.f.PE
	for pe, row := range k.o.P.Weights[first : first+k.f.PE] {
		sum, from := k.sums[pe], pe
		for _, w := range row[k.at : k.at+k.f.SIMD] {
			sum += w * in[0][from]
			from += k.f.PE
		}
		k.sums[pe] = sum
	}
	k.words[0] = nil
	if k.at += k.f.SIMD; k.at == k.o.positions {
		k.words[0] = k.output(first, k.sums)
		k.at = 0
		k.nf = (k.nf + 1) % (k.o.channels / k.f.PE)
	}
	return k.words[:]
}

// Emit returns the data of the C++ instance. It never packs products into a DSP slice, because no two channels share an
// input.
func (o *op) Emit(f dataflow.Fold, t dataflow.Target) dataflow.KernelInstance {
	i := o.Unit.EmitInstance(f, cost.DSPPacking{}, "vvau", "channels", "positions",
		dataflow.ConfigField{Name: "nf", Doc: "output words of a window", Value: o.channels / f.PE},
		dataflow.ConfigField{Name: "sf", Doc: "input words of an output word", Value: o.positions / f.SIMD})
	i.Config = append(i.Config, mac.LaneAccumulatorConfigFieldsOf(o.Unit, f, t)...)
	return i
}

// counts returns the numbers of operations and parameters of a frame, by FINN's names for them.
func (o *op) counts() map[string]int64 { return o.Unit.OpAndParamCounts(o.vectors) }
