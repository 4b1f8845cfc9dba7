// Package requant is the requantising layer: an activation with too many steps for thresholds, such as 16-bit codes,
// computed by arithmetic on every vector of a frame,
//
//	y[c] = clip(round((m[c]*x[c] + b[c]) / 2^Shift), Lo, Hi)
//
// with an integer multiplier m and an integer bias b per channel, or one for all channels. The division by 2^Shift is
// a shift to the right. A negative multiplier gives a falling activation, and 0 a constant channel. Mode is the
// rounding of the shift. Rounding down is the plain shift; with 2^(Shift-1) more in the bias it rounds to the
// nearest. Roundings that depend on the value, such as half to even, need a mode of their own.
//
// Where the numbers must be longer than 63 bits allow, low digits follow those of m and b: digit d adds
//
//	carry[d] = floor((m[d][c]*x[c] + b[d][c] + carry[d-1]) / 2^LowShift)
//
// to the digit above it, the last one to the sum before the shift. So no product or sum is longer than 63 bits,
// while the multiplier may have any number of bits. A layer with low digits may have a bend in each channel, below
// which other multipliers and biases apply: so it computes a LeakyReLU.
//
// FindParamsForStepFunctions finds parameters with which the layer equals given step functions, FindParamsForQuantisers
// those for quantisers with any number of codes, and FitLongQuantisers the same with low digits.
//
// A fold that does not multiply in DSP slices is built as step functions (package steps) if that costs less.
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame. Every iteration reads the word x[fold*PE .. fold*PE+PE-1], and writes the word of the
// same channels. Row fold of the tables of multipliers and of biases is for one iteration: element pe belongs to
// channel fold*PE+pe. If all channels have the same number, the table is one row with one element. The table of
// limits is one row with the lowest and the highest output.
//
// In come parameters and the type of the input; out comes a layer.
//
//	digits.go, requant.go    low digits of long multipliers; the layer
//	fit.go, scale.go         parameters for step functions, and for quantisers with any number of codes
//	long.go                  parameters with low digits for quantisers
//	form.go                  folds that are built as step functions
//	cost.go, circuit.go      resources; the RTL
package requant

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the requantisation in the table of layers, hlslib.LayerKinds. New returns a layer of this kind
// with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "Requantization",
	Doc:     "multiply, add, shift and clip per channel (activations of many steps)",
	Example: `{"multiplier":[3],"bias":[2],"shift":2,"lo":0,"hi":255}`,
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"Requant"}},
})

// maxShiftBits is the largest shift, in bits, that Verify accepts.
const maxShiftBits = num.MaxRequantShift

// Params are the parameters of the requantisation: multiplier and bias by channel, then a shift with rounding, and
// limits of the output.
type Params struct {
	Multiplier []int64      `json:"multiplier"`     // one for all channels, or one per channel
	Bias       []int64      `json:"bias"`           // one for all channels, or one per channel
	Shift      int          `json:"shift"`          // 0..MaxShift
	Mode       num.Rounding `json:"mode,omitempty"` // floor if empty
	Lo         int64        `json:"lo"`             // the least output; the least int64 clips nothing
	Hi         int64        `json:"hi"`             // the greatest output

	Low      []LowDigit `json:"low,omitempty"`       // digits below those of Multiplier and Bias, the lowest first
	LowShift int        `json:"low_shift,omitempty"` // bits of each low digit
	Below    *LowerLine `json:"below,omitempty"`     // other multipliers for inputs below a bend
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if len(p.Multiplier) == 0 {
		return errors.New("there is no multiplier")
	}
	if len(p.Bias) == 0 {
		return errors.New("there is no bias")
	}
	err := num.Requant{Shift: p.Shift, Mode: p.mode()}.Verify()
	if err == nil && p.Lo > p.Hi {
		err = fmt.Errorf("outputs from %d up to %d", p.Lo, p.Hi)
	}
	if err == nil {
		err = p.verifyLow()
	}
	return err
}

// mode returns the rounding of the shift, num.RoundingFloor if Mode is empty.
func (p Params) mode() num.Rounding {
	if p.Mode == "" {
		return num.RoundingFloor
	}
	return p.Mode
}

// sum returns the range of multiplier times input plus bias for channel c, whose inputs are in x. ok is false if it
// leaves 64 bits.
func (p Params) sum(c int, x num.Range) (s num.Range, ok bool) {
	for i, end := range p.corners(c, x) {
		list, ok := p.sumsAt(c, end)
		if !ok {
			return num.Range{}, false
		}
		if sum := num.SingleValueRange(list[len(p.Low)]); i == 0 {
			s = sum
		} else {
			s = s.Union(sum)
		}
	}
	return s, true
}

// code returns sum / 2^Shift, rounded by the layer's mode but not yet limited to Lo and Hi.
func (p Params) code(sum int64) int64 { return p.mode().DivideByPowerOfTwo(sum, p.Shift) }

// clip returns the code limited to the range Lo to Hi.
func (p Params) clip(code int64) int64 { return min(max(code, p.Lo), p.Hi) }

// apply returns the output of channel c for the input x. Multiplier times x plus bias must stay within 64 bits.
func (p Params) apply(c int, x int64) int64 {
	p = p.pieceAt(c, x)
	sum := layer.ElementForChannel(p.Multiplier, c)*x + layer.ElementForChannel(p.Bias, c)
	if len(p.Low) > 0 {
		sum += p.carry(c, x, func(sum int64) int64 { return sum })
	}
	return p.clip(p.code(sum))
}

// multiplies reports whether the layer needs a multiplier. It does not if all channels have the same multiplier, 0 or a
// power of two, or if every multiplier is -1, 0 or 1.
func (p Params) multiplies() bool {
	if p.Below != nil {
		return true // the multipliers above and below the bend take turns
	}
	multipliers, _ := p.lists()
	return slices.ContainsFunc(multipliers, func(list []int64) bool {
		if layer.AllEqual(list) {
			return !layer.IsShiftFactor(list[0])
		}
		return layer.AnyNeedsMultiplier(list)
	})
}

// sums returns the ranges of multiplier times input plus bias for channels 0 to n-1; x gives the ranges of their
// inputs. It returns an error if a sum needs more than 63 bits.
func (p Params) sums(n int, x func(c int) num.Range) ([]num.Range, error) {
	sums := make([]num.Range, n)
	for c := range sums {
		s, ok := p.sum(c, x(c))
		if !ok {
			return nil, fmt.Errorf("channel %d: the sum leaves 64 bits", c)
		}
		sums[c] = s
	}
	_, err := layer.NarrowestTypeOfRanges("sum", sums)
	return sums, err
}

type op struct {
	layer.Base[Params]
	layer.ChannelwiseSchedule
	sum              num.Type // type of m*x + b
	code, limits     num.Range
	multiplier, bias num.Type // the narrowest types that hold the numbers of all channels

	multipliers, biases [][]int64 // above the bend, and below it if there is one
	low                 low
	forms               *forms
}

// bind returns the layer for one input, and its output of the same shape. The input's last axes must have as many
// elements as there are multipliers and biases; single ones fit any input. It returns an error for any other input, and
// if a sum before the shift needs more than 63 bits.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	n := b.P.channels()
	v := layer.MergeTrailingAxes(n, in[0])
	if err := b.P.checkLengths(v); err != nil {
		return nil, nil, err
	}
	sums, err := b.P.sums(max(len(v.Range), n), v.ChannelRange)
	if err != nil {
		return nil, nil, err
	}
	o := &op{Base: b, ChannelwiseSchedule: layer.NewChannelwiseScheduleForFunctions(n, in), forms: &forms{}}
	if o.low, err = newLow(b.P, max(len(v.Range), n), v.ChannelRange); err != nil {
		return nil, nil, err
	}
	out := dataflow.StreamType{Shape: v.Shape, Range: make([]num.Range, len(sums))}
	for c, s := range sums {
		out.Range[c] = num.Range{Lo: b.P.clip(b.P.code(s.Lo)), Hi: b.P.clip(b.P.code(s.Hi))}
	}
	all := dataflow.StreamType{Range: sums}.UnionOfRanges()
	o.sum, o.code = num.NarrowestIntTypeFor(all), num.Range{Lo: b.P.code(all.Lo), Hi: b.P.code(all.Hi)}
	out, o.limits = layer.SplitMergedAxes(out, in[0].Shape), out.UnionOfRanges()
	out.Elem = num.NarrowestIntTypeFor(o.limits)
	for _, piece := range b.P.pieces() {
		o.multipliers, o.biases = append(o.multipliers, piece.Multiplier), append(o.biases, piece.Bias)
	}
	o.multiplier, o.bias = num.NarrowestIntTypeFor(num.RangeOfLists(o.multipliers...)),
		num.NarrowestIntTypeFor(num.RangeOfLists(o.biases...))
	o.Out = []dataflow.StreamType{out}
	return o, o.Out, nil
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	d.Storage, d.NarrowerFactorBits = o.Storage, o.narrowerFactorBits
	return d
}

// dependence says that every vector of a frame is computed independently.
func (o *op) dependence() dataflow.Dependence { return dataflow.NewSeparateDependence(1, o.Vectors) }

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	return dataflow.ElementwiseComputation{Channels: o.Channels, Of: o.outputOf, Monotonic: o.P.Below == nil}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	return o.ChannelwiseSchedule.Eval(in, o.outputOf)
}

// outputOf returns the output of channel c for the input x[0].
func (o *op) outputOf(c int, x []int64) int64 { return o.P.apply(c, x[0]) }

// Folds yields every PE that divides the channels, in increasing order, within the limits of HLS, with each memory for
// tables. If the layer needs a multiplier, each comes with each kind of multiplier.
func (o *op) Folds() dataflow.FoldIterator {
	return o.ChannelwiseSchedule.Folds(layer.TableLayout{PerChannel: o.perChannel(), Row: func(pe int) (row int) {
		if !allShared(o.multipliers) {
			row = pe * len(o.multipliers) * o.multiplier.Width
		}
		if !allShared(o.biases) {
			row = max(row, pe*len(o.biases)*o.bias.Width)
		}
		return max(row, o.low.rowBits(pe))
	}}, o.P.multiplies())
}

// perChannel reports whether the multipliers or the biases differ between channels.
func (o *op) perChannel() bool { return !allShared(o.P.allLists()) }

// Loop returns the loop over the words. In HLS its latency is that of a value that is multiplied, added to, rounded and
// clipped, or that passes the fold's step functions. In RTL it is the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	if form := o.form(f); form != nil {
		c.DoStepFunctions(form, o.forms.compare, o.In[0].Elem.Width, f.PE, f.Memory)
		return layer.LoopWithBackEndLatency(o, f, t, o.LoopNest(f, c.DoStreamWrite()).AsLoop())
	}
	if o.perChannel() {
		c.DoCounterLookup(o.WordsPerVector(f), f.PE*o.multiplier.Width, f.Memory)
	}
	if o.P.Below != nil {
		c.DoOp(delay.OpCompare, o.In[0].Elem.Width)
		c.DoSelect(max(o.multiplier.Width, o.low.multiplier.Width))
	}
	if o.P.multiplies() {
		c.DoProduct(o.In[0].Elem.Width, max(o.multiplier.Width, o.low.multiplier.Width),
			f.Compute == dataflow.MultiplierInDSPs)
	}
	for range o.P.Low {
		c.DoOp(delay.OpAdd, o.low.sum.Width)
	}
	c.DoOp(delay.OpAdd, o.sum.Width)
	c.DoOp(delay.OpAdd, o.sum.Width)
	c.DoClip(o.sum.Width)
	return layer.LoopWithBackEndLatency(o, f, t, o.LoopNest(f, c.DoStreamWrite()).AsLoop())
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	if form := o.form(f); form != nil {
		return o.ChannelwiseSchedule.Kernel(f, func(c int, x []int64) int64 {
			return form.ComputeCode(min(c, len(o.forms.compare.At)-1), x[0])
		})
	}
	return o.ChannelwiseSchedule.Kernel(f, func(c int, x []int64) int64 {
		p := o.P.pieceAt(c, x[0])
		sum := layer.WrapToType(o.sum, layer.ElementForChannel(p.Multiplier, c)*x[0])
		sum = layer.WrapToType(o.sum, sum+layer.ElementForChannel(p.Bias, c))
		if len(p.Low) > 0 {
			carry := p.carry(c, x[0], func(sum int64) int64 { return layer.WrapToType(o.low.sum, sum) })
			sum = layer.WrapToType(o.sum, sum+carry)
		}
		return min(max(o.P.code(sum), o.limits.Lo), o.limits.Hi)
	})
}

// Emit returns the data of the C++ instance: that of Thresholding if the fold is built of step functions.
func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	streams := []string{"in_t", "in_width", "out_t", "out_width"}
	if form := o.form(f); form != nil {
		return dataflow.KernelInstance{Header: "threshold.hpp", Func: "threshold", Streams: streams,
			Config: o.ConfigFields(f, "channels computed", form.ConfigFields()...), Tables: form.Tables(),
			Storage: form.Storage()}
	}
	header, function := "requant.hpp", "requant"
	if len(o.P.Low) > 0 {
		header, function = "requant_long.hpp", "requant_long"
		if o.P.Below != nil {
			function = "requant_bent"
		}
	}
	return dataflow.KernelInstance{
		Header:  header,
		Func:    function,
		Streams: streams,
		Config: o.ConfigFields(f, "channels computed", append([]dataflow.ConfigField{
			{Name: "sum_t", Doc: "multiplier times input, plus bias", Value: o.sum},
			{Name: "one_multiplier", Doc: "one serves all channels", Value: allShared(o.multipliers)},
			{Name: "one_bias", Doc: "one serves all channels", Value: allShared(o.biases)},
			{Name: "shift", Doc: "bits by which the sum is shifted right", Value: o.P.Shift},
			{Name: "mode", Doc: "rounding of the shift: a requant_mode", Value: o.P.mode().KernelCode()},
			{Name: "clip_lo", Doc: "some code lies below the limits", Value: o.code.Lo < o.limits.Lo},
			{Name: "clip_hi", Doc: "some code lies above the limits", Value: o.code.Hi > o.limits.Hi},
			{Name: "use_dsp", Doc: "multiply in DSP slices", Value: f.Compute == dataflow.MultiplierInDSPs},
		}, o.longFields()...)...),
		Tables:  o.tables(f),
		Storage: o.Storage(f),
	}
}

func (o *op) tables(f dataflow.Fold) []dataflow.Table {
	list := append([]dataflow.Table{
		{Name: "multipliers", Doc: "by fold: element pe; one for all", Elem: o.multiplier,
			Rows: rows(o.multipliers, f.PE)},
		{Name: "biases", Doc: "by fold: element pe; one for all", Elem: o.bias, Rows: rows(o.biases, f.PE)},
		{
			Name: "limits", Doc: "the lowest and the highest output",
			Elem: o.Out[0].Elem, Rows: [][]int64{{o.limits.Lo, o.limits.Hi}},
		},
	}, o.low.tables(f.PE)...)
	if b := o.P.Below; b != nil {
		list = append(list, dataflow.Table{Name: "bends", Doc: "by fold: the least input above the bend of element pe",
			Elem: num.NarrowestIntTypeFor(num.RangeOfValues(b.At)), Rows: rows([][]int64{b.At}, f.PE)})
	}
	return list
}

// longFields returns what the C++ knows of low digits and bends.
func (o *op) longFields() []dataflow.ConfigField {
	fields := o.low.fields(len(o.P.Low), o.P.LowShift)
	if o.P.Below != nil {
		fields = append(fields, dataflow.ConfigField{Name: "one_bend", Doc: "one serves all channels",
			Value: layer.AllEqual(o.P.Below.At)})
	}
	return fields
}
