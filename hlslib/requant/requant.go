// Package requant is the requantising layer: an activation of too many steps for thresholds (16-bit codes, say),
// computed by arithmetic on every vector of a frame,
//
//	y[c] = clip(round((m[c]*x[c] + b[c]) / 2^Shift), Lo, Hi)
//
// with an integer multiplier m and an integer bias b per channel, or one for all channels. Division by 2^Shift is a
// shift to the right. A negative multiplier makes a falling activation, and 0 a constant channel. Mode is how it
// rounds. Down is the plain shift, and half a unit in the bias, 2^(Shift-1), makes it round to the nearest; what a bias
// cannot say is a rounding that depends on the value, as half to even does.
//
// Fit finds the parameters with which the layer equals given step functions.
//
// A fold that does not multiply in DSP slices is built as step functions (package steps) where that takes less.
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame; every iteration reads a word, x[fold*PE .. fold*PE+PE-1], and writes the word of the same
// channels. Row fold of the tables of multipliers and of biases has those of the channels of one iteration: element pe
// is that of channel fold*PE+pe. Where all channels have the same, the table is one row of one element. The table of
// limits is one row, the lowest and the highest output.
package requant

import (
	"errors"
	"fmt"

	"hlsgen/hlslib/delay"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Layer is the row of the requantisation in the table of layers; New makes one.
var Layer, New = layer.Define(layer.Definition[Params]{
	Name:    "Requantization",
	Doc:     "multiply, add, shift and clip per channel (activations of many steps)",
	Example: `{"multiplier":[3],"bias":[2],"shift":2,"lo":0,"hi":255}`,
	Bind:    bind,
	FINN:    dataflow.FINNFile{Names: []string{"Requant"}},
})

// MaxShift is the largest shift that Bind accepts.
const MaxShift = num.MaxRequantShift

// Params makes the layer.
type Params struct {
	Multiplier []int64      `json:"multiplier"`     // one for all channels, or one per channel
	Bias       []int64      `json:"bias"`           // likewise, independently
	Shift      int          `json:"shift"`          // 0..MaxShift
	Mode       num.Rounding `json:"mode,omitempty"` // floor where empty
	Lo         int64        `json:"lo"`             // the least output; the least int64 clips nothing
	Hi         int64        `json:"hi"`             // the greatest output
}

// Verify says what is wrong with p whatever the inputs.
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
	return err
}

// mode is how the layer rounds.
func (p Params) mode() num.Rounding {
	if p.Mode == "" {
		return num.Floor
	}
	return p.Mode
}

// sum is the exact range of channel c before the shift; ok is false where it leaves 64 bits.
func (p Params) sum(c int, x num.Range) (s num.Range, ok bool) {
	product, ok1 := x.Times(layer.Of(p.Multiplier, c))
	s, ok2 := product.Plus(num.Point(layer.Of(p.Bias, c)))
	return s, ok1 && ok2
}

// code is a sum over 2^Shift, rounded.
func (p Params) code(sum int64) int64 { return p.mode().Quotient(sum, p.Shift) }

// clip keeps a code within the limits.
func (p Params) clip(code int64) int64 { return min(max(code, p.Lo), p.Hi) }

// apply is the output of channel c at x, where the sum stays within 64 bits.
func (p Params) apply(c int, x int64) int64 {
	return p.clip(p.code(layer.Of(p.Multiplier, c)*x + layer.Of(p.Bias, c)))
}

// multiplies reports whether there is anything to multiply: 0 and a power of two common to all channels are wiring, and
// -1, 0 and 1 a choice of sign.
func (p Params) multiplies() bool {
	if layer.Common(p.Multiplier) {
		return !layer.Shifts(p.Multiplier[0])
	}
	return layer.Multiplies(p.Multiplier)
}

// sums gives the sums' ranges of the first n channels, whose inputs are in x. The error says how they leave 63 bits.
func (p Params) sums(n int, x func(c int) num.Range) ([]num.Range, error) {
	sums := make([]num.Range, n)
	for c := range sums {
		s, ok := p.sum(c, x(c))
		if !ok {
			return nil, fmt.Errorf("channel %d: the sum leaves 64 bits", c)
		}
		sums[c] = s
	}
	_, err := layer.SumType("sum", sums)
	return sums, err
}

type op struct {
	layer.Base[Params]
	layer.Channelwise
	sum              num.Type // of m*x + b, exact
	code, limits     num.Range
	multiplier, bias num.Type // the narrowest that holds those of all channels
	forms            *forms
}

// bind takes one input whose last axes have as many elements as there are multipliers and biases, or any number for
// one; the output has the same shape. The sum before the shift must stay within 63 bits. The ends of an input's range
// give the ends of the output's: multiplying, adding, rounding and clipping all keep an order or turn it round.
func bind(b layer.Base[Params], in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	n := max(len(b.P.Multiplier), len(b.P.Bias))
	v := layer.View(n, in[0])
	if err := layer.PerChannel("multipliers", len(b.P.Multiplier), []dataflow.Type{v}); err != nil {
		return nil, nil, err
	}
	if err := layer.PerChannel("biases", len(b.P.Bias), []dataflow.Type{v}); err != nil {
		return nil, nil, err
	}
	sums, err := b.P.sums(max(len(v.Range), n), v.Channel)
	if err != nil {
		return nil, nil, err
	}
	o := &op{Base: b, Channelwise: layer.Positions(n, in), forms: &forms{}}
	out := dataflow.Type{Shape: v.Shape, Range: make([]num.Range, len(sums))}
	for c, s := range sums {
		out.Range[c] = num.Range{Lo: b.P.clip(b.P.code(s.Lo)), Hi: b.P.clip(b.P.code(s.Hi))}
	}
	all := dataflow.Type{Range: sums}.Union()
	o.sum, o.code = num.Smallest(all), num.Range{Lo: b.P.code(all.Lo), Hi: b.P.code(all.Hi)}
	out, o.limits = layer.Unview(out, in[0].Shape), out.Union()
	out.Elem = num.Smallest(o.limits)
	o.multiplier, o.bias = num.Smallest(num.Hull(b.P.Multiplier)), num.Smallest(num.Hull(b.P.Bias))
	o.Out = []dataflow.Type{out}
	return o, o.Out, nil
}

// Dependence has every vector apart.
func (o *op) Dependence() dataflow.Dependence { return dataflow.EachApart(1, o.Vectors) }

// Computation is Eval as data.
func (o *op) Computation() dataflow.Computation {
	return dataflow.Elements{Channels: o.Channels, Of: o.outputOf, Monotonic: true}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	return o.Channelwise.Eval(in, o.outputOf)
}

// outputOf is the output of channel c.
func (o *op) outputOf(c int, x []int64) int64 { return o.P.apply(c, x[0]) }

// Folds yields, for every PE that divides the channels in increasing order, the memories and multipliers to choose
// from.
func (o *op) Folds() dataflow.Folds {
	return o.Channelwise.Folds(layer.Tables{PerChannel: o.perChannel(), Row: func(pe int) (row int) {
		if !layer.Common(o.P.Multiplier) {
			row = pe * o.multiplier.Width
		}
		if !layer.Common(o.P.Bias) {
			row = max(row, pe*o.bias.Width)
		}
		return row
	}}, o.P.multiplies())
}

// perChannel reports whether anything differs between channels.
func (o *op) perChannel() bool { return !layer.Common(o.P.Multiplier) || !layer.Common(o.P.Bias) }

// Loop has the latency of a value that is multiplied, added to, rounded and clipped.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.Begin(t)
	c.Read()
	if form := o.form(f); form != nil {
		c.Steps(form, o.forms.compare, o.In[0].Elem.Width, f.PE, f.Memory)
		return layer.Timed(o, f, t, o.Nest(f, c.Write()).Loop())
	}
	if o.perChannel() {
		c.Fetch(o.Words(f), f.PE*o.multiplier.Width, f.Memory)
	}
	if o.P.multiplies() {
		c.Product(o.In[0].Elem.Width, o.multiplier.Width, f.Compute == dataflow.DSP)
	}
	c.Do(delay.Add, o.sum.Width)
	c.Do(delay.Add, o.sum.Width)
	c.Clip(o.sum.Width)
	return layer.Timed(o, f, t, o.Nest(f, c.Write()).Loop())
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	if form := o.form(f); form != nil {
		return o.Channelwise.Kernel(f, func(c int, x []int64) int64 {
			return form.Apply(min(c, len(o.forms.compare.At)-1), x[0])
		})
	}
	return o.Channelwise.Kernel(f, func(c int, x []int64) int64 {
		sum := layer.Wrap(o.sum, layer.Of(o.P.Multiplier, c)*x[0])
		sum = layer.Wrap(o.sum, sum+layer.Of(o.P.Bias, c))
		return min(max(o.P.code(sum), o.limits.Lo), o.limits.Hi)
	})
}

// Emit is the kernel of Thresholding where the layer is built as step functions.
func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	streams := []string{"in_t", "in_width", "out_t", "out_width"}
	if form := o.form(f); form != nil {
		return dataflow.Instance{Header: "threshold.hpp", Func: "threshold", Streams: streams,
			Config: o.Config(f, "channels computed", form.Fields()...), Tables: form.Tables(), Storage: form.Storage()}
	}
	return dataflow.Instance{
		Header:  "requant.hpp",
		Func:    "requant",
		Streams: streams,
		Config: o.Config(f, "channels computed", []dataflow.Field{
			{Name: "sum_t", Doc: "multiplier times input, plus bias", Value: o.sum},
			{Name: "one_multiplier", Doc: "one serves all channels", Value: layer.Common(o.P.Multiplier)},
			{Name: "one_bias", Doc: "one serves all channels", Value: layer.Common(o.P.Bias)},
			{Name: "shift", Doc: "what the sum is shifted right by", Value: o.P.Shift},
			{Name: "mode", Doc: "how it rounds: a requant_mode", Value: o.P.mode().Code()},
			{Name: "clip_lo", Doc: "some code lies below the limits", Value: o.code.Lo < o.limits.Lo},
			{Name: "clip_hi", Doc: "some code lies above the limits", Value: o.code.Hi > o.limits.Hi},
			{Name: "use_dsp", Doc: "multiply in DSP slices", Value: f.Compute == dataflow.DSP},
		}...),
		Tables:  o.tables(f),
		Storage: o.Storage(f),
	}
}

func (o *op) tables(f dataflow.Fold) []dataflow.Table {
	return []dataflow.Table{
		{Name: "multipliers", Doc: "by fold: element pe; one for all", Elem: o.multiplier,
			Rows: rows(o.P.Multiplier, f.PE)},
		{Name: "biases", Doc: "by fold: element pe; one for all", Elem: o.bias, Rows: rows(o.P.Bias, f.PE)},
		{
			Name: "limits", Doc: "the lowest and the highest output",
			Elem: o.Out[0].Elem, Rows: [][]int64{{o.limits.Lo, o.limits.Hi}},
		},
	}
}

// rows is a parameter as a table: a row per fold, or one element where all channels have the same.
func rows(values []int64, pe int) [][]int64 {
	if layer.Common(values) {
		return [][]int64{values[:1]}
	}
	return layer.Rows(values, pe)
}
