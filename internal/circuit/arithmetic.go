package circuit

import (
	"fmt"

	"hlsgen/internal/num"
)

// adder is the logic of an adder, or a comparison, of so many bits.
func adder(b *Builder, width int) int { return b.rate.LUT + width*b.rate.Carry }

// checked is the range of a result; 64 bits hold it.
func checked(r num.Range, ok bool) num.Range {
	if !ok {
		panic("circuit: a result leaves 64 bits")
	}
	return r
}

// Sum is a + b.
func Sum(a, b Value) Value {
	if a.is(0) {
		return b
	}
	if b.is(0) {
		return a
	}
	r := checked(a.Range().Plus(b.Range()))
	return operation(Add, 0, adder(a.b, num.Smallest(r).Width), r, a, b)
}

// Difference is a - b.
func Difference(a, b Value) Value {
	if b.is(0) {
		return a
	}
	r := checked(a.Range().Plus(b.Range().Neg()))
	return operation(Sub, 0, adder(a.b, num.Smallest(r).Width), r, a, b)
}

// Negative is -a.
func Negative(a Value) Value { return Difference(a.b.Constant(0), a) }

// Total is the sum of numbers, two by two. There is one at least.
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

// Shifted is a * 2^n, or where n is negative a / 2^-n rounded down.
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
	return operation(Shift, n, 0, r, a)
}

// Times is a * m, by shifts and as few sums as the digits of m allow.
func Times(a Value, m int64) Value {
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
		return Negative(Total(take...))
	case len(take) == 0:
		return Total(add...)
	}
	return Difference(Total(add...), Total(take...))
}

// Device is the clocks of a multiplier of the device: one to take the operands, one for the product, one to give it.
const Device = 3

// Least bits of the factors and of the product that a multiplier of the device has: of fewer, tools make lookup tables
// (Yosys of products of less than 9 bits on AMD's devices and an ECP5, of less than 11 on an iCE40).
const (
	leastFactor  = 6
	leastProduct = 11
)

// Multiplied is the bits that the multiplier of a product has: its factors with their signs, and what it gives. More
// than are asked for are copies of a sign.
func (m *Module) Multiplied(product *Node) (factors [2]int, whole int) {
	for i, a := range product.Args {
		n := &m.Nodes[a]
		if factors[i] = n.Width; !n.Signed {
			factors[i]++
		}
		factors[i] = max(factors[i], leastFactor)
	}
	return factors, max(product.Width, leastProduct)
}

// Product is a * b by a multiplier of the device.
func Product(a, b Value) Value {
	at, stage, _ := together(0, a, b)
	r := product(a.Range(), b.Range())
	if stage == Always {
		return a.b.Constant(r.Lo)
	}
	return a.b.number(Node{Op: Multiply, Args: ids(at), K: Device, Stage: stage + Device}, r)
}

// product is the range of a product.
func product(a, b num.Range) num.Range {
	lo, ok1 := a.Times(b.Lo)
	hi, ok2 := a.Times(b.Hi)
	return checked(lo.Union(hi), ok1 && ok2)
}

// Kept is a number of which it is known that it lies in a range.
func Kept(a Value, r num.Range) Value {
	if a.Range().Within(r) {
		return a
	}
	if r.Lo == r.Hi {
		return a.b.Constant(r.Lo)
	}
	t := num.Smallest(r)
	v := Wrapped(a, t)
	if v.Range() == r {
		return v
	}
	return operation(Wrap, 0, 0, r, v) // the same bits
}

// Wrapped is the lowest bits of a number or word, read as a type that is not bipolar.
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
	return operation(Wrap, 0, 0, t.Range(), a)
}

// Exceeds is whether a > b.
func Exceeds(a, b Value) Value {
	switch {
	case a.Range().Lo > b.Range().Hi:
		return a.b.Constant(1)
	case a.Range().Hi <= b.Range().Lo:
		return a.b.Constant(0)
	}
	width := num.Smallest(a.Range().Union(b.Range())).Width
	logic := adder(a.b, width)
	if width <= a.b.rate.Inputs/2 {
		logic = a.b.rate.LUT
	}
	return operation(Less, 0, logic, condition, b, a)
}

// Same is whether a == b.
func Same(a, b Value) Value {
	if a.Range().Lo > b.Range().Hi || a.Range().Hi < b.Range().Lo {
		return a.b.Constant(0)
	}
	if c, ok := a.constant(); ok && b.is(c) {
		return a.b.Constant(1)
	}
	width := num.Smallest(a.Range().Union(b.Range())).Width
	operands := 2
	if _, ok := b.constant(); ok {
		operands = 1
	}
	logic := a.b.rate.LUT
	for n := width * operands; n > a.b.rate.Inputs; n = (n + a.b.rate.Inputs - 1) / a.b.rate.Inputs {
		logic += a.b.rate.LUT
	}
	return operation(Equal, 0, logic, condition, a, b)
}

// Greatest is the greater of two numbers.
func Greatest(a, b Value) Value {
	r := num.Range{Lo: max(a.Range().Lo, b.Range().Lo), Hi: max(a.Range().Hi, b.Range().Hi)}
	return Kept(Choice(Exceeds(a, b), a, b), r)
}

// Least is the less of two numbers.
func Least(a, b Value) Value {
	r := num.Range{Lo: min(a.Range().Lo, b.Range().Lo), Hi: min(a.Range().Hi, b.Range().Hi)}
	return Kept(Choice(Exceeds(a, b), b, a), r)
}

// Clipped is the number of a range that is nearest to a. Where the range is that of a type, the bits above it say
// whether a leaves it.
func Clipped(a Value, r num.Range) Value {
	if a.Range().Within(r) {
		return a
	}
	if t := num.Smallest(r); t.Range() == r && a.node().Op != Const {
		return saturated(a, t)
	}
	v := a
	if a.Range().Lo < r.Lo {
		v = Greatest(a, a.b.Constant(r.Lo))
	}
	if hi := a.b.Constant(r.Hi); v.Range().Hi > r.Hi {
		v = Kept(Choice(Exceeds(a, hi), hi, v), num.Range{Lo: v.Range().Lo, Hi: r.Hi}) // both compare at once
	}
	return v
}

// saturated is a, clipped to a type: bits from the type's highest one on are those of the sign, unless a leaves it.
func saturated(a Value, t num.Type) Value {
	r, negative := t.Range(), Negativity(a)
	first := t.Width
	if t.Signed() {
		first--
	}
	var above []Value
	for i := first; i < a.Width(); i++ {
		bit := Bit(a, i)
		if t.Signed() {
			bit = Differ(bit, negative)
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
		low = Choice(leaves, Choice(negative, least, most), low)
	} else {
		low = Choice(negative, least, Choice(leaves, most, low))
	}
	return Kept(low, num.Range{Lo: max(r.Lo, a.Range().Lo), Hi: min(r.Hi, a.Range().Hi)})
}

// Rounded is a / 2^shift, rounded as the mode says.
func Rounded(a Value, shift int, mode num.Rounding) Value {
	if shift == 0 {
		return a
	}
	floor := Shifted(a, -shift)
	if mode == num.Floor {
		return floor
	}
	rest := Wrapped(a, num.Type{Kind: num.UInt, Width: shift})
	negative, half := Negativity(a), a.b.Constant(1<<(shift-1))
	var up Value
	switch mode {
	case num.Ceil:
		up = Not(Same(rest, a.b.Constant(0)))
	case num.TowardZero:
		up = All(negative, Not(Same(rest, a.b.Constant(0))))
	case num.AwayFromZero:
		up = All(Not(negative), Not(Same(rest, a.b.Constant(0))))
	case num.HalfUp:
		if up = a.b.Constant(0); shift <= rest.Width() {
			up = Bit(rest, shift-1)
		}
	case num.HalfTowardZero:
		up = Any(Exceeds(rest, half), All(negative, Same(rest, half)))
	case num.HalfAway:
		up = Any(Exceeds(rest, half), All(Not(negative), Same(rest, half)))
	case num.HalfEven:
		up = Any(Exceeds(rest, half), All(Bit(floor, 0), Same(rest, half)))
	default:
		panic("circuit: unknown rounding " + string(mode))
	}
	r := num.Range{Lo: mode.Quotient(a.Range().Lo, shift), Hi: mode.Quotient(a.Range().Hi, shift)}
	return Kept(Sum(floor, up), r)
}

// Negativity is whether a < 0.
func Negativity(a Value) Value {
	switch r := a.Range(); {
	case r.Lo >= 0:
		return a.b.Constant(0)
	case r.Hi < 0:
		return a.b.Constant(1)
	}
	return Bit(a, a.Width()-1)
}

// Requantised is a times the multiplier of q over a power of two, rounded and clipped.
func Requantised(a Value, q num.Requant) Value { return Rescaled(Times(a, q.Multiplier), q) }

// Rescaled is a product with the multiplier of q over its power of two, rounded and clipped.
func Rescaled(product Value, q num.Requant) Value {
	return Clipped(Rounded(product, q.Shift, q.Mode), num.Range{Lo: q.Lo, Hi: q.Hi})
}
