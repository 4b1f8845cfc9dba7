// Package concat joins the channels of several inputs: every output vector has the channels of input 0, then those of
// input 1, and so on. The inputs have the same shape except for the last axis.
//
// Words have SIMD elements on all ports, so SIMD divides the channels of every input. With V vectors of C[k] channels
// at input k the loop is
//
//	for v < V: for k < inputs: for fold < C[k]/SIMD: one clock
//
// or V*C/SIMD clocks a frame, where C is the number of all channels. Every iteration reads a word of input k and
// writes it.
//
// If the inputs' element types differ, the output has the narrowest type that holds every range. Words are recoded on
// their way then.
package concat

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the concatenation in the table of layers, hlslib.LayerKinds. New returns a layer of this kind
// with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "StreamingConcat",
	Doc:     "the channels of several inputs one after the other (Concat on the last axis)",
	Example: `{"inputs":2}`,
	Takes:   layer.AcceptAnyInputs,
	Bind:    bind,
})

// Params hold the only parameter of the concatenation: the number of its inputs.
type Params struct {
	Inputs int `json:"inputs"`
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	return layer.CheckInRange("inputs", p.Inputs, 2, dataflow.MaxPortsPerSide)
}

type op struct {
	layer.Base[Params]
	layer.MoveSchedule
}

// bind returns the layer for inputs of shapes [..., C[k]], and its output of shape [..., C], where C is the sum of all
// C[k]. It returns an error unless there are Params.Inputs inputs, which have axes and differ at most in the last one.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	if err := layer.NewInputCountCheck(b.P.Inputs)(in); err != nil {
		return nil, nil, err
	}
	first := in[0].Shape
	if len(first) == 0 {
		return nil, nil, fmt.Errorf("input 0 is a scalar, want a shape with channels")
	}
	out := dataflow.StreamType{Shape: slices.Clone(first), Elem: in[0].Elem}
	last := len(first) - 1
	out.Shape[last] = 0
	step, alike := 0, true
	for k, t := range in {
		if len(t.Shape) != len(first) || !slices.Equal(t.Shape[:last], first[:last]) {
			return nil, nil, fmt.Errorf("input %d has shape %v, input 0 %v; only the last axis may differ", k, t.Shape,
				first)
		}
		c := t.Shape.ChannelCount()
		out.Shape[last] += c
		step = dataflow.GCD(step, c)
		for i := range c {
			out.Range = append(out.Range, t.ChannelRange(i))
		}
		alike = alike && t.Elem == in[0].Elem
	}
	if !alike {
		out.Elem = num.NarrowestIntTypeFor(out.UnionOfRanges())
	}
	if len(slices.Compact(slices.Clone(out.Range))) == 1 {
		out.Range = out.Range[:1:1]
	}
	o := &op{b, layer.MoveSchedule{In: in, Out: []dataflow.StreamType{out}, SIMD: dataflow.Divisors(step)}}
	return o, o.Out, nil
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	return d
}

// dependence says that every vector of the output depends only on the vectors at the same place of the inputs.
func (o *op) dependence() dataflow.Dependence {
	return dataflow.NewSeparateDependence(o.P.Inputs, o.Out[0].Shape.VectorCount())
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	run, all := 0, 0
	for _, t := range o.In {
		run = dataflow.GCD(run, t.Shape.ChannelCount())
		all += t.Shape.ChannelCount()
	}
	return dataflow.GatherComputation{Run: run, At: func(_, r int) (input, at int) {
		v, c := r*run/all, r*run%all
		for c >= o.In[input].Shape.ChannelCount() {
			c -= o.In[input].Shape.ChannelCount()
			input++
		}
		return input, (v*o.In[input].Shape.ChannelCount() + c) / run
	}}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.Out[0].Shape}
	for v := range y.Shape.VectorCount() {
		for _, t := range in {
			c := t.Shape.ChannelCount()
			y.Data = append(y.Data, t.Data[v*c:(v+1)*c]...)
		}
	}
	return []dataflow.Tensor{y}
}

// Loop returns the loop over the output words. The inputs take turns: all words of a vector from input 0, then from
// input 1, and so on.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	return layer.LoopWithBackEndLatency(o, f, t, layer.NewStreamTurnsLoop(o.In, f, t, func(k int) dataflow.PortMoves {
		return dataflow.PortMoves{Read: 1 << k, Write: 1}
	}))
}

// kernel copies a word. Its Step returns a copy of the only word that an iteration reads. It has no state.
type kernel struct{}

func (o *op) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel { return kernel{} }

func (kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	for _, w := range in {
		if w != nil {
			return []dataflow.Word{slices.Clone(w)}
		}
	}
	panic("concat: an iteration without a word")
}

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the counters, the choice
// among the inputs, and the registers of a word. FINN itself counts nothing for its StreamingConcat.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m, width := estimate.CostModelOf(t), f.SIMD*o.Out[0].Elem.Width
	return estimate.CostOfParts(
		m.StreamControlCost(layer.StreamTurnsCounterCost(o.Out[0], f)),
		m.MultiplexerCost(len(o.In), width).AsPart("multiplexers"),
		m.RegisterCost(width),
	)
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	types, each := make([]num.Type, len(o.In)), make([]int, len(o.In))
	for k, t := range o.In {
		types[k] = t.Elem
		_, each[k] = layer.CountVectorsAndWordsPerVector(t, f)
	}
	return dataflow.KernelInstance{
		Header:  "concat.hpp",
		Func:    "concat",
		Streams: []string{"out_t", "out_width"},
		Config: layer.StreamTurnsConfigFields(o.Out[0], f, "an output vector",
			dataflow.ConfigField{Name: "in_words", Doc: "words of a vector, by input", Value: each},
			dataflow.ConfigField{Name: "in_types", Doc: "elements, by input", Value: types}),
	}
}
