package num

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Minifloats. A magnitude is a pattern p of exponent bits above Mantissa bits: p itself where the exponent is 0 (the
// subnormals, in units of the least of them), else (2^Mantissa + the mantissa) * 2^(exponent-1). There are neither
// infinities nor NaN: what a model has of them never comes as far as here. A negative value has the inverted pattern of
// its magnitude behind a sign bit, so that codes, read in two's complement, are in the order of the values; what would
// be -0 is no code.

// A Magnitude is what values have in common that fit a minifloat.
type Magnitude struct {
	Bits     int // of the largest
	Mantissa int // of the one with the most bits between its first and its last one: so many behind the first
}

// With is what a value and those before it have in common.
func (m Magnitude) With(v int64) Magnitude {
	u := uint64(max(v, -v))
	if v == 0 {
		return m
	}
	n := bits.Len64(u)
	return Magnitude{max(m.Bits, n), max(m.Mantissa, n-bits.TrailingZeros64(u)-1)}
}

// Union is what the values of both have in common.
func (m Magnitude) Union(o Magnitude) Magnitude {
	return Magnitude{max(m.Bits, o.Bits), max(m.Mantissa, o.Mantissa)}
}

// Float is the narrowest minifloat that holds values of such magnitudes.
func (m Magnitude) Float(signed bool) Type {
	t := Type{Kind: UFloat, Width: m.Mantissa + max(1, bits.Len(uint(max(0, m.Bits-m.Mantissa)))), Mantissa: m.Mantissa}
	if signed {
		t.Kind, t.Width = Float, t.Width+1
	}
	return t
}

// What a minifloat has to be, for its products to take less than those of integers.
const (
	leastSaved   = 2 // bits that it is narrower than the integers
	mostMantissa = 4
)

// Denser is the narrowest minifloat for values that an integer type t holds, if it is worth its decoder, else t.
func (m Magnitude) Denser(t Type) Type {
	if t.Kind != Int && t.Kind != UInt || m.Mantissa > mostMantissa {
		return t
	}
	if f := m.Float(t.Kind == Int); f.Width+leastSaved <= t.Width {
		return f
	}
	return t
}

// IsFloat reports whether t is a minifloat.
func (t Type) IsFloat() bool { return t.Kind == Float || t.Kind == UFloat }

// Exponent is the exponent bits of a minifloat.
func (t Type) Exponent() int {
	if t.Kind == Float {
		return t.Width - t.Mantissa - 1
	}
	return t.Width - t.Mantissa
}

// Codes is the integer type that has the codes of a minifloat, in the order of its values; of other types, t.
func (t Type) Codes() Type {
	if !t.IsFloat() {
		return t
	}
	if t.Kind == Float {
		return Type{Kind: Int, Width: t.Width}
	}
	return Type{Kind: UInt, Width: t.Width}
}

// Value is what a code stands for.
func (t Type) Value(code int64) int64 {
	p, sign := code, int64(1)
	if code < 0 {
		p, sign = ^code, -1
	}
	if e := p >> t.Mantissa; e > 0 {
		p = (p&(1<<t.Mantissa-1) | 1<<t.Mantissa) << (e - 1)
	}
	return sign * p
}

// Code is the code of a value, which t holds.
func (t Type) Code(v int64) int64 {
	if v < 0 {
		return ^t.Code(-v)
	}
	if e := bits.Len64(uint64(v)) - t.Mantissa; e > 0 {
		return int64(e)<<t.Mantissa | v>>(e-1)&(1<<t.Mantissa-1)
	}
	return v
}

// largest is the greatest value of a minifloat.
func (t Type) largest() int64 { return t.Value(1<<(t.Exponent()+t.Mantissa) - 1) }

// holdsFloat reports whether v is a value of a minifloat.
func (t Type) holdsFloat(v int64) bool {
	if v < 0 && t.Kind == UFloat || max(v, -v) > t.largest() {
		return false
	}
	return Magnitude{}.With(v).Mantissa <= t.Mantissa
}

// floatName is E4M3, or UE4M3 of one without a sign.
func (t Type) floatName() string {
	name := fmt.Sprintf("E%dM%d", t.Exponent(), t.Mantissa)
	if t.Kind == UFloat {
		return "U" + name
	}
	return name
}

// parseFloat reads a name that floatName writes.
func parseFloat(s string) (t Type, ok bool) {
	name, unsigned := strings.CutPrefix(s, "U")
	exponent, mantissa, ok := strings.Cut(strings.TrimPrefix(name, "E"), "M")
	e, err1 := strconv.Atoi(exponent)
	m, err2 := strconv.Atoi(mantissa)
	if !ok || err1 != nil || err2 != nil || e < 1 || m < 0 || e > 6 || m > 32 {
		return Type{}, false
	}
	t = Type{Kind: UFloat, Width: e + m, Mantissa: m}
	if !unsigned {
		t.Kind, t.Width = Float, t.Width+1
	}
	return t, t.floatName() == s && m+1<<e <= MaxWidth-1
}
