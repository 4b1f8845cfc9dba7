// Package join puts words side by side: an output word consists of a word of every input, in the order of the inputs.
// It ends a layer that is split into several processes, each of which computes some elements of every word.
//
// All inputs have the same shape [..., C], and words of Block elements. The output has the shape [..., Inputs*C], and
// words of Inputs*Block elements. Its element type is Elem, which must hold the values of every input. With V vectors
// in a frame the loop is
//
//	for w < V*C/Block: one clock
//
// Every iteration reads a word of every input and writes one.
package join

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the join in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with the
// given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "StreamingJoin",
	Doc:     "words side by side (what the parts of a layer that is split into processes have computed)",
	Example: `{"inputs":2,"block":1,"elem":"UINT4"}`,
	Takes:   layer.AcceptAnyInputs,
	Bind:    bind,
})

// Params are the parameters of the join: the number of inputs, the elements in each word of an input, and the output's
// type.
type Params struct {
	Inputs int    `json:"inputs"`
	Block  int    `json:"block"` // elements per input word
	Elem   string `json:"elem"`  // element type of the output
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if err := layer.CheckInRange("inputs", p.Inputs, 2, dataflow.MaxPortsPerSide); err != nil {
		return err
	}
	if err := layer.CheckInRange("elements in a word", p.Block, 1, dataflow.MaxWordBits); err != nil {
		return err
	}
	_, err := num.ParseType(p.Elem)
	return err
}

type op struct {
	layer.Base[Params]
	in  []dataflow.StreamType
	out dataflow.StreamType
}

// bind returns the layer for inputs of one shape, and its output with the channels of all. It returns an error unless
// there are Params.Inputs inputs of one shape, whose channels are whole words. Elem must hold every value, and the
// output's shape and words must be within the limits.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	if err := layer.NewInputCountCheck(b.P.Inputs)(in); err != nil {
		return nil, nil, err
	}
	shape, block := in[0].Shape, b.P.Block
	channels := shape.ChannelCount()
	if len(shape) == 0 || channels%block != 0 {
		return nil, nil, fmt.Errorf("inputs of shape %v, want channels in words of %d", shape, block)
	}
	elem, err := num.ParseType(b.P.Elem)
	if err != nil {
		return nil, nil, err
	}
	for k, t := range in {
		if !slices.Equal(t.Shape, shape) {
			return nil, nil, fmt.Errorf("input %d has shape %v, input 0 %v", k, t.Shape, shape)
		}
		if r := t.UnionOfRanges(); !elem.Holds(r.Lo) || !elem.Holds(r.Hi) {
			return nil, nil, fmt.Errorf("%s does not hold %s of input %d", elem, r, k)
		}
	}
	if channels > dataflow.MaxChannelsPerStream/len(in) || shape.ElementCount() > dataflow.MaxElementsPerFrame/len(in) {
		return nil, nil, fmt.Errorf("%d inputs of shape %v, an output has at most %d channels and %d elements", len(in),
			shape, dataflow.MaxChannelsPerStream, dataflow.MaxElementsPerFrame)
	}
	if width := len(in) * block * elem.Width; width > dataflow.MaxWordBits {
		return nil, nil, fmt.Errorf("a word of %d bits, at most %d are possible", width, dataflow.MaxWordBits)
	}
	o := &op{b, in, dataflow.StreamType{Shape: slices.Clone(shape), Elem: elem}}
	o.out.Shape[len(shape)-1] = channels * len(in)
	for c := range o.out.Shape.ChannelCount() {
		k, from := o.place(c)
		o.out.Range = append(o.out.Range, in[k].ChannelRange(from))
	}
	return o, []dataflow.StreamType{o.out}, nil
}

// place returns the input, and the channel of it, from which channel c of the output comes.
func (o *op) place(c int) (input, channel int) {
	word, at := c/(o.P.Inputs*o.P.Block), c%(o.P.Inputs*o.P.Block)
	return at / o.P.Block, word*o.P.Block + at%o.P.Block
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	return d
}

// dependence says that every vector of a frame is computed independently.
func (o *op) dependence() dataflow.Dependence {
	return dataflow.NewSeparateDependence(o.P.Inputs, o.out.Shape.VectorCount())
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	n, words := o.P.Inputs, o.in[0].Shape.ChannelCount()/o.P.Block
	return dataflow.GatherComputation{Run: o.P.Block, At: func(_, r int) (input, at int) {
		return r % n, r/n/words*words + r/n%words
	}}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, 0, o.out.Shape.ElementCount())}
	channels := in[0].Shape.ChannelCount()
	for v := range o.out.Shape.VectorCount() {
		for c := range o.out.Shape.ChannelCount() {
			k, from := o.place(c)
			y.Data = append(y.Data, in[k].Data[v*channels+from])
		}
	}
	return []dataflow.Tensor{y}
}

// Folds yields the only fold, because the parameters already determine all words. It yields none if a frame has too
// many words.
func (o *op) Folds() dataflow.FoldIterator {
	return layer.FoldChoices{Fits: func(dataflow.Fold) bool {
		return o.in[0].Shape.ElementCount()/o.P.Block <= dataflow.MaxIterationsPerFrame
	}}.AllFolds()
}

func (o *op) Ports(dataflow.Fold) (in, out []dataflow.Port) {
	return layer.PortsOf(o.in, o.P.Block), []dataflow.Port{o.out.RowMajorPort(o.P.Inputs * o.P.Block)}
}

// Loop returns the loop, which reads a word of every input and writes one word in each iteration.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	moves := dataflow.PortMoves{Read: 1<<o.P.Inputs - 1, Write: 1}
	return layer.LoopWithBackEndLatency(o, f, t,
		dataflow.Loop{Body: []dataflow.LoopRun{{Times: o.words(), Moves: moves}}, Latency: c.DoStreamWrite()})
}

// words returns the number of iterations for a frame, which is the number of words of each stream.
func (o *op) words() int { return o.in[0].Shape.ElementCount() / o.P.Block }

// kernel puts words side by side: its Step returns a single new word, which consists of the words of all inputs. It has
// no state.
type kernel struct{ o *op }

func (o *op) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel { return kernel{o} }

func (k kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	return []dataflow.Word{slices.Concat(in...)}
}

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the counter of words,
// registers, and a LUT for each input, whose word is waited for. Putting words side by side is wiring. FINN has no such
// layer.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	return estimate.CostOfParts(
		m.StreamControlCost(cost.CounterCost(o.words())),
		layer.HandshakeCost(o.P.Inputs),
		m.RegisterCost(o.P.Inputs*o.P.Block*o.out.Elem.Width),
	)
}

func (o *op) Emit(dataflow.Fold, dataflow.Target) dataflow.KernelInstance {
	types := make([]num.Type, len(o.in))
	for k, t := range o.in {
		types[k] = t.Elem
	}
	return dataflow.KernelInstance{
		Header:  "join.hpp",
		Func:    "join",
		Streams: []string{"out_t", "out_width"},
		Config: []dataflow.ConfigField{
			{Name: "block", Doc: "elements in a word of an input", Value: o.P.Block},
			{Name: "in_types", Doc: "elements, by input", Value: types},
		},
	}
}
