package mac

import (
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A MultiplierFactor is the type and range of one operand of a multiplication.
type MultiplierFactor struct {
	Elem  num.Type
	Range num.Range
}

// WeightFactorOf returns the type and range of a factor that has the given values.
func WeightFactorOf(values []int64) MultiplierFactor {
	r := rowOf(values, nil, []num.Range{{}})
	return MultiplierFactor{narrowest([]*row{&r}), r.span}
}

// StoredBitsPerValue returns the bits per value in a table of these values that is long enough for codes to pay.
func (f MultiplierFactor) StoredBitsPerValue(values []int64) int {
	if c := num.CodingOf(f.Elem, values); c != nil {
		return c.Code.Width
	}
	return f.Elem.Width
}

// A Multiplication is a single product of a weight and an input, which is added up in the given number of bits.
type Multiplication struct {
	u    *Unit
	bits int
}

// NewMultiplication returns the multiplication of the weight w and the input x. bits may exceed the width that a
// layer's accumulator may have.
func NewMultiplication(w, x MultiplierFactor, bits int) Multiplication {
	u := &Unit{Weight: w.Elem, in: x.Elem, span: w.Range, inputs: x.Range, dots: new(circuit.FunctionLibrary),
		length: 1}
	lo, ok1 := x.Range.TimesConstant(w.Range.Lo)
	hi, ok2 := x.Range.TimesConstant(w.Range.Hi)
	if u.raw = lo.Union(hi); !ok1 || !ok2 {
		u.raw = num.Type{Kind: num.KindInt, Width: num.MaxTypeBits}.Range()
	}
	u.product, u.Acc = u.raw, num.Type{Kind: num.KindInt, Width: min(bits, maxAccBits)}
	return Multiplication{u, bits}
}

// KernelCost returns the cost of the multiplication in the C++ kernel, in LUTs, by the fitted formula for layers.
func (o Multiplication) KernelCost(f cost.Fabric) []cost.CostPart {
	return cost.MVAUShape{MW: 1, MH: 1, PE: 1, SIMD: 1, WeightBits: o.u.Weight.Width, InBits: o.u.in.Width,
		AccBits: o.bits,
		Factors: MinifloatProductOf(o.u), Fabric: f}.FittedArithmeticCost()
}

// CircuitCost returns the cost of the circuit that Multiplication.Circuit returns for n products. ok is false if there
// is no such circuit.
func (o Multiplication) CircuitCost(f cost.Fabric, rate circuit.TimingModel, n int) (parts []cost.CostPart, ok bool) {
	m, ok := o.Circuit(rate, n)
	if !ok {
		return nil, false
	}
	return luts.EstimateCircuitCost(m, f), true
}

// Circuit returns the multiplication as a layer by itself: weights and inputs arrive, and the sum of n products
// leaves. ok is false if sums have more bits than an accumulator may have.
func (o Multiplication) Circuit(rate circuit.TimingModel, n int) (m *circuit.Module, ok bool) {
	if o.bits > maxAccBits || floats(o.u) && rawBits(o.u) >= maxAccBits {
		return nil, false
	}
	b := circuit.NewBuilder(rate)
	always := b.ConstantNumber(1)
	at := b.AddCounter("at", n, always)
	x, w := b.AddInputStream(o.u.in.Width, always), b.AddInputStream(o.u.Weight.Width, always)
	unit := o.u.NewCircuitBuilder(b, dataflow.Fold{PE: 1, SIMD: 1, Compute: dataflow.MultiplierInLUTs},
		cost.DSPPacking{}, 1)
	y := unit.ChannelOutputs(func(int) circuit.Value { return x }, w, at.First, b.ConstantNumber(0))
	b.AddOutputStream(circuit.PackIntoWord(o.u.Acc, y...), at.Last)
	return b.FinishLayer(), true
}
