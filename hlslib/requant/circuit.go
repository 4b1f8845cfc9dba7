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
		multiplier := o.parameter(b, f, fold, o.P.Multiplier, "multipliers")
		bias := o.parameter(b, f, fold, o.P.Bias, "biases")
		lowMultiplier := o.lowParameter(b, f, fold, o.low.multipliers, o.low.multiplier, "low_multipliers")
		lowBias := o.lowParameter(b, f, fold, o.low.biases, o.low.bias, "low_biases")
		for pe, v := range x {
			v = circuit.AssumeRange(v, o.In[0].UnionOfRanges())
			h := b.NewBitHeap()
			for d := range o.P.Low {
				o.addTerms(h, f, v, lowMultiplier(d, pe), lowBias(d, pe))
				carry := circuit.ShiftByConstant(h.Sum(o.low.sum.Range()), -o.P.LowShift)
				h = b.NewBitHeap()
				h.AddShifted(carry, 0)
			}
			o.addTerms(h, f, v, multiplier(pe), bias(pe))
			y[pe] = o.coded(h)
		}
	}
	b.AddOutputStream(circuit.PackIntoWord(o.Out[0].Elem, y...), always)
	return b.FinishLayer()
}

// parameter returns a function that gives the parameter of channel pe of a word, where values are those of all
// channels. It comes from a table called name, by the word's number fold, or is a constant if all channels have the
// same.
func (o *op) parameter(b *circuit.Builder, f dataflow.Fold, fold circuit.Value, values []int64,
	name string) func(pe int) circuit.Value {
	if layer.AllEqual(values) {
		return func(int) circuit.Value { return b.ConstantNumber(values[0]) }
	}
	elem := num.NarrowestIntTypeFor(num.RangeOf(values))
	row := b.AddTable(name, dataflow.CircuitStyleOf(o.Storage(f), name), elem, f.PE, o.WordsPerVector(f),
		func() [][]int64 { return rows(values, f.PE) }).ReadRow(fold)
	return func(pe int) circuit.Value { return circuit.ElementOf(row, pe, elem) }
}

// lowParameter returns a function that returns the number of low digit d for channel pe of the word. The numbers are
// read from the table of the given name and element type unless each digit is the same for all channels.
func (o *op) lowParameter(b *circuit.Builder, f dataflow.Fold, fold circuit.Value, digits [][]int64, elem num.Type,
	name string) func(d, pe int) circuit.Value {
	if allShared(digits) {
		return func(d, _ int) circuit.Value { return b.ConstantNumber(digits[d][0]) }
	}
	row := b.AddTable(name, dataflow.CircuitStyleOf(o.Storage(f), name), elem, f.PE*len(digits), o.WordsPerVector(f),
		func() [][]int64 { return lowRows(digits, f.PE) }).ReadRow(fold)
	return func(d, pe int) circuit.Value { return circuit.ElementOf(row, d*f.PE+pe, elem) }
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

// coded returns the code of the sum in h: divided by 2^Shift, rounded, and clipped.
func (o *op) coded(h *circuit.BitHeap) circuit.Value {
	code := circuit.AssumeRange(circuit.ShiftRightRounded(h.Sum(o.sum.Range()), o.P.Shift, o.P.mode()), o.code)
	return circuit.AssumeRange(circuit.ClipToRange(code, o.limits), o.limits)
}
