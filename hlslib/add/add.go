// Package add is the sum of two streams: two inputs a and b of one shape, each scaled by an integer, with a step
// function on top,
//
//	y[c] = f[c](m0[c]*a[c] + m1[c]*b[c])
//
// on every vector of a frame. Missing factors are 1. f[c] is any step function, or absent; then y[c] is the sum. So
// one layer is a plain addition, or a residual join whose branches have different scales and whose result is
// quantised.
//
// A factor may be 0, because a channel of one branch may be dead. If both factors of a channel are 0, Verify refuses
// the layer: such a constant is a step function with one value.
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame. Every iteration reads a word of each input, channels fold*PE .. fold*PE+PE-1, and writes
// the word of the same channels.
//
// Factors that are the same for all channels are constants. Otherwise row fold of the table of factors has those of
// both inputs: element 2*pe is m0[fold*PE+pe], and element 2*pe+1 is m1[fold*PE+pe]. The tables of the step functions
// are those of the thresholding layer.
package add

import (
	"encoding/json"
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the sum of two streams in the table of layers, hlslib.LayerKinds. New returns a layer of this
// kind with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "AddStreams",
	Doc:     "the scaled sum of two inputs, then one step function per channel (Add, residual joins)",
	Example: `{"factors":[[3],[]],"steps":[{"at":[1],"value":[0,1]}]}`,
	Takes:   layer.CheckTwoEqualShapes,
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"ElementwiseAdd"}},
})

// Params are the parameters of the sum: integers with which both inputs are multiplied, and step functions for the
// results.
type Params struct {
	// by input: none for 1, one for all channels, or one per channel
	Factors [2][]int64         `json:"factors"`
	Steps   []num.StepFunction `json:"steps,omitempty"` // none, one for all channels, or one per channel
}

// UnmarshalJSON reads the parameters from JSON, and returns an error unless there are factors for both inputs or for
// none. Package json alone would ignore missing or surplus elements of an array.
func (p *Params) UnmarshalJSON(text []byte) error {
	var list struct {
		Factors [][]int64          `json:"factors"`
		Steps   []num.StepFunction `json:"steps"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	p.Steps = list.Steps
	return layer.CopyPerInput("factors", p.Factors[:], list.Factors)
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	for c := range max(len(p.Factors[0]), len(p.Factors[1])) {
		if p.factor(0, c) == 0 && p.factor(1, c) == 0 {
			return fmt.Errorf("channel %d: both factors are 0", c)
		}
	}
	return layer.VerifyStepFunctions(p.Steps)
}

// factor returns the number with which channel c of an input, 0 or 1, is multiplied: 1 if the input has no factors.
func (p Params) factor(input, c int) int64 {
	if len(p.Factors[input]) == 0 {
		return 1
	}
	return layer.ElementForChannel(p.Factors[input], c)
}

// multiplies reports whether an input, 0 or 1, has a factor that needs a multiplier.
func (p Params) multiplies(input int) bool {
	return layer.AnyNeedsMultiplier(p.Factors[input])
}

type op struct {
	layer.Base[Params]
	layer.ChannelwiseSchedule
	sum    num.Type
	factor [2]num.Type // the narrowest type that holds an input's factors
	steps  layer.ActivationTail
}

// bind returns the layer for two inputs of one shape, and the output, which has the same shape. It returns an error
// unless the last axis has as many channels as there are factors and step functions; single ones fit any input. Sums of
// more than 63 bits and too many steps are errors, too.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	for _, list := range []struct {
		what string
		n    int
	}{{"factors of input 0", len(b.P.Factors[0])}, {"factors of input 1", len(b.P.Factors[1])},
		{"step functions", len(b.P.Steps)}} {
		if err := layer.CheckPerChannelLength(list.what, list.n, in); err != nil {
			return nil, nil, err
		}
	}
	o := &op{Base: b, ChannelwiseSchedule: layer.NewChannelwiseScheduleForFirstInput(in)}
	sums, err := o.bindSum()
	if err != nil {
		return nil, nil, err
	}
	o.steps, o.Out, err = layer.BindActivationTail(b.P.Steps, sums)
	return o, o.Out, err
}

// bindSum sets o.factor and o.sum, the types of factors and sums. It returns the stream of sums, with one range if all
// channels are alike, else one per channel. A sum that is too wide is an error.
func (o *op) bindSum() (sums dataflow.StreamType, err error) {
	n := 1
	for i, f := range o.P.Factors {
		n = max(n, len(o.In[i].Range), len(f))
		if len(f) == 0 {
			f = []int64{1}
		}
		o.factor[i] = num.NarrowestIntTypeFor(num.RangeOfValues(f))
	}
	sums = dataflow.StreamType{Shape: o.In[0].Shape, Range: make([]num.Range, n)}
	for c := range sums.Range {
		a, ok0 := o.In[0].ChannelRange(c).TimesConstant(o.P.factor(0, c))
		b, ok1 := o.In[1].ChannelRange(c).TimesConstant(o.P.factor(1, c))
		s, ok := a.Plus(b)
		if !ok0 || !ok1 || !ok {
			return sums, fmt.Errorf("channel %d: the sum leaves 64 bits", c)
		}
		sums.Range[c] = s
	}
	o.sum, err = layer.NarrowestTypeOfRanges("sum", sums.Range)
	sums.Elem = o.sum
	return sums, err
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	d.Storage, d.NarrowerFactorBits = o.Storage, o.narrowerFactorBits
	return d
}

// dependence says that every vector of a frame is computed independently.
func (o *op) dependence() dataflow.Dependence { return dataflow.NewSeparateDependence(2, o.Vectors) }

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	return dataflow.ElementwiseComputation{Channels: o.Channels, Of: o.sumOf}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	return o.ChannelwiseSchedule.Eval(in, o.sumOf)
}

// sumOf returns the output of channel c for the values x[0] and x[1] of both inputs.
func (o *op) sumOf(c int, x []int64) int64 {
	return o.steps.ExactOutput(c, o.P.factor(0, c)*x[0]+o.P.factor(1, c)*x[1])
}

// Folds yields every PE that divides the channels, in increasing order, within the limits of HLS. Each comes with each
// memory for tables and each kind of multiplier. If all factors are -1, 0 or 1, there are no multipliers to choose.
func (o *op) Folds() dataflow.FoldIterator {
	t := o.steps.TableLayout()
	t.PerChannel = t.PerChannel || o.table()
	steps := t.Row
	t.Row = func(pe int) int {
		if o.table() {
			return max(steps(pe), 2*pe*o.tableElem().Width)
		}
		return steps(pe)
	}
	return o.ChannelwiseSchedule.Folds(t, o.multiplies())
}

func (o *op) multiplies() bool { return o.P.multiplies(0) || o.P.multiplies(1) }

// Loop returns the loop over the words. In HLS its latency is that of a pair that is multiplied, added, and passes a
// step function, in RTL the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	other := c
	for i, factor := range []*layer.PipelineChain{&c, &other} {
		if o.P.multiplies(i) {
			if o.table() {
				factor.DoCounterLookup(o.WordsPerVector(f), 2*f.PE*o.tableElem().Width, f.Memory)
			}
			factor.DoProduct(o.In[i].Elem.Width, o.factor[i].Width, f.Compute == dataflow.MultiplierInDSPs)
		}
	}
	c.WaitForChain(other)
	c.DoOp(delay.OpAdd, o.sum.Width)
	o.steps.AppendToChain(&c, f)
	return layer.LoopWithBackEndLatency(o, f, t, o.LoopNest(f, c.DoStreamWrite()).AsLoop())
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	built := o.steps.HardwareFunction(f)
	return o.ChannelwiseSchedule.Kernel(f, func(c int, x []int64) int64 {
		product := layer.WrapToType(o.sum, o.P.factor(0, c)*x[0])
		return built(c, layer.WrapToType(o.sum, product+o.P.factor(1, c)*x[1]))
	})
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	i := dataflow.KernelInstance{
		Header:  "add.hpp",
		Func:    "add",
		Streams: []string{"in0_t", "in0_width", "in1_t", "in1_width", "out_t", "out_width"},
		Config: o.ConfigFields(f, "channels computed",
			dataflow.ConfigField{Name: "sum_t", Doc: "sum", Value: o.sum},
			dataflow.ConfigField{Name: "use_dsp", Doc: "multiply in DSP slices",
				Value: f.Compute == dataflow.MultiplierInDSPs}),
		Storage: o.Storage(f),
	}
	if o.table() {
		i.Func = "add_per_channel"
		i.Tables = []dataflow.Table{{Name: "factors", Doc: "by fold: element 2*pe + input", Elem: o.tableElem(),
			Rows: o.factorRows(f.PE)}}
	} else {
		i.Config = append(i.Config,
			dataflow.ConfigField{Name: "factor0_t", Doc: "factor of input 0", Value: o.factor[0]},
			dataflow.ConfigField{Name: "factor0", Value: int(o.P.factor(0, 0))},
			dataflow.ConfigField{Name: "factor1_t", Doc: "factor of input 1", Value: o.factor[1]},
			dataflow.ConfigField{Name: "factor1", Value: int(o.P.factor(1, 0))})
	}
	config, tables := o.steps.EmitFieldsAndTables(f, "sum")
	i.Config, i.Tables = append(i.Config, config...), append(i.Tables, tables...)
	return i
}

// table reports whether the factors lie in a table: they differ between channels, or one is too wide for an int of C++.
func (o *op) table() bool {
	for i, f := range o.P.Factors {
		if !layer.AllEqual(f) || !o.factor[i].Range().IsWithin(num.Type{Kind: num.KindInt, Width: 32}.Range()) {
			return true
		}
	}
	return false
}

// tableElem returns the element type of the table of factors.
func (o *op) tableElem() num.Type {
	return num.NarrowestIntTypeFor(o.factor[0].Range().Union(o.factor[1].Range()))
}

func (o *op) factorRows(pe int) [][]int64 {
	rows := make([][]int64, o.Channels/pe)
	for c := range o.Channels {
		rows[c/pe] = append(rows[c/pe], o.P.factor(0, c), o.P.factor(1, c))
	}
	return rows
}
