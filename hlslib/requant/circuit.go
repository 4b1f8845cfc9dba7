package requant

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the layer's RTL: a multiplier and an adder per channel, or step functions if that is cheaper.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	always := b.ConstantNumber(1)
	fold := b.AddCounter("fold", o.WordsPerVector(f), always).Index
	x := layer.ElementsOfWord(b.AddInputStream(f.PE*o.In[0].Elem.Width, always), o.In[0].Elem)
	y := make([]circuit.Value, f.PE)
	if form := o.form(f); form != nil {
		y = form.BuildCircuit(b, fold, x)
	} else {
		p := o.parameters(b, f, fold)
		for pe, v := range x {
			y[pe] = o.coded(b, f, circuit.AssumeRange(v, o.In[0].UnionOfRanges()), pe, p)
		}
	}
	b.AddOutputStream(circuit.PackIntoWord(o.Out[0].Elem, y...), always)
	return b.FinishLayer()
}

// A number returns the number of list l for channel pe of the word.
type number func(l, pe int) circuit.Value

// numbers are the tables of a circuit.
type numbers struct{ multiplier, bias, lowMultiplier, lowBias, bend number }

// parameters returns the numbers of an iteration.
func (o *op) parameters(b *circuit.Builder, f dataflow.Fold, fold circuit.Value) numbers {
	p := numbers{
		multiplier:    o.parameter(b, f, fold, o.multipliers, o.multiplier, "multipliers"),
		bias:          o.parameter(b, f, fold, o.biases, o.bias, "biases"),
		lowMultiplier: o.parameter(b, f, fold, o.low.multipliers, o.low.multiplier, "low_multipliers"),
		lowBias:       o.parameter(b, f, fold, o.low.biases, o.low.bias, "low_biases"),
	}
	if below := o.P.Below; below != nil {
		elem := num.NarrowestIntTypeFor(num.RangeOfValues(below.At))
		p.bend = o.parameter(b, f, fold, [][]int64{below.At}, elem, "bends")
	}
	return p
}

// parameter returns the numbers of lists. They are read from the table of the given name and element type unless each
// list is the same for all channels.
func (o *op) parameter(b *circuit.Builder, f dataflow.Fold, fold circuit.Value, lists [][]int64, elem num.Type,
	name string) number {
	if allShared(lists) {
		return func(l, _ int) circuit.Value { return b.ConstantNumber(lists[l][0]) }
	}
	row := b.AddTable(name, dataflow.CircuitStyleOf(o.Storage(f), name), elem, f.PE*len(lists), o.WordsPerVector(f),
		func() [][]int64 { return rows(lists, f.PE) }).ReadRow(fold)
	return func(l, pe int) circuit.Value { return circuit.ElementOf(row, l*f.PE+pe, elem) }
}

// coded returns the output of the layer for the value x of channel pe of the word.
func (o *op) coded(b *circuit.Builder, f dataflow.Fold, x circuit.Value, pe int, p numbers) circuit.Value {
	of := func(n number, l, _ int) circuit.Value { return n(l, pe) }
	if p.bend != nil {
		below := circuit.IsGreater(p.bend(0, pe), x)
		of = func(n number, l, lists int) circuit.Value {
			return circuit.MuxByCondition(below, n(lists+l, pe), n(l, pe))
		}
	}
	h, digits := b.NewBitHeap(), len(o.P.Low)
	for d := range digits {
		o.addTerms(h, f, x, of(p.lowMultiplier, d, digits), of(p.lowBias, d, digits))
		carry := circuit.ShiftByConstant(h.Sum(o.low.sum.Range()), -o.P.LowShift)
		h = b.NewBitHeap()
		h.AddShifted(carry, 0)
	}
	o.addTerms(h, f, x, of(p.multiplier, 0, 1), of(p.bias, 0, 1))
	code := circuit.AssumeRange(circuit.ShiftRightRounded(h.Sum(o.sum.Range()), o.P.Shift, o.P.mode()), o.code)
	return circuit.AssumeRange(circuit.ClipToRange(code, o.limits), o.limits)
}

// addTerms adds the product of x and the multiplier to h, and the bias.
func (o *op) addTerms(h *circuit.BitHeap, f dataflow.Fold, x, multiplier, bias circuit.Value) {
	h.AddShifted(bias, 0)
	switch r := multiplier.Range(); {
	case f.Compute == dataflow.MultiplierInDSPs && o.P.multiplies():
		h.AddShifted(circuit.MultiplyInDSP(x, multiplier), 0)
	case r.Lo == r.Hi:
		h.AddMultiple(x, r.Lo)
	default:
		h.AddProduct(x, multiplier)
	}
}
