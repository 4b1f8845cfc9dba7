// Package dup is the fork of a stream: it copies a stream that several layers read, one copy for each of them.
//
// PE channels travel side by side. With V vectors of C channels in a frame the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame. Every iteration reads a word and writes it to all copies. So the slowest reader holds up
// the others as soon as their FIFOs are full.
//
// Word and Tile may also prescribe the words: Word elements each, whatever part of a vector they hold, in tiles of
// Tile channels. Then a frame takes a clock per word, and there is a single fold.
package dup

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// LayerKind describes the fork in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with the
// given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "DuplicateStreams",
	Doc:     "one stream for each of several readers (a tensor that is used more than once)",
	Example: `{"copies":2}`,
	Bind:    bind,
})

// Params are the parameters of the fork: the number of copies, and optionally a prescribed format of words.
type Params struct {
	Copies int `json:"copies"`         // number of outputs, 2 to dataflow.MaxPortsPerSide
	Word   int `json:"word,omitempty"` // elements per word; 0 allows any PE
	Tile   int `json:"tile,omitempty"` // tile of prescribed words; 0 means row-major order
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if err := layer.CheckInRange("copies", p.Copies, 2, dataflow.MaxPortsPerSide); err != nil {
		return err
	}
	if err := layer.CheckInRange("elements in a word", p.Word, 0, dataflow.MaxWordBits); err != nil {
		return err
	}
	if p.Tile < 0 || p.Tile > 0 && p.Word == 0 {
		return fmt.Errorf("tiles of %d channels in words of %d elements", p.Tile, p.Word)
	}
	return nil
}

type op struct {
	layer.Base[Params]
	layer.ChannelwiseSchedule
}

// bind returns the layer for one input, and its outputs, which all have the input's type. It returns an error if the
// prescribed words do not fit the input.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	o := &op{b, layer.NewChannelwiseScheduleForFirstInput(in)}
	if err := o.given(); err != nil {
		return nil, nil, err
	}
	o.Out = slices.Repeat(in, b.P.Copies)
	return o, o.Out, nil
}

// given returns an error if the words that Params.Word and Params.Tile prescribe do not fit the input. Without
// prescribed words it returns nil.
func (o *op) given() error {
	p, t := o.P, o.In[0]
	switch {
	case p.Word == 0:
		return nil
	case t.Shape.ElementCount()%p.Word != 0:
		return fmt.Errorf("a frame of shape %v, want whole words of %d elements", t.Shape, p.Word)
	case p.Word*t.Elem.Width > dataflow.MaxWordBits:
		return fmt.Errorf("a word of %d bits, at most %d are possible", p.Word*t.Elem.Width, dataflow.MaxWordBits)
	case p.Tile > 0 && (t.Shape.ChannelCount()%p.Tile != 0 || t.Shape.PortTileFor(p.Tile) == 0):
		return fmt.Errorf("tiles of %d channels of a frame of shape %v, want a divisor of the channels of windows, "+
			"other than all of them", p.Tile, t.Shape)
	}
	return nil
}

// port returns the word format that the input and all outputs share: PE channels, or the prescribed words.
func (o *op) port(f dataflow.Fold) dataflow.Port {
	if o.P.Word == 0 {
		return o.In[0].RowMajorPort(f.PE)
	}
	p := o.In[0].RowMajorPort(o.P.Word)
	p.Tile = o.P.Tile
	return p
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	d.Minifloats = dataflow.MinifloatsPassedOn // codes are copied, whatever they mean
	return d
}

// dependence says that every element is copied independently or, if Params.Tile is given, every window.
func (o *op) dependence() dataflow.Dependence {
	shape := o.In[0].Shape
	if o.P.Tile == 0 {
		return dataflow.NewSeparateDependence(1, shape.ElementCount())
	}
	d := dataflow.NewSeparateDependence(1, shape[:len(shape)-2].ElementCount())
	d.Window = true
	return d
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	return dataflow.GatherComputation{Run: o.In[0].Shape.ElementCount(), At: func(_, r int) (int, int) { return 0, r }}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	return slices.Repeat(in[:1], o.P.Copies)
}

// Folds yields every PE that divides the channels, in increasing order, or a single fold if the words are prescribed.
// It leaves out folds beyond the limits of HLS.
func (o *op) Folds() dataflow.FoldIterator {
	if o.P.Word == 0 {
		return o.ChannelwiseSchedule.Folds(layer.TableLayout{}, false)
	}
	fits := func(f dataflow.Fold) bool { return o.port(f).Words <= dataflow.MaxIterationsPerFrame }
	return layer.FoldChoices{Fits: fits}.AllFolds()
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := []dataflow.Port{o.port(f)}
	return port, slices.Repeat(port, o.P.Copies)
}

// Loop returns the loop over the words of a frame. Each iteration reads a word and writes it to all outputs.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	moves := dataflow.PortMoves{Read: 1, Write: 1<<o.P.Copies - 1}
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	return layer.LoopWithBackEndLatency(o, f, t,
		dataflow.Loop{Body: []dataflow.LoopRun{{Times: o.port(f).Words, Moves: moves}}, Latency: c.DoStreamWrite()})
}

// kernel is the number of copies of each input word that its Step returns. It has no state.
type kernel int

func (o *op) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel { return kernel(o.P.Copies) }

func (k kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	y := make([]dataflow.Word, k)
	for i := range y {
		y[i] = slices.Clone(in[0])
	}
	return y
}

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the counter of words, the
// registers of a word, and a LUT per copy, which waits until all other copies have room. The copies are wiring. FINN
// itself has no estimate.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m, word := estimate.CostModelOf(t), o.port(f)
	return estimate.CostOfParts(
		m.StreamControlCost(cost.CounterCost(word.Words)),
		layer.HandshakeCost(o.P.Copies),
		m.RegisterCost(word.Width()),
	)
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "dup.hpp",
		Func:    "duplicate",
		Streams: []string{"in_width"},
	}
}
