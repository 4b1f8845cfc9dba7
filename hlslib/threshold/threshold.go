// Package threshold is the thresholding layer: a step function per channel, y[c] = f[c](x[c]), on every vector of a
// frame.
//
// A step function is a base and thresholds. Each threshold that x exceeds adds to the output: a common unit or, if a
// function falls or jumps unevenly, its own delta. The layer is built so, or in another form of package steps, in
// which each of the PE channels has its own tables.
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame. Every iteration reads the word x[fold*PE .. fold*PE+PE-1], and writes the word of the
// same channels. If the form is comparators, row fold of the threshold table is for one iteration: element pe*steps+i
// is threshold i of channel fold*PE+pe. If all channels have the same function, one row of steps thresholds serves
// them all. Functions may also differ between pixels, as after adding a constant that does. Then a vector spans
// several pixels: C is the number of elements in all of them, and PE divides the channels of one.
//
// A serial fold searches for the codes of a word, one comparison after the other. Each of PE channels has one
// comparator and one memory, and a word takes several clocks (serial.go).
package threshold

import (
	"errors"
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the thresholding in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with
// the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "Thresholding",
	Doc:     "one step function per channel (quantised activations, requantisation)",
	Example: `{"steps":[{"at":[1],"value":[0,1]}]}`,
	Bind:    bind,
})

// MaxTableInputBits is the largest width of values, in bits, for which every value may have a threshold.
const MaxTableInputBits = layer.MaxTableAddressBits

// Params are the parameters of the thresholding: the step functions, and the type of their results.
type Params struct {
	Steps []num.StepFunction `json:"steps"` // one for all channels, one per channel, or one per pixel and channel
	// Out is the type of the outputs, a minifloat; nil selects the narrowest integer type.
	Out *num.Type `json:"out,omitempty"`
}

// elem returns the type of the outputs. The zero Type stands for the narrowest integer type.
func (p Params) elem() num.Type {
	if p.Out == nil {
		return num.Type{}
	}
	return *p.Out
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if len(p.Steps) == 0 {
		return errors.New("there are no step functions")
	}
	if p.Out != nil && !p.Out.IsMinifloat() {
		return fmt.Errorf("outputs of type %v: only minifloats are asked for", *p.Out)
	}
	return layer.VerifyStepFunctions(p.Steps)
}

type op struct {
	layer.Base[Params]
	layer.ChannelwiseSchedule
	steps layer.ActivationTail
}

// bind returns the layer for one input, and its output of the same shape. It returns an error unless the input's last
// axes have as many elements as there are step functions; a single function fits any input. Too many thresholds are an
// error, as are values that Params.Out does not hold.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	v := layer.MergeTrailingAxes(len(b.P.Steps), in[0])
	if err := layer.CheckPerChannelLength("step functions", len(b.P.Steps), []dataflow.StreamType{v}); err != nil {
		return nil, nil, err
	}
	o := &op{Base: b, ChannelwiseSchedule: layer.NewChannelwiseScheduleForFunctions(len(b.P.Steps), in)}
	var err error
	if o.steps, o.Out, err = layer.BindActivationTailToType(b.P.elem(), b.P.Steps, v); err != nil {
		return nil, nil, err
	}
	o.Out[0] = layer.SplitMergedAxes(o.Out[0], in[0].Shape)
	return o, o.Out, nil
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	d.CarriedDelayNS = o.carriedDelayNS
	d.Coded = o.coded
	return d
}

// dependence says that every vector of a frame is computed independently.
func (o *op) dependence() dataflow.Dependence { return dataflow.NewSeparateDependence(1, o.Vectors) }

// computation describes Eval as data, which compiled engines execute. Monotonic is set if no function both rises and
// falls.
func (o *op) computation() dataflow.Computation {
	turns := false
	for c := range o.Channels {
		s := o.steps.StepFunctionOf(c)
		turns = turns || !s.IsNonDecreasing() && !s.WithNegatedInput().IsNonDecreasing()
	}
	return dataflow.ElementwiseComputation{Channels: o.Channels, Of: o.outputOf, Monotonic: !turns}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	return o.ChannelwiseSchedule.Eval(in, o.outputOf)
}

// outputOf returns the output of channel c for the input x[0].
func (o *op) outputOf(c int, x []int64) int64 { return o.steps.StepFunctionOf(c).Apply(x[0]) }

// Folds yields every PE that divides the channels, in increasing order, within the limits of HLS, with each memory for
// tables. If a serial search is possible with PE 1, folds come with all thresholds at once, and serial ones where they
// fit.
func (o *op) Folds() dataflow.FoldIterator {
	choices := o.ChannelwiseSchedule.FoldChoices(o.steps.TableLayout(), false)
	if o.steps.CanSearchSerially(dataflow.Fold{PE: 1}) {
		o.orSerial(&choices)
	}
	return choices.AllFolds()
}

func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	if f.Steps == dataflow.SerialStepEvaluation {
		return o.serial(f, t).loop()
	}
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	o.steps.AppendToChain(&c, f)
	return layer.LoopWithBackEndLatency(o, f, t, o.LoopNest(f, c.DoStreamWrite()).AsLoop())
}

func (o *op) Kernel(f dataflow.Fold, t dataflow.Target) dataflow.Kernel {
	if f.Steps == dataflow.SerialStepEvaluation {
		return o.serial(f, t).kernel()
	}
	built := o.steps.HardwareFunction(f)
	return o.ChannelwiseSchedule.Kernel(f, func(c int, x []int64) int64 { return built(c, x[0]) })
}

func (o *op) Emit(f dataflow.Fold, t dataflow.Target) dataflow.KernelInstance {
	if f.Steps == dataflow.SerialStepEvaluation {
		return o.serial(f, t).emit()
	}
	config, tables := o.steps.EmitFieldsAndTables(f, "input")
	return dataflow.KernelInstance{
		Header:  "threshold.hpp",
		Func:    "threshold",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config:  o.ConfigFields(f, "channels computed", config...),
		Tables:  tables,
		Storage: o.steps.Storage(f),
	}
}

// coded returns the layer, not yet bound, with minifloats as outputs. ok is false if no minifloat is narrower than the
// integers; then the result is of no use.
func (o *op) coded() (coded dataflow.Op, ok bool) {
	var m num.MinifloatNeeds
	for c := range max(len(o.P.Steps), len(o.In[0].Range)) {
		live := o.steps.StepFunctionOf(c).RestrictedTo(layer.ElementForChannel(o.In[0].Range, c))
		for _, v := range live.Value {
			m = m.WithValue(v)
		}
	}
	t := m.MinifloatIfWorthwhile(o.Out[0].Elem)
	p := o.P
	p.Out = &t
	return New(p), t.IsMinifloat()
}
