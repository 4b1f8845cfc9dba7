package circuit

import (
	"fmt"

	"hlsgen/internal/num"
)

// adder returns the delay in picoseconds of an adder, or a comparison, of width bits.
func adder(b *Builder, width int) int { return b.rate.LUT + b.rate.Chain + width*b.rate.Carry }

// checked returns r, the range of a result. It panics if ok is false, that is, if the result may not fit into 128 bits.
func checked(r num.WideRange, ok bool) num.WideRange {
	if !ok {
		panic("circuit: a result leaves 128 bits")
	}
	return r
}

// SumOfTwo returns a + b. It panics if the sum may not fit into 128 bits.
func SumOfTwo(a, b Value) Value {
	if a.is(0) {
		return b
	}
	if b.is(0) {
		return a
	}
	r := checked(a.WideRange().Plus(b.WideRange()))
	return operation(OpAdd, 0, adder(a.b, r.NarrowestIntType().Width), r, a, b)
}

// wrappedSum returns the lowest bits of a + b, read as type t.
func wrappedSum(a, b Value, t num.Type) Value {
	return operation(OpAdd, 0, adder(a.b, t.Width), t.WideRange(), a, b)
}

// Subtract returns a - b. It panics if the difference may not fit into 128 bits.
func Subtract(a, b Value) Value {
	if b.is(0) {
		return a
	}
	r := checked(a.WideRange().Minus(b.WideRange()))
	return operation(OpSubtract, 0, adder(a.b, r.NarrowestIntType().Width), r, a, b)
}

// Negate returns -a. It panics if that may not fit into 128 bits.
func Negate(a Value) Value { return Subtract(a.b.ConstantNumber(0), a) }

// SumAsTree returns the sum of one or more values. It adds them in pairs, as a balanced tree. It panics if a partial
// sum may not fit into 128 bits.
func SumAsTree(values ...Value) Value {
	for len(values) > 1 {
		var next []Value
		for i := 0; i+1 < len(values); i += 2 {
			next = append(next, SumOfTwo(values[i], values[i+1]))
		}
		if len(values)%2 == 1 {
			next = append(next, values[len(values)-1])
		}
		values = next
	}
	return values[0]
}

// ShiftByConstant returns a * 2^n or, if n is negative, a / 2^-n rounded down. It panics if the result may not fit into
// 128 bits.
func ShiftByConstant(a Value, n int) Value {
	if n == 0 {
		return a
	}
	return operation(OpShiftByConstant, n, 0, checked(a.WideRange().Shifted(n)), a)
}

// SumWithShifted returns a + b*2^n, or a - b*2^n if minus holds. The lowest n bits are those of a, and take no adder.
// All ranges must fit into 63 bits.
func SumWithShifted(a, b Value, n int, minus bool) Value {
	high, one := ShiftByConstant(a, -n), SumOfTwo
	if minus {
		one = Subtract
	}
	switch r := high.Range(); {
	case r != num.Range{}:
		high = one(high, b)
	case minus:
		high = Negate(b)
	default:
		high = b
	}
	if n == 0 {
		return high
	}
	return aboveBits(a, high, n)
}

// An Addend is a number times 2^Shift that a sum adds or, if Minus holds, subtracts.
type Addend struct {
	Value Value
	Shift int
	Minus bool
}

// MostOperandsOfAdder returns the number of operands that an adder of the circuit's device adds at once: 2 or 3.
func MostOperandsOfAdder(b *Builder) int {
	if b.rate.ThreeCarry > 0 {
		return 3
	}
	return 2
}

// SumOfThree returns the sum of a and two addends, which lies in r, by an adder of three operands. The device must have
// them (MostOperandsOfAdder). The lowest bits that a has alone take no adder. All ranges must fit into 63 bits.
func SumOfThree(a Value, x, y Addend, r num.Range) Value {
	low := min(x.Shift, y.Shift)
	operands := []Value{ShiftByConstant(a, -low), ShiftByConstant(x.Value, x.Shift-low),
		ShiftByConstant(y.Value, y.Shift-low)}
	k := a.b.rate.ThreeCarry << carryCellAt
	for i, minus := range []bool{x.Minus, y.Minus} {
		if minus {
			k |= 2 << i
		}
	}
	high := num.Range{Lo: r.Lo >> low, Hi: r.Hi >> low}
	logic := a.b.rate.LUT + adder(a.b, num.NarrowestIntTypeFor(high).Width)
	sum := operation(OpSumOfThree, k, logic, high.Wide(), operands...)
	if low == 0 {
		return sum
	}
	return AssumeRange(aboveBits(a, sum, low), r)
}

// aboveBits returns the number that has the lowest n bits of low, and high above them.
func aboveBits(low, high Value, n int) Value {
	r := high.Range()
	whole := num.NarrowestIntTypeFor(num.Range{Lo: r.Lo << n, Hi: r.Hi<<n + 1<<n - 1})
	return LowBitsAsType(ConcatenateWords(LowBitsOf(low, n), LowBitsOf(high, whole.Width-n)), whole)
}

// MultiplyByConstant returns a * m. It uses shifts, and as few additions and subtractions as the signed digits of m
// allow. It panics if one of their results may not fit into 128 bits.
func MultiplyByConstant(a Value, m int64) Value { return MultiplyByWide(a, num.WideOf(m)) }

// MultiplyByWide does what MultiplyByConstant does, for a factor of up to 128 bits.
func MultiplyByWide(a Value, m num.Wide) Value {
	if c, ok := a.wideConstant(); ok {
		return WideConstant(a.b, checked(num.WideRange{Lo: c, Hi: c}.Times(num.WideRange{Lo: m, Hi: m})).Lo)
	}
	var add, take []Value
	for _, d := range num.SignedDigitsOfWide(m) {
		if d.Negative {
			take = append(take, ShiftByConstant(a, d.Weight))
		} else {
			add = append(add, ShiftByConstant(a, d.Weight))
		}
	}
	switch {
	case len(add)+len(take) == 0:
		return a.b.ConstantNumber(0)
	case len(add) == 0:
		return Negate(SumAsTree(take...))
	case len(take) == 0:
		return SumAsTree(add...)
	}
	return Subtract(SumAsTree(add...), SumAsTree(take...))
}

// MultiplierLatencyClocks is the latency of a device's multiplier in clocks: one to take the operands, one to multiply,
// one to register the product.
const MultiplierLatencyClocks = 3

// The least widths, in bits, with which tools put a product into a device's multiplier: of each factor and of the
// product. Narrower ones go into LUTs. Yosys does so for products below 9 bits on AMD's devices and the ECP5, and below
// 11 bits on the iCE40.
const (
	leastFactor  = 6
	leastProduct = 11
)

// MultiplierWidthsOfProduct returns the widths of the multiplier for a product: its two signed factors and the whole
// product. Bits beyond those of the values are copies of the sign.
func (m *Module) MultiplierWidthsOfProduct(product *Node) (factors [2]int, whole int) {
	for i, a := range product.Args {
		n := &m.Nodes[a]
		if factors[i] = n.Width; !n.Signed {
			factors[i]++
		}
		factors[i] = max(factors[i], leastFactor)
	}
	return factors, max(product.Width, leastProduct)
}

// MultiplyInDSP returns a * b, computed by a multiplier of the device, MultiplierLatencyClocks clocks later. The
// product of two constants is a constant. It panics if the product may not fit into 128 bits.
func MultiplyInDSP(a, b Value) Value {
	return multiply(a, b, checked(a.WideRange().Times(b.WideRange())))
}

// MultiplyInDSPWithin does what MultiplyInDSP does. If the product may leave the type t, the result is its lowest bits,
// read as t.
func MultiplyInDSPWithin(a, b Value, t num.Type) Value {
	r, ok := a.WideRange().Times(b.WideRange())
	if whole := t.WideRange(); !ok || !r.IsWithin(whole) {
		r = whole
	}
	return multiply(a, b, r)
}

// multiply returns the lowest bits of a * b as a number in range r, computed by a multiplier of the device.
func multiply(a, b Value, r num.WideRange) Value {
	at, stage, _ := together(0, a, b)
	if stage == ConstantStage {
		return WideConstant(a.b, r.Lo)
	}
	return a.b.number(Node{Op: OpMultiply, Args: ids(at), K: MultiplierLatencyClocks, Stage: stage +
		MultiplierLatencyClocks}, r)
}

// AssumeRange returns a as a number in the range r. The caller must know that a lies there.
func AssumeRange(a Value, r num.Range) Value { return AssumeWideRange(a, r.Wide()) }

// AssumeWideRange does what AssumeRange does, for a range of up to 128 bits.
func AssumeWideRange(a Value, r num.WideRange) Value {
	if a.WideRange().IsWithin(r) {
		return a
	}
	if r.Lo == r.Hi {
		return WideConstant(a.b, r.Lo)
	}
	v := LowBitsAsType(a, r.NarrowestIntType())
	if v.WideRange() == r {
		return v
	}
	return operation(OpLowBitsAsNumber, 0, 0, r, v) // the same bits with a smaller range
}

// LowBitsAsType returns the lowest bits of a number or word, read as type t. The type must not be bipolar. An integer
// type may have up to 128 bits.
func LowBitsAsType(a Value, t num.Type) Value {
	if t.Kind == num.KindBipolar {
		panic("circuit: a sign is no number of one bit")
	}
	if !a.node().Word && a.WideRange().IsWithin(t.WideRange()) {
		return a
	}
	if t.Width > a.Width() && a.node().Word {
		panic(fmt.Sprintf("circuit: %d bits of a word of %d", t.Width, a.Width()))
	}
	if c, ok := literal(a); ok {
		if t.IsMinifloat() {
			return a.b.ConstantNumber(t.DecodeBits(c.Lo))
		}
		return WideConstant(a.b, c.LowBits(t.Width, t.IsSigned()))
	}
	return operation(OpLowBitsAsNumber, 0, 0, t.WideRange(), a)
}

// IsGreater returns the condition a > b: 1 if it holds, otherwise 0.
func IsGreater(a, b Value) Value {
	of, than := a.WideRange(), b.WideRange()
	switch {
	case than.Hi.Less(of.Lo):
		return a.b.ConstantNumber(1)
	case !than.Lo.Less(of.Hi):
		return a.b.ConstantNumber(0)
	}
	width := of.Union(than).NarrowestIntType().Width
	logic := adder(a.b, width)
	if width <= a.b.rate.Inputs/2 {
		logic = a.b.rate.LUT
	}
	return test(OpLess, logic, b, a)
}

// IsEqual returns the condition a == b.
func IsEqual(a, b Value) Value {
	of, with := a.WideRange(), b.WideRange()
	if with.Hi.Less(of.Lo) || of.Hi.Less(with.Lo) {
		return a.b.ConstantNumber(0)
	}
	if of == with && of.Lo == of.Hi {
		return a.b.ConstantNumber(1)
	}
	width := of.Union(with).NarrowestIntType().Width
	operands := 2
	if with.Lo == with.Hi {
		operands = 1
	}
	logic := a.b.rate.LUT
	for n := width * operands; n > a.b.rate.Inputs; n = (n + a.b.rate.Inputs - 1) / a.b.rate.Inputs {
		logic += a.b.rate.LUT
	}
	return test(OpEqual, logic, a, b)
}

// GreaterOf returns the greater of two numbers.
func GreaterOf(a, b Value) Value {
	x, y := a.WideRange(), b.WideRange()
	r := num.WideRange{Lo: num.GreaterWide(x.Lo, y.Lo), Hi: num.GreaterWide(x.Hi, y.Hi)}
	return AssumeWideRange(MuxByCondition(IsGreater(a, b), a, b), r)
}

// LesserOf returns the smaller of two numbers.
func LesserOf(a, b Value) Value {
	x, y := a.WideRange(), b.WideRange()
	r := num.WideRange{Lo: num.LesserWide(x.Lo, y.Lo), Hi: num.LesserWide(x.Hi, y.Hi)}
	return AssumeWideRange(MuxByCondition(IsGreater(a, b), b, a), r)
}

// ClipToRange returns the number in range r that is nearest to a.
func ClipToRange(a Value, r num.Range) Value { return ClipToWideRange(a, r.Wide()) }

// ClipToWideRange does what ClipToRange does, for a range of up to 128 bits.
func ClipToWideRange(a Value, r num.WideRange) Value {
	switch of := a.WideRange(); {
	case of.IsWithin(r):
		return a
	case !r.Lo.Less(of.Hi):
		return WideConstant(a.b, r.Lo)
	case !of.Lo.Less(r.Hi):
		return WideConstant(a.b, r.Hi)
	}
	if t := r.NarrowestIntType(); t.WideRange() == r && a.node().Op != OpConstant {
		return saturated(a, t)
	}
	v := a
	if a.WideRange().Lo.Less(r.Lo) {
		v = GreaterOf(a, WideConstant(a.b, r.Lo))
	}
	if hi := WideConstant(a.b, r.Hi); r.Hi.Less(v.WideRange().Hi) {
		// compare both at once
		v = AssumeWideRange(MuxByCondition(IsGreater(a, hi), hi, v), num.WideRange{Lo: v.WideRange().Lo, Hi: r.Hi})
	}
	return v
}

// saturated returns the value of type t that is nearest to a. It compares the bits of a from the type's highest bit on
// with the sign: a fits into t exactly if they are equal.
func saturated(a Value, t num.Type) Value {
	r, negative := t.WideRange(), IsNegative(a)
	first := t.Width
	if t.IsSigned() {
		first--
	}
	var above []Value
	for i := first; i < a.Width(); i++ {
		bit := BitOf(a, i)
		if t.IsSigned() {
			bit = ExclusiveOr(bit, negative)
		} else if a.node().Signed && i == a.Width()-1 {
			break
		}
		above = append(above, bit)
	}
	leaves, most := a.b.AnyHolds(above...), WideConstant(a.b, r.Hi)
	low := a
	if a.Width() > t.Width {
		low = LowBitsAsType(a, t)
	}
	least := WideConstant(a.b, r.Lo)
	if t.IsSigned() {
		low = MuxByCondition(leaves, MuxByCondition(negative, least, most), low)
	} else {
		low = MuxByCondition(negative, least, MuxByCondition(leaves, most, low))
	}
	of := a.WideRange()
	return AssumeWideRange(low, num.WideRange{Lo: num.GreaterWide(r.Lo, of.Lo), Hi: num.LesserWide(r.Hi, of.Hi)})
}

// ShiftRightRounded returns a / 2^shift, rounded by the given mode.
func ShiftRightRounded(a Value, shift int, mode num.Rounding) Value {
	if shift == 0 {
		return a
	}
	floor := ShiftByConstant(a, -shift)
	if mode == num.RoundingFloor {
		return floor
	}
	rest := LowBitsAsType(a, num.Type{Kind: num.KindUInt, Width: shift})
	negative, half := IsNegative(a), WideConstant(a.b, num.Wide{Lo: 1}.Shifted(shift-1))
	var up Value
	switch mode {
	case num.RoundingCeil:
		up = Not(IsEqual(rest, a.b.ConstantNumber(0)))
	case num.RoundingTowardZero:
		up = AllHold(negative, Not(IsEqual(rest, a.b.ConstantNumber(0))))
	case num.RoundingAwayFromZero:
		up = AllHold(Not(negative), Not(IsEqual(rest, a.b.ConstantNumber(0))))
	case num.RoundingHalfUp:
		if up = a.b.ConstantNumber(0); shift <= rest.Width() {
			up = BitOf(rest, shift-1)
		}
	case num.RoundingHalfTowardZero:
		up = AnyHolds(IsGreater(rest, half), AllHold(negative, IsEqual(rest, half)))
	case num.RoundingHalfAwayFromZero:
		up = AnyHolds(IsGreater(rest, half), AllHold(Not(negative), IsEqual(rest, half)))
	case num.RoundingHalfEven:
		up = AnyHolds(IsGreater(rest, half), AllHold(BitOf(floor, 0), IsEqual(rest, half)))
	default:
		panic("circuit: unknown rounding " + string(mode))
	}
	r := a.WideRange()
	r.Lo, r.Hi = mode.DivideWideByPowerOfTwo(r.Lo, shift), mode.DivideWideByPowerOfTwo(r.Hi, shift)
	return AssumeWideRange(SumOfTwo(floor, up), r)
}

// IsNegative returns the condition a < 0.
func IsNegative(a Value) Value {
	switch r := a.WideRange(); {
	case r.Lo.Hi >= 0:
		return a.b.ConstantNumber(0)
	case r.Hi.Hi < 0:
		return a.b.ConstantNumber(1)
	}
	return BitOf(a, a.Width()-1)
}

// Requantise returns a times the multiplier of q, divided by 2^Shift, rounded and clipped.
func Requantise(a Value, q num.Requant) Value {
	return RequantiseProduct(MultiplyByConstant(a, q.Multiplier), q)
}

// RequantiseProduct returns the result of Requantise for a number of which product is the product with the multiplier
// of q. It divides product by 2^Shift, rounds and clips.
func RequantiseProduct(product Value, q num.Requant) Value {
	return ClipToRange(ShiftRightRounded(product, q.Shift, q.Mode), num.Range{Lo: q.Lo, Hi: q.Hi})
}
