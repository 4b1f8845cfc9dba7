package num

import (
	"math/big"
	"math/bits"
)

// MaxNumberBits is the width of the widest number inside a circuit. Types of streams and tensors have at most
// MaxTypeBits.
const MaxNumberBits = 128

// A Wide is the integer Hi*2^64 + Lo: a number of 128 bits in two's complement. Numbers inside a circuit may need it.
// Values on streams and in tensors are int64s.
type Wide struct {
	Hi int64
	Lo uint64
}

// WideOf returns v as a Wide.
func WideOf(v int64) Wide { return Wide{v >> 63, uint64(v)} }

// Int64 returns the number as an int64. ok is false if it does not fit; the result is then the nearest int64.
func (a Wide) Int64() (v int64, ok bool) {
	if a.Hi == int64(a.Lo)>>63 {
		return int64(a.Lo), true
	}
	return a.Hi>>63 ^ (1<<63 - 1), false
}

// Less reports whether a < b.
func (a Wide) Less(b Wide) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }

// Plus returns a + b modulo 2^128.
func (a Wide) Plus(b Wide) Wide {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	return Wide{a.Hi + b.Hi + int64(carry), lo}
}

// Minus returns a - b modulo 2^128.
func (a Wide) Minus(b Wide) Wide {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	return Wide{a.Hi - b.Hi - int64(borrow), lo}
}

// Times returns a * b modulo 2^128.
func (a Wide) Times(b Wide) Wide {
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	return Wide{int64(hi) + a.Hi*int64(b.Lo) + int64(a.Lo)*b.Hi, lo}
}

// Shifted returns a * 2^n modulo 2^128 or, if n is negative, a / 2^-n rounded down.
func (a Wide) Shifted(n int) Wide {
	switch {
	case n >= 128:
		return Wide{}
	case n >= 64:
		return Wide{int64(a.Lo << (n - 64)), 0}
	case n >= 0:
		return Wide{a.Hi<<n | int64(a.Lo>>(64-n)), a.Lo << n}
	case n > -64:
		return Wide{a.Hi >> -n, a.Lo>>-n | uint64(a.Hi)<<(64+n)}
	}
	return Wide{a.Hi >> 63, uint64(a.Hi >> min(-n-64, 63))}
}

// Bit returns bit k of the number. Beyond bit 127 it is the sign.
func (a Wide) Bit(k int) int64 { return int64(a.Shifted(-k).Lo & 1) }

// LowBits returns the lowest width bits of the number, 1 to 128, read as a signed or an unsigned number. An unsigned
// number has at most 127 bits.
func (a Wide) LowBits(width int, signed bool) Wide {
	v := a.Shifted(128 - width).Shifted(width - 128)
	if signed || v.Hi >= 0 {
		return v
	}
	return v.Plus(Wide{Lo: 1}.Shifted(width))
}

// String returns the number in decimal.
func (a Wide) String() string {
	v := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return v.Or(v, new(big.Int).SetUint64(a.Lo)).String()
}

// magnitude returns the absolute value of a.
func (a Wide) magnitude() (hi, lo uint64) {
	if a.Hi < 0 {
		a = Wide{}.Minus(a)
	}
	return uint64(a.Hi), a.Lo
}

// width returns the number of bits that hold a in two's complement.
func (a Wide) width() int {
	if a.Hi < 0 {
		a = Wide{^a.Hi, ^a.Lo}
	}
	if a.Hi != 0 {
		return bits.Len64(uint64(a.Hi)) + 65
	}
	return bits.Len64(a.Lo) + 1
}

// product returns a * b. ok is false if it does not fit.
func (a Wide) product(b Wide) (p Wide, ok bool) {
	p = a.Times(b)
	ah, al := a.magnitude()
	bh, bl := b.magnitude()
	if ah|bh == 0 && (al|bl)>>63 == 0 { // two int64s
		return p, true
	}
	high, low := bits.Mul64(al, bl)
	over, cross := bits.Mul64(ah, bl)
	if ah == 0 {
		over, cross = bits.Mul64(al, bh)
	}
	high, carry := bits.Add64(high, cross, 0)
	switch {
	case ah != 0 && bh != 0 || over|carry != 0:
		return p, false
	case high>>63 == 0:
		return p, true
	}
	return p, high == 1<<63 && low == 0 && (a.Hi < 0) != (b.Hi < 0)
}

// A WideRange is a closed interval of integers of up to 128 bits, with Lo <= Hi.
type WideRange struct{ Lo, Hi Wide }

// Wide returns r as a WideRange.
func (r Range) Wide() WideRange { return WideRange{WideOf(r.Lo), WideOf(r.Hi)} }

// Narrow returns r as a Range. ok is false if an end does not fit into an int64; the nearest int64 takes its place.
func (r WideRange) Narrow() (n Range, ok bool) {
	lo, ok1 := r.Lo.Int64()
	hi, ok2 := r.Hi.Int64()
	return Range{lo, hi}, ok1 && ok2
}

// String returns the range as "[Lo,Hi]".
func (r WideRange) String() string { return "[" + r.Lo.String() + "," + r.Hi.String() + "]" }

// Contains reports whether v lies in r.
func (r WideRange) Contains(v Wide) bool { return !v.Less(r.Lo) && !r.Hi.Less(v) }

// IsWithin reports whether every value of r lies in o.
func (r WideRange) IsWithin(o WideRange) bool { return !r.Lo.Less(o.Lo) && !o.Hi.Less(r.Hi) }

// Union returns the smallest range that holds both.
func (r WideRange) Union(o WideRange) WideRange {
	return WideRange{LesserWide(r.Lo, o.Lo), GreaterWide(r.Hi, o.Hi)}
}

// LesserWide returns the smaller of two numbers.
func LesserWide(a, b Wide) Wide {
	if b.Less(a) {
		return b
	}
	return a
}

// GreaterWide returns the greater of two numbers.
func GreaterWide(a, b Wide) Wide {
	if a.Less(b) {
		return b
	}
	return a
}

// Plus returns the range of x+y for independent x and y. ok is false if a sum does not fit into 128 bits.
func (r WideRange) Plus(o WideRange) (s WideRange, ok bool) {
	s = WideRange{r.Lo.Plus(o.Lo), r.Hi.Plus(o.Hi)}
	return s, s.Lo.Less(r.Lo) == (o.Lo.Hi < 0) && s.Hi.Less(r.Hi) == (o.Hi.Hi < 0)
}

// Minus returns the range of x-y for independent x and y. ok is false if a difference does not fit into 128 bits.
func (r WideRange) Minus(o WideRange) (d WideRange, ok bool) {
	d = WideRange{r.Lo.Minus(o.Hi), r.Hi.Minus(o.Lo)}
	return d, r.Lo.Less(d.Lo) == (o.Hi.Hi < 0) && r.Hi.Less(d.Hi) == (o.Lo.Hi < 0)
}

// Times returns the range of x*y for independent x and y. ok is false if a product does not fit into 128 bits.
func (r WideRange) Times(o WideRange) (p WideRange, ok bool) {
	v, ok := r.Lo.product(o.Lo)
	p = WideRange{v, v}
	for _, ends := range [...][2]Wide{{r.Lo, o.Hi}, {r.Hi, o.Lo}, {r.Hi, o.Hi}} {
		v, fits := ends[0].product(ends[1])
		p, ok = p.Union(WideRange{v, v}), ok && fits
	}
	return p, ok
}

// Shifted returns the range of x*2^n or, if n is negative, of x/2^-n rounded down. ok is false if a result does not
// fit into 128 bits.
func (r WideRange) Shifted(n int) (s WideRange, ok bool) {
	s = WideRange{r.Lo.Shifted(n), r.Hi.Shifted(n)}
	return s, n <= 0 || s.Lo.Shifted(-n) == r.Lo && s.Hi.Shifted(-n) == r.Hi
}

// NarrowestIntType returns the narrowest integer type that holds r. It is unsigned if no value is negative.
func (r WideRange) NarrowestIntType() Type {
	if r.Lo.Hi >= 0 {
		return Type{Kind: KindUInt, Width: max(1, r.Hi.width()-1)}
	}
	return Type{Kind: KindInt, Width: max(r.Lo.width(), r.Hi.width())}
}

// WideRange returns the smallest range that contains all values of t, which may have up to 128 bits. An unsigned type
// may have 127.
func (t Type) WideRange() WideRange {
	one := Wide{Lo: 1}
	switch {
	case t.Kind == KindUInt && t.Width >= 63:
		return WideRange{Hi: one.Shifted(t.Width).Minus(one)}
	case t.Kind == KindInt && t.Width > 64:
		end := one.Shifted(t.Width - 1)
		return WideRange{Wide{}.Minus(end), end.Minus(one)}
	}
	return t.Range().Wide()
}
