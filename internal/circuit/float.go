package circuit

import "hlsgen/internal/num"

// A Factor is a number in the form that a multiplier takes: Significand times 2^Shift, negated if Negative holds.
type Factor struct {
	Significand Value
	Shift       Value // constant 0 for integers
	Negative    Value // condition; constant 0 for integers, whose significand has the sign
}

// IntegerFactor returns an integer as the factor of a product.
func IntegerFactor(v Value) Factor { return Factor{v, v.b.Constant(0), v.b.Constant(0)} }

// FactorOf returns element i of a word, which holds elements of type t, as the factor of a product.
func FactorOf(word Value, i int, t num.Type) Factor {
	b := word.b
	if !t.IsFloat() {
		return IntegerFactor(Element(word, i, t))
	}
	at, negative := i*t.Width, b.Constant(0)
	if t.Kind == num.Float {
		negative = Bit(word, at+t.Width-1)
	}
	pattern := func(first, n int) (list []Value) { // bits of the magnitude; a negative number stores them inverted
		for k := range n {
			list = append(list, LowBits(NotEqual(Bit(word, at+first+k), negative), 1))
		}
		return list
	}
	unsigned := func(bits []Value) Value {
		return Wrapped(Joined(bits...), num.Type{Kind: num.UInt, Width: len(bits)})
	}
	exponent := unsigned(pattern(t.Mantissa, t.Exponent()))
	normal := Not(EqualTo(exponent, b.Constant(0)))
	f := Factor{Significand: unsigned(append(pattern(0, t.Mantissa), LowBits(normal, 1))), Negative: negative}
	f.Shift = AssumeRange(Difference(exponent, normal), num.Range{Hi: max(0, int64(1)<<t.Exponent()-2)})
	return f
}

// Number returns the value of a factor, which the caller knows to lie in range r.
func (f Factor) Number(r num.Range) Value {
	b, width := f.Significand.b, num.NarrowestInt(num.Range{Hi: max(r.Hi, -r.Lo)}).Width
	v := BarrelShifted(f.Significand, f.Shift, width)
	return AssumeRange(MuxByCondition(f.Negative, Difference(b.Constant(0), v), v), r)
}

// BarrelShifted returns v * 2^by for a by that is not constant. The magnitude of the result must fit into width bits.
func BarrelShifted(v, by Value, width int) Value {
	width = min(width, num.MaxWidth-2)
	t := num.Type{Kind: num.UInt, Width: width}
	if v.Range().Lo < 0 {
		t = num.Type{Kind: num.Int, Width: width + 1}
	}
	v = Wrapped(v, t)
	if c, ok := by.constant(); ok {
		return shiftedWithin(v, int(c), t)
	}
	for k := range by.Width() {
		v = Wrapped(MuxByCondition(Bit(by, k), shiftedWithin(v, 1<<k, t), v), t)
	}
	return v
}

// shiftedWithin returns v * 2^n. All bits of the result that are not 0 must fit into type t.
func shiftedWithin(v Value, n int, t num.Type) Value {
	if n >= t.Width {
		return v.b.Constant(0)
	}
	t.Width -= n
	return Shifted(Wrapped(v, t), n)
}

// AddFactors adds the product of two factors to the sum. Its magnitude must fit into width bits.
func (h *BitHeap) AddFactors(x, y Factor, width int) {
	p := h.b.NewBitHeap()
	p.AddProduct(x.Significand, y.Significand)
	r := checked(product(x.Significand.Range(), y.Significand.Range()))
	v := BarrelShifted(p.Sum(r), Sum(x.Shift, y.Shift), width)
	if negative := NotEqual(x.Negative, y.Negative); negative.is(0) {
		h.Add(v, 0)
	} else {
		h.AddSigned(Not(negative), v)
	}
}
