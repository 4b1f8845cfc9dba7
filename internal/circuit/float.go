package circuit

import "hlsgen/internal/num"

// A Factor is a number as a multiplier takes it: a whole number times 2^Shift, or the negative of that.
type Factor struct {
	Significand Value
	Shift       Value // constant 0 of integers
	Negative    Value // a condition; constant 0 of integers, whose significand has their sign
}

// Whole is a number that is no minifloat as a factor.
func Whole(v Value) Factor { return Factor{v, v.b.Constant(0), v.b.Constant(0)} }

// FactorOf is number i of the elements of a type in a word.
func FactorOf(word Value, i int, t num.Type) Factor {
	b := word.b
	if !t.IsFloat() {
		return Whole(Element(word, i, t))
	}
	at, negative := i*t.Width, b.Constant(0)
	if t.Kind == num.Float {
		negative = Bit(word, at+t.Width-1)
	}
	pattern := func(first, n int) (list []Value) { // of the magnitude, which a negative number has inverted
		for k := range n {
			list = append(list, Raw(Differ(Bit(word, at+first+k), negative), 1))
		}
		return list
	}
	unsigned := func(bits []Value) Value {
		return Wrapped(Joined(bits...), num.Type{Kind: num.UInt, Width: len(bits)})
	}
	exponent := unsigned(pattern(t.Mantissa, t.Exponent()))
	normal := Not(Same(exponent, b.Constant(0)))
	f := Factor{Significand: unsigned(append(pattern(0, t.Mantissa), Raw(normal, 1))), Negative: negative}
	f.Shift = Kept(Difference(exponent, normal), num.Range{Hi: max(0, int64(1)<<t.Exponent()-2)})
	return f
}

// Number is a factor as a number of a range.
func (f Factor) Number(r num.Range) Value {
	b, width := f.Significand.b, num.Smallest(num.Range{Hi: max(r.Hi, -r.Lo)}).Width
	v := ShiftedBy(f.Significand, f.Shift, width)
	return Kept(Choice(f.Negative, Difference(b.Constant(0), v), v), r)
}

// ShiftedBy is v * 2^by, of which so many bits hold the magnitude.
func ShiftedBy(v, by Value, width int) Value {
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
		v = Wrapped(Choice(Bit(by, k), shiftedWithin(v, 1<<k, t), v), t)
	}
	return v
}

// shiftedWithin is v * 2^n, of which a type holds all bits that are not 0.
func shiftedWithin(v Value, n int, t num.Type) Value {
	if n >= t.Width {
		return v.b.Constant(0)
	}
	t.Width -= n
	return Shifted(Wrapped(v, t), n)
}

// AddFactors adds a product of two factors, whose magnitude so many bits hold.
func (h *Heap) AddFactors(x, y Factor, width int) {
	p := h.b.Heap()
	p.AddProduct(x.Significand, y.Significand)
	v := ShiftedBy(p.Total(product(x.Significand.Range(), y.Significand.Range())), Sum(x.Shift, y.Shift), width)
	if negative := Differ(x.Negative, y.Negative); negative.is(0) {
		h.Add(v, 0)
	} else {
		h.AddSigned(Not(negative), v)
	}
}
