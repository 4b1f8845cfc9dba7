package circuit

import (
	"fmt"

	"hlsgen/internal/num"
)

// adder returns the delay in picoseconds of an adder, or a comparison, of width bits.
func adder(b *Builder, width int) int { return b.rate.LUT + width*b.rate.Carry }

// checked returns the range r of a result. It panics if ok is false, because the result leaves 64 bits.
func checked(r num.Range, ok bool) num.Range {
	if !ok {
		panic("circuit: a result leaves 64 bits")
	}
	return r
}

// Sum returns a + b.
func Sum(a, b Value) Value {
	if a.is(0) {
		return b
	}
	if b.is(0) {
		return a
	}
	r := checked(a.Range().Plus(b.Range()))
	return operation(OpAdd, 0, adder(a.b, num.NarrowestInt(r).Width), r, a, b)
}

// wrappedSum returns the lowest bits of a + b, read as type t.
func wrappedSum(a, b Value, t num.Type) Value {
	return operation(OpAdd, 0, adder(a.b, t.Width), t.Range(), a, b)
}

// Difference returns a - b.
func Difference(a, b Value) Value {
	if b.is(0) {
		return a
	}
	r := checked(a.Range().Plus(b.Range().Neg()))
	return operation(OpSubtract, 0, adder(a.b, num.NarrowestInt(r).Width), r, a, b)
}

// Negated returns -a.
func Negated(a Value) Value { return Difference(a.b.Constant(0), a) }

// Total returns the sum of one or more values. It adds them in pairs, as a balanced tree.
func Total(values ...Value) Value {
	for len(values) > 1 {
		var next []Value
		for i := 0; i+1 < len(values); i += 2 {
			next = append(next, Sum(values[i], values[i+1]))
		}
		if len(values)%2 == 1 {
			next = append(next, values[len(values)-1])
		}
		values = next
	}
	return values[0]
}

// Shifted returns a * 2^n or, if n is negative, a / 2^-n rounded down.
func Shifted(a Value, n int) Value {
	if n == 0 {
		return a
	}
	r := a.Range()
	if n > 0 {
		r = checked(r.Times(1 << n))
	} else {
		r = num.Range{Lo: r.Lo >> -n, Hi: r.Hi >> -n}
	}
	return operation(OpShift, n, 0, r, a)
}

// MultiplyByConstant returns a * m. It uses shifts and as few additions as the digits of m allow.
func MultiplyByConstant(a Value, m int64) Value {
	if c, ok := a.constant(); ok {
		return a.b.Constant(c * m)
	}
	var add, take []Value
	for _, d := range num.Digits(m) {
		if d.Negative {
			take = append(take, Shifted(a, d.Weight))
		} else {
			add = append(add, Shifted(a, d.Weight))
		}
	}
	switch {
	case len(add)+len(take) == 0:
		return a.b.Constant(0)
	case len(add) == 0:
		return Negated(Total(take...))
	case len(take) == 0:
		return Total(add...)
	}
	return Difference(Total(add...), Total(take...))
}

// MultiplierLatency is the latency of a device's multiplier in clocks: one to take the operands, one to multiply, one
// to register the product.
const MultiplierLatency = 3

// The least bits of the factors and of the product of a device's multiplier. For fewer bits, tools use LUTs. Yosys does
// so for products below 9 bits on AMD's devices and the ECP5, and below 11 bits on the iCE40.
const (
	leastFactor  = 6
	leastProduct = 11
)

// MultiplierWidths returns the widths of the multiplier for a product: its two signed factors and the whole product.
// Bits beyond those of the values are copies of the sign.
func (m *Module) MultiplierWidths(product *Node) (factors [2]int, whole int) {
	for i, a := range product.Args {
		n := &m.Nodes[a]
		if factors[i] = n.Width; !n.Signed {
			factors[i]++
		}
		factors[i] = max(factors[i], leastFactor)
	}
	return factors, max(product.Width, leastProduct)
}

// Product returns a * b, computed by a multiplier of the device, MultiplierLatency clocks later. If products may leave
// 64 bits, it is wrapped to these.
func Product(a, b Value) Value {
	at, stage, _ := together(0, a, b)
	r, ok := product(a.Range(), b.Range())
	if !ok {
		r = num.Type{Kind: num.Int, Width: num.MaxWidth}.Range()
	}
	if stage == ConstantStage {
		return a.b.Constant(r.Lo)
	}
	return a.b.number(Node{Op: OpMultiply, Args: ids(at), K: MultiplierLatency, Stage: stage + MultiplierLatency}, r)
}

// product returns the range of the product of numbers in two ranges. ok is false if that leaves 64 bits.
func product(a, b num.Range) (r num.Range, ok bool) {
	lo, ok1 := a.Times(b.Lo)
	hi, ok2 := a.Times(b.Hi)
	return lo.Union(hi), ok1 && ok2
}

// AssumeRange returns a as a number in the range r, in which the caller knows it to lie.
func AssumeRange(a Value, r num.Range) Value {
	if a.Range().Within(r) {
		return a
	}
	if r.Lo == r.Hi {
		return a.b.Constant(r.Lo)
	}
	t := num.NarrowestInt(r)
	v := Wrapped(a, t)
	if v.Range() == r {
		return v
	}
	return operation(OpWrap, 0, 0, r, v) // the same bits with a smaller range
}

// Wrapped returns the lowest bits of a number or word, read as type t. The type must not be bipolar.
func Wrapped(a Value, t num.Type) Value {
	if t.Kind == num.Bipolar {
		panic("circuit: a sign is no number of one bit")
	}
	if !a.node().Word && a.Range().Within(t.Range()) {
		return a
	}
	if t.Width > a.Width() && a.node().Word {
		panic(fmt.Sprintf("circuit: %d bits of a word of %d", t.Width, a.Width()))
	}
	if c, ok := literal(a); ok {
		return a.b.Constant(t.Decode(c))
	}
	return operation(OpWrap, 0, 0, t.Range(), a)
}

// GreaterThan returns the condition a > b.
func GreaterThan(a, b Value) Value {
	switch {
	case a.Range().Lo > b.Range().Hi:
		return a.b.Constant(1)
	case a.Range().Hi <= b.Range().Lo:
		return a.b.Constant(0)
	}
	width := num.NarrowestInt(a.Range().Union(b.Range())).Width
	logic := adder(a.b, width)
	if width <= a.b.rate.Inputs/2 {
		logic = a.b.rate.LUT
	}
	return operation(OpLess, 0, logic, condition, b, a)
}

// EqualTo returns the condition a == b.
func EqualTo(a, b Value) Value {
	if a.Range().Lo > b.Range().Hi || a.Range().Hi < b.Range().Lo {
		return a.b.Constant(0)
	}
	if c, ok := a.constant(); ok && b.is(c) {
		return a.b.Constant(1)
	}
	width := num.NarrowestInt(a.Range().Union(b.Range())).Width
	operands := 2
	if _, ok := b.constant(); ok {
		operands = 1
	}
	logic := a.b.rate.LUT
	for n := width * operands; n > a.b.rate.Inputs; n = (n + a.b.rate.Inputs - 1) / a.b.rate.Inputs {
		logic += a.b.rate.LUT
	}
	return operation(OpEqual, 0, logic, condition, a, b)
}

// Maximum returns the greater of two numbers.
func Maximum(a, b Value) Value {
	r := num.Range{Lo: max(a.Range().Lo, b.Range().Lo), Hi: max(a.Range().Hi, b.Range().Hi)}
	return AssumeRange(MuxByCondition(GreaterThan(a, b), a, b), r)
}

// Minimum returns the smaller of two numbers.
func Minimum(a, b Value) Value {
	r := num.Range{Lo: min(a.Range().Lo, b.Range().Lo), Hi: min(a.Range().Hi, b.Range().Hi)}
	return AssumeRange(MuxByCondition(GreaterThan(a, b), b, a), r)
}

// Clipped returns the number in range r that is nearest to a.
func Clipped(a Value, r num.Range) Value {
	switch of := a.Range(); {
	case of.Within(r):
		return a
	case of.Hi <= r.Lo:
		return a.b.Constant(r.Lo)
	case of.Lo >= r.Hi:
		return a.b.Constant(r.Hi)
	}
	if t := num.NarrowestInt(r); t.Range() == r && a.node().Op != OpConstant {
		return saturated(a, t)
	}
	v := a
	if a.Range().Lo < r.Lo {
		v = Maximum(a, a.b.Constant(r.Lo))
	}
	if hi := a.b.Constant(r.Hi); v.Range().Hi > r.Hi {
		// compare both at once
		v = AssumeRange(MuxByCondition(GreaterThan(a, hi), hi, v), num.Range{Lo: v.Range().Lo, Hi: r.Hi})
	}
	return v
}

// saturated returns the value of type t that is nearest to a. a fits into t exactly if all bits from the type's highest
// bit on equal the sign.
func saturated(a Value, t num.Type) Value {
	r, negative := t.Range(), IsNegative(a)
	first := t.Width
	if t.Signed() {
		first--
	}
	var above []Value
	for i := first; i < a.Width(); i++ {
		bit := Bit(a, i)
		if t.Signed() {
			bit = NotEqual(bit, negative)
		} else if a.node().Signed && i == a.Width()-1 {
			break
		}
		above = append(above, bit)
	}
	leaves, most := a.b.Any(above...), a.b.Constant(r.Hi)
	low := a
	if a.Width() > t.Width {
		low = Wrapped(a, t)
	}
	least := a.b.Constant(r.Lo)
	if t.Signed() {
		low = MuxByCondition(leaves, MuxByCondition(negative, least, most), low)
	} else {
		low = MuxByCondition(negative, least, MuxByCondition(leaves, most, low))
	}
	return AssumeRange(low, num.Range{Lo: max(r.Lo, a.Range().Lo), Hi: min(r.Hi, a.Range().Hi)})
}

// Rounded returns a / 2^shift, rounded by the given mode.
func Rounded(a Value, shift int, mode num.Rounding) Value {
	if shift == 0 {
		return a
	}
	floor := Shifted(a, -shift)
	if mode == num.Floor {
		return floor
	}
	rest := Wrapped(a, num.Type{Kind: num.UInt, Width: shift})
	negative, half := IsNegative(a), a.b.Constant(1<<(shift-1))
	var up Value
	switch mode {
	case num.Ceil:
		up = Not(EqualTo(rest, a.b.Constant(0)))
	case num.TowardZero:
		up = All(negative, Not(EqualTo(rest, a.b.Constant(0))))
	case num.AwayFromZero:
		up = All(Not(negative), Not(EqualTo(rest, a.b.Constant(0))))
	case num.HalfUp:
		if up = a.b.Constant(0); shift <= rest.Width() {
			up = Bit(rest, shift-1)
		}
	case num.HalfTowardZero:
		up = Any(GreaterThan(rest, half), All(negative, EqualTo(rest, half)))
	case num.HalfAway:
		up = Any(GreaterThan(rest, half), All(Not(negative), EqualTo(rest, half)))
	case num.HalfEven:
		up = Any(GreaterThan(rest, half), All(Bit(floor, 0), EqualTo(rest, half)))
	default:
		panic("circuit: unknown rounding " + string(mode))
	}
	r := num.Range{Lo: mode.Quotient(a.Range().Lo, shift), Hi: mode.Quotient(a.Range().Hi, shift)}
	return AssumeRange(Sum(floor, up), r)
}

// IsNegative returns the condition a < 0.
func IsNegative(a Value) Value {
	switch r := a.Range(); {
	case r.Lo >= 0:
		return a.b.Constant(0)
	case r.Hi < 0:
		return a.b.Constant(1)
	}
	return Bit(a, a.Width()-1)
}

// Requantised returns a times the multiplier of q, divided by 2^Shift, rounded and clipped.
func Requantised(a Value, q num.Requant) Value {
	return RequantisedProduct(MultiplyByConstant(a, q.Multiplier), q)
}

// RequantisedProduct returns what Requantised does, given the product with the multiplier of q: it divides by 2^Shift,
// rounds and clips.
func RequantisedProduct(product Value, q num.Requant) Value {
	return Clipped(Rounded(product, q.Shift, q.Mode), num.Range{Lo: q.Lo, Hi: q.Hi})
}
