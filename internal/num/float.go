package num

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Minifloats consist of an optional sign, an exponent and a mantissa. The magnitude is a bit pattern p of exponent
// bits above Mantissa bits. If the exponent is 0, the magnitude is p itself (the subnormals, in units of the least
// of them). Otherwise it is (2^Mantissa + the mantissa) * 2^(exponent-1). There are neither infinities nor NaN, for
// a model's infinities and NaN never reach this package. A negative value has a sign bit, and behind it the
// inverted pattern of its magnitude. So codes, read in two's complement, have the order of the values. The pattern
// of -0 is no code.

// A Magnitude holds, of a set of values, what decides which minifloats hold them. The zero value is that of the empty
// set.
type Magnitude struct {
	Bits     int // bit length of the largest value
	Mantissa int // most bits behind the leading one, down to the last one, among all values
}

// With returns the magnitude of the set with one more value.
func (m Magnitude) With(v int64) Magnitude {
	u := uint64(max(v, -v))
	if v == 0 {
		return m
	}
	n := bits.Len64(u)
	return Magnitude{max(m.Bits, n), max(m.Mantissa, n-bits.TrailingZeros64(u)-1)}
}

// Union returns the magnitude of both sets together.
func (m Magnitude) Union(o Magnitude) Magnitude {
	return Magnitude{max(m.Bits, o.Bits), max(m.Mantissa, o.Mantissa)}
}

// Float returns the narrowest minifloat that holds the values, with a sign if signed is true.
func (m Magnitude) Float(signed bool) Type {
	t := Type{Kind: UFloat, Width: m.Mantissa + max(1, bits.Len(uint(max(0, m.Bits-m.Mantissa)))), Mantissa: m.Mantissa}
	if signed {
		t.Kind, t.Width = Float, t.Width+1
	}
	return t
}

// The limits of a minifloat that is used, so that its products take fewer resources than those of integers.
const (
	leastSaved   = 2 // least bits that it saves against the integers
	mostMantissa = 4
)

// NarrowerFloat returns the narrowest minifloat for values of integer type t if it is worth its decoder, otherwise t.
func (m Magnitude) NarrowerFloat(t Type) Type {
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

// Exponent returns the number of exponent bits of a minifloat.
func (t Type) Exponent() int {
	if t.Kind == Float {
		return t.Width - t.Mantissa - 1
	}
	return t.Width - t.Mantissa
}

// Codes returns the integer type of a minifloat's codes, which have the order of its values. For other types it
// returns t.
func (t Type) Codes() Type {
	if !t.IsFloat() {
		return t
	}
	if t.Kind == Float {
		return Type{Kind: Int, Width: t.Width}
	}
	return Type{Kind: UInt, Width: t.Width}
}

// Value returns the value that a code of the minifloat t stands for.
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

// Code returns the code of v in the minifloat t, which must hold v.
func (t Type) Code(v int64) int64 {
	if v < 0 {
		return ^t.Code(-v)
	}
	if e := bits.Len64(uint64(v)) - t.Mantissa; e > 0 {
		return int64(e)<<t.Mantissa | v>>(e-1)&(1<<t.Mantissa-1)
	}
	return v
}

// largest returns the greatest value of the minifloat t.
func (t Type) largest() int64 { return t.Value(1<<(t.Exponent()+t.Mantissa) - 1) }

// holdsFloat reports whether v is a value of the minifloat t.
func (t Type) holdsFloat(v int64) bool {
	if v < 0 && t.Kind == UFloat || max(v, -v) > t.largest() {
		return false
	}
	return Magnitude{}.With(v).Mantissa <= t.Mantissa
}

// floatName returns a name such as E4M3, or UE4M3 for a minifloat without a sign.
func (t Type) floatName() string {
	name := fmt.Sprintf("E%dM%d", t.Exponent(), t.Mantissa)
	if t.Kind == UFloat {
		return "U" + name
	}
	return name
}

// parseFloat returns the minifloat with a name that floatName returns. ok is false for other names.
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
