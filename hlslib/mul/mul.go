// Package mul is the product of two streams: two inputs a and b, each with an offset, with a function on top,
//
//	y[c] = f[c]((a[c]+Offset[0]) * (b[c]+Offset[1]))
//
// on every vector of a frame. An offset is the negated zero point of an integer quantiser. f[c] is any step function,
// or one requantiser for all channels if there are too many steps, or absent; then y[c] is the product.
//
// Both inputs have one shape, or b is a single vector with as many channels as a's vectors. Then b is a gate, which
// multiplies every vector of a (squeeze-and-excitation).
//
// PE channels are computed side by side. With V vectors of C channels the loop is
//
//	for v < V: for fold < C/PE: one clock
//
// or V*C/PE clocks a frame. Every iteration reads a word of a, channels fold*PE .. fold*PE+PE-1, and writes the word
// of the same channels. It also reads the word of b with the same channels; but a gate is read with the first vector
// only, and kept for the others.
//
// The tables of the step functions are those of the thresholding layer.
package mul

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the product of two streams in the table of layers, hlslib.LayerKinds. New returns a layer of this
// kind with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name: "MultiplyStreams",
	Doc: "the product of two inputs, or of an input and a gate per channel, then one step function per channel " +
		"or a requantiser (Mul)",
	Example: `{"offset":[-3,128],"steps":[{"at":[1],"value":[0,1]}]}`,
	Takes:   layer.NewInputCountCheck(2),
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"ElementwiseMul"}},
})

// Params are the parameters of the product: numbers that are added to the inputs first, and step functions or one
// requantiser for the results.
type Params struct {
	Offset  [2]int64           `json:"offset"`            // by input, each within 32 bits
	Steps   []num.StepFunction `json:"steps,omitempty"`   // none, one for all channels, or one per channel
	Requant *num.Requant       `json:"requant,omitempty"` // for all channels, instead of steps
}

// UnmarshalJSON reads the parameters from JSON, and returns an error unless there are offsets for both inputs or for
// none. Package json alone would ignore missing or surplus elements of an array.
func (p *Params) UnmarshalJSON(text []byte) error {
	var list struct {
		Offset  []int64            `json:"offset"`
		Steps   []num.StepFunction `json:"steps"`
		Requant *num.Requant       `json:"requant"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	p.Steps, p.Requant = list.Steps, list.Requant
	return layer.CopyPerInput("offsets", p.Offset[:], list.Offset)
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	for i, v := range p.Offset {
		if v < math.MinInt32 || v > math.MaxInt32 {
			return fmt.Errorf("the offset %d of input %d takes more than 32 bits", v, i)
		}
	}
	if err := layer.VerifyStepFunctions(p.Steps); err != nil || p.Requant == nil {
		return err
	}
	if len(p.Steps) > 0 {
		return errors.New("step functions and a requantiser")
	}
	return p.Requant.Verify()
}

type op struct {
	layer.Base[Params]
	layer.ChannelwiseSchedule
	gate     bool        // input 1 is a single vector, used for all of input 0
	factor   [2]num.Type // type of an input plus its offset
	product  num.Type
	products num.Range // range over all channels
	steps    layer.ActivationTail
}

// bind returns the layer for two inputs of one shape, or with a second input that is one vector, [C] or [1, .., C]. The
// output has the first input's shape. Any other inputs are an error, as is a number of step functions other than 0, 1
// and C. Products that are too wide are errors, too.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	shape, other := in[0].Shape, in[1].Shape
	o := &op{Base: b, ChannelwiseSchedule: layer.NewChannelwiseScheduleForFirstInput(in)}
	if !slices.Equal(shape, other) {
		if len(other) > len(shape) || other.VectorCount() != 1 || other.ChannelCount() != o.Channels {
			return nil, nil, fmt.Errorf("inputs of shapes %v and %v, want one shape, or a second of one vector of %d",
				shape, other, o.Channels)
		}
		o.gate = o.Vectors > 1
	}
	if err := layer.CheckPerChannelLength("step functions", len(b.P.Steps), in); err != nil {
		return nil, nil, err
	}
	products, err := o.bindProduct()
	if err != nil {
		return nil, nil, err
	}
	of := dataflow.StreamType{Shape: shape, Range: products, Elem: o.product}
	if o.steps, o.Out, err = layer.BindActivationTail(b.P.Steps, of); err == nil && b.P.Requant != nil {
		o.Out, err = o.bindRequant(of)
	}
	return o, o.Out, err
}

// bindProduct sets o.factor, o.product and o.products, the types and ranges of factors and products. It returns the
// products' ranges: one if all channels are alike, else one per channel. A product that is too wide is an error.
func (o *op) bindProduct() ([]num.Range, error) {
	products := make([]num.Range, max(len(o.In[0].Range), len(o.In[1].Range)))
	var factor [2]num.Range
	for c := range products {
		a, ok0 := o.In[0].ChannelRange(c).Plus(num.SingleValueRange(o.P.Offset[0]))
		b, ok1 := o.In[1].ChannelRange(c).Plus(num.SingleValueRange(o.P.Offset[1]))
		if !ok0 || !ok1 {
			return nil, fmt.Errorf("channel %d: an input and its offset leave 64 bits", c)
		}
		low, ok0 := a.TimesConstant(b.Lo)
		high, ok1 := a.TimesConstant(b.Hi)
		if !ok0 || !ok1 {
			return nil, fmt.Errorf("channel %d: the product leaves 64 bits", c)
		}
		products[c] = low.Union(high) // a product is linear in each factor, so it is extreme at their ends
		if c == 0 {
			factor, o.products = [2]num.Range{a, b}, products[0]
		}
		factor[0], factor[1], o.products = factor[0].Union(a), factor[1].Union(b), o.products.Union(products[c])
	}
	signs := 0
	for i, r := range factor {
		o.factor[i] = num.NarrowestIntTypeFor(r)
		if o.P.Offset[i] == 0 && o.In[i].Elem.Kind == num.KindBipolar {
			o.factor[i] = o.In[i].Elem
			signs++
		}
	}
	var err error
	if o.product, err = layer.NarrowestTypeOfRanges("product", products); signs == 2 {
		o.product, err = o.factor[0], nil
	}
	return products, err
}

// bindRequant returns the type of the requantiser's outputs, as a list of one. It returns an error if a product times
// the multiplier leaves 63 bits.
func (o *op) bindRequant(products dataflow.StreamType) ([]dataflow.StreamType, error) {
	out := dataflow.StreamType{Shape: products.Shape, Range: make([]num.Range, len(products.Range))}
	for c, r := range products.Range {
		var ok bool
		if out.Range[c], ok = o.P.Requant.ResultRange(r); !ok {
			return nil, fmt.Errorf("channel %d: the requantiser's product leaves 63 bits", c)
		}
	}
	out.Elem = num.NarrowestIntTypeFor(out.UnionOfRanges())
	return []dataflow.StreamType{out}, nil
}

// multiplies reports whether the product of the inputs needs a multiplier. It needs none if one factor is always -1, 0
// or 1.
func (o *op) multiplies() bool {
	choice := num.Range{Lo: -1, Hi: 1}
	return !o.factor[0].Range().IsWithin(choice) && !o.factor[1].Range().IsWithin(choice)
}

// rescales reports whether there is a requantiser that needs a multiplier: its factor is neither 0 nor plus
// or minus a power of two.
func (o *op) rescales() bool {
	return o.P.Requant != nil && !layer.IsShiftFactor(o.P.Requant.Multiplier)
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	d.NarrowerFactorBits, d.CarriedDelayNS = o.narrowerFactorBits, o.carriedDelayNS
	return d
}

// dependence says that every vector is computed independently. If one vector multiplies all others of a frame, it says
// that no part can be computed alone.
func (o *op) dependence() dataflow.Dependence {
	if o.gate {
		return dataflow.Dependence{Why: "one vector of a frame multiplies all others"}
	}
	return dataflow.NewSeparateDependence(2, o.Vectors)
}

// computation describes Eval as data, which compiled engines execute. It returns nil if one vector multiplies all
// others of a frame.
func (o *op) computation() dataflow.Computation {
	if o.gate {
		return nil
	}
	return dataflow.ElementwiseComputation{Channels: o.Channels, Of: o.productOf}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	return o.ChannelwiseSchedule.Eval(in, o.productOf)
}

// productOf returns the output of channel c for the values x[0] and x[1] of both inputs.
func (o *op) productOf(c int, x []int64) int64 {
	y := o.steps.ExactOutput(c, (x[0]+o.P.Offset[0])*(x[1]+o.P.Offset[1]))
	if o.P.Requant != nil {
		y = o.P.Requant.Apply(y)
	}
	return y
}

// Folds yields every PE that divides the channels, in increasing order, within the limits of HLS, with each memory if
// there are tables. If something needs a multiplier, each comes with each kind of multiplier.
func (o *op) Folds() dataflow.FoldIterator {
	return o.ChannelwiseSchedule.Folds(o.steps.TableLayout(), o.multiplies() || o.rescales())
}

// Loop returns the loop over the words. In HLS its latency is that of a pair that gets its offsets, is multiplied, and
// passes a step function or a requantiser. In RTL it is the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	if o.gate {
		c.DoCounterLookup(o.WordsPerVector(f), f.PE*o.In[1].Elem.Width, dataflow.NoMemory)
		c.DoSelect(o.In[1].Elem.Width)
	}
	a, b := o.factor[0], o.factor[1]
	if o.P.Offset != [2]int64{} {
		c.DoOp(delay.OpAdd, max(a.Width, b.Width))
	}
	if o.multiplies() {
		c.DoProduct(a.Width, b.Width, f.Compute == dataflow.MultiplierInDSPs)
	} else {
		c.DoOp(delay.OpAdd, max(a.Width, b.Width)) // negation by a sign
	}
	if q := o.P.Requant; q != nil {
		c.DoRequant(q.WithLeastShift(), o.product.Width, f.Compute == dataflow.MultiplierInDSPs)
	}
	o.steps.AppendToChain(&c, f)
	l := o.LoopNest(f, c.DoStreamWrite())
	if o.gate {
		l.Read[1][0].Kind = dataflow.IndexSetKindFirst
	}
	return layer.LoopWithBackEndLatency(o, f, t, l.AsLoop())
}

// kernel keeps the words of a gate: the second input, if it is one vector that multiplies all vectors of a frame.
type kernel struct {
	dataflow.Kernel                 // computes the elements
	kept            []dataflow.Word // by fold
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	var requant num.Requant
	if o.P.Requant != nil {
		requant = o.P.Requant.WithLeastShift() // as the hardware has it
	}
	built := o.steps.HardwareFunction(f)
	k := o.ChannelwiseSchedule.Kernel(f, func(c int, x []int64) int64 {
		y := layer.WrapToType(o.product, (x[0]+o.P.Offset[0])*(x[1]+o.P.Offset[1]))
		if o.P.Requant != nil {
			return requant.Apply(y)
		}
		return built(c, y)
	})
	if o.gate {
		return &kernel{k, make([]dataflow.Word, o.WordsPerVector(f))}
	}
	return k
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	fold := iteration % len(k.kept)
	if iteration == fold {
		k.kept[fold] = slices.Clone(in[1])
	}
	return k.Kernel.Step(iteration, []dataflow.Word{in[0], k.kept[fold]})
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	second := o.factor[1]
	if o.factor[0].Kind == num.KindBipolar && second.Kind == num.KindBipolar {
		second = num.NarrowestIntTypeFor(second.Range()) // core/mac.hpp gives the match of two signs, not their product
	}
	dsp := f.Compute == dataflow.MultiplierInDSPs
	i := dataflow.KernelInstance{
		Header:  "mul.hpp",
		Func:    "mul",
		Streams: []string{"in0_t", "in0_width", "in1_t", "in1_width", "out_t", "out_width"},
		Config: o.ConfigFields(f, "channels computed", []dataflow.ConfigField{
			o.VectorCountField(),
			{Name: "gate", Doc: "input 1 is a single vector, used for all of input 0", Value: o.gate},
			{Name: "factor0_t", Doc: "input 0 plus its offset", Value: o.factor[0]},
			{Name: "factor1_t", Doc: "input 1 plus its offset", Value: second},
			{Name: "offset0", Value: int(o.P.Offset[0])},
			{Name: "offset1", Value: int(o.P.Offset[1])},
			{Name: "product_t", Doc: "product", Value: o.product},
			{Name: "use_dsp", Doc: "multiply in DSP slices", Value: dsp && o.multiplies()},
		}...),
		Storage: o.storage(f),
	}
	if o.P.Requant != nil {
		i.Func = "mul_requant"
		i.Config = append(i.Config,
			dataflow.NewRequantField("requant", "every product's requantiser", o.products, *o.P.Requant),
			dataflow.ConfigField{Name: "requant_dsp", Doc: "requantise in DSP slices", Value: dsp && o.rescales()},
			dataflow.ConfigField{Name: "shared", Doc: "one serves all channels", Value: true})
		return i
	}
	config, tables := o.steps.EmitFieldsAndTables(f, "product")
	i.Config, i.Tables = append(i.Config, config...), tables
	return i
}
