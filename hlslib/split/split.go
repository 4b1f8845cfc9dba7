// Package split distributes the channels of its input. The first Channels[0] channels of every vector go to output 0,
// the next ones to output 1, and so on.
//
// Words have SIMD elements on all ports, so SIMD divides the channels of every output. With V vectors the loop is
//
//	for v < V: for k < outputs: for fold < Channels[k]/SIMD: one clock
//
// or V*C/SIMD clocks a frame, where C is the number of all channels. Every iteration reads a word and writes it to
// output k.
package split

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// LayerKind describes the split in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with the
// given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "StreamingSplit",
	Doc:     "the channels parted among several outputs (Split on the last axis)",
	Example: `{"channels":[2,1]}`,
	Bind:    bind,
})

// Params hold the only parameter of the split: the numbers of channels of its outputs.
type Params struct {
	Channels []int `json:"channels"` // by output
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if err := layer.CheckInRange("outputs", len(p.Channels), 1, dataflow.MaxPortsPerSide); err != nil {
		return err
	}
	for k, c := range p.Channels {
		if c < 1 || c > dataflow.MaxChannelsPerStream {
			return fmt.Errorf("output %d has %d channels, want 1 to %d", k, c, dataflow.MaxChannelsPerStream)
		}
	}
	return nil
}

type op struct {
	layer.Base[Params]
	layer.MoveSchedule
}

// bind returns the layer for one input of shape [..., C], where C is the sum of Channels; any other input is an error.
// Output k has the shape [..., Channels[k]], and the element type and ranges of the input.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	shape := in[0].Shape
	sum, step := 0, 0
	for _, c := range b.P.Channels {
		sum, step = sum+c, dataflow.GCD(step, c)
	}
	if len(shape) == 0 || sum != shape.ChannelCount() {
		return nil, nil, fmt.Errorf("an input of shape %v, want %d channels", shape, sum)
	}
	o := &op{b, layer.MoveSchedule{In: in, SIMD: dataflow.Divisors(step)}}
	first := 0
	for _, c := range b.P.Channels {
		t := dataflow.StreamType{Shape: slices.Clone(shape), Range: in[0].Range, Elem: in[0].Elem}
		t.Shape[len(shape)-1] = c
		if len(in[0].Range) > 1 {
			t.Range = in[0].Range[first : first+c : first+c]
		}
		o.Out = append(o.Out, t)
		first += c
	}
	return o, o.Out, nil
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	return d
}

// dependence says that every vector of a frame is computed independently.
func (o *op) dependence() dataflow.Dependence {
	return dataflow.NewSeparateDependence(1, o.In[0].Shape.VectorCount())
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	run, all := 0, o.In[0].Shape.ChannelCount()
	for _, c := range o.P.Channels {
		run = dataflow.GCD(run, c)
	}
	return dataflow.GatherComputation{Run: run, At: func(output, r int) (input, at int) {
		mine, before := o.P.Channels[output], 0
		for _, c := range o.P.Channels[:output] {
			before += c
		}
		return 0, (r*run/mine*all + before + r*run%mine) / run
	}}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := make([]dataflow.Tensor, len(o.Out))
	for rest := in[0].Data; len(rest) > 0; {
		for k, c := range o.P.Channels {
			y[k].Data = append(y[k].Data, rest[:c]...)
			rest = rest[c:]
		}
	}
	for k, t := range o.Out {
		y[k].Shape = t.Shape
	}
	return y
}

// words returns, by output, the number of words that each vector of the output has.
func (o *op) words(f dataflow.Fold) []int {
	w := make([]int, len(o.Out))
	for k, c := range o.P.Channels {
		w[k] = c / f.SIMD
	}
	return w
}

// Loop returns the loop over the input words. The outputs take turns: each gets all words of its channels of a vector.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	return layer.LoopWithBackEndLatency(o, f, t, layer.NewStreamTurnsLoop(o.Out, f, t, func(k int) dataflow.PortMoves {
		return dataflow.PortMoves{Read: 1, Write: 1 << k}
	}))
}

type kernel struct {
	words []int // per vector, by output
	all   int   // words per input vector
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	_, all := layer.CountVectorsAndWordsPerVector(o.In[0], f)
	return &kernel{o.words(f), all}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	y := make([]dataflow.Word, len(k.words))
	at, word := 0, iteration%k.all
	for word >= k.words[at] {
		word -= k.words[at]
		at++
	}
	y[at] = slices.Clone(in[0])
	return y
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "split.hpp",
		Func:    "split",
		Streams: []string{"in_width"},
		Config: layer.StreamTurnsConfigFields(o.In[0], f, "an input vector",
			dataflow.ConfigField{Name: "out_words", Doc: "words of a vector, by output", Value: o.words(f)}),
	}
}
