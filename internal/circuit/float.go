package circuit

import "hlsgen/internal/num"

// A MultiplierOperand is a number in the form that a multiplier takes: Significand times 2^Shift, negated if Negative
// holds.
type MultiplierOperand struct {
	Significand Value
	Shift       Value // constant 0 for integers
	Negative    Value // condition; constant 0 for integers, whose significand has the sign
}

// OperandOfInteger returns an integer in the form that a multiplier takes.
func OperandOfInteger(v Value) MultiplierOperand {
	return MultiplierOperand{v, v.b.ConstantNumber(0), v.b.ConstantNumber(0)}
}

// OperandOfElement returns element i of a word, which holds elements of type t, in the form that a multiplier takes.
func OperandOfElement(word Value, i int, t num.Type) MultiplierOperand {
	b := word.b
	if !t.IsMinifloat() {
		return OperandOfInteger(ElementOf(word, i, t))
	}
	at, negative := i*t.Width, b.ConstantNumber(0)
	if t.Kind == num.KindFloat {
		negative = BitOf(word, at+t.Width-1)
	}
	pattern := func(first, n int) (list []Value) { // bits of the magnitude; a negative number stores them inverted
		for k := range n {
			list = append(list, LowBitsOf(ExclusiveOr(BitOf(word, at+first+k), negative), 1))
		}
		return list
	}
	unsigned := func(bits []Value) Value {
		return LowBitsAsType(ConcatenateWords(bits...), num.Type{Kind: num.KindUInt, Width: len(bits)})
	}
	exponent := unsigned(pattern(t.Mantissa, t.ExponentBits()))
	normal := Not(IsEqual(exponent, b.ConstantNumber(0)))
	f := MultiplierOperand{Significand: unsigned(append(pattern(0, t.Mantissa), LowBitsOf(normal, 1))),
		Negative: negative}
	f.Shift = AssumeRange(Subtract(exponent, normal), num.Range{Hi: max(0, int64(1)<<t.ExponentBits()-2)})
	return f
}

// operandValue returns the number that the operand stands for. The caller must know that it lies in range r.
func (f MultiplierOperand) operandValue(r num.Range) Value {
	b, width := f.Significand.b, num.NarrowestIntTypeFor(num.Range{Hi: max(r.Hi, -r.Lo)}).Width
	v := shiftByValue(f.Significand, f.Shift, width)
	return AssumeRange(MuxByCondition(f.Negative, Subtract(b.ConstantNumber(0), v), v), r)
}

// shiftByValue returns v * 2^by for a by that is not constant. The magnitude of the result must fit into width bits.
func shiftByValue(v, by Value, width int) Value {
	width = min(width, num.MaxTypeBits-2)
	t := num.Type{Kind: num.KindUInt, Width: width}
	if v.WideRange().Lo.Hi < 0 {
		t = num.Type{Kind: num.KindInt, Width: width + 1}
	}
	v = LowBitsAsType(v, t)
	if c, ok := by.constant(); ok {
		return shiftedWithin(v, int(c), t)
	}
	for k := range by.Width() {
		v = LowBitsAsType(MuxByCondition(BitOf(by, k), shiftedWithin(v, 1<<k, t), v), t)
	}
	return v
}

// shiftedWithin returns v * 2^n. All bits of the result that are not 0 must fit into type t.
func shiftedWithin(v Value, n int, t num.Type) Value {
	if n >= t.Width {
		return v.b.ConstantNumber(0)
	}
	t.Width -= n
	return ShiftByConstant(LowBitsAsType(v, t), n)
}

// AddOperandProduct adds the product of two operands to the sum. The product's magnitude must fit into width bits.
func (h *BitHeap) AddOperandProduct(x, y MultiplierOperand, width int) {
	p := h.b.NewBitHeap()
	p.AddProduct(x.Significand, y.Significand)
	r := checked(x.Significand.WideRange().Times(y.Significand.WideRange()))
	v := shiftByValue(p.SumInWideRange(r), SumOfTwo(x.Shift, y.Shift), width)
	if negative := ExclusiveOr(x.Negative, y.Negative); negative.is(0) {
		h.AddShifted(v, 0)
	} else {
		h.AddOrSubtract(Not(negative), v)
	}
}
