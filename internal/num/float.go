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

// MinifloatNeeds describes a set of integers by the two figures that decide which minifloats hold them all. The zero
// value describes the empty set.
type MinifloatNeeds struct {
	Bits     int // bit length of the largest value
	Mantissa int // most bits behind the leading one, down to the last one, among all values
}

// WithValue returns the needs of the set with the value v added.
func (m MinifloatNeeds) WithValue(v int64) MinifloatNeeds {
	u := uint64(max(v, -v))
	if v == 0 {
		return m
	}
	n := bits.Len64(u)
	return MinifloatNeeds{max(m.Bits, n), max(m.Mantissa, n-bits.TrailingZeros64(u)-1)}
}

// Union returns the needs of both sets together.
func (m MinifloatNeeds) Union(o MinifloatNeeds) MinifloatNeeds {
	return MinifloatNeeds{max(m.Bits, o.Bits), max(m.Mantissa, o.Mantissa)}
}

// narrowestMinifloat returns the narrowest minifloat that holds the values, with a sign if signed is true.
func (m MinifloatNeeds) narrowestMinifloat(signed bool) Type {
	t := Type{Kind: KindUFloat, Width: m.Mantissa + max(1, bits.Len(uint(max(0, m.Bits-m.Mantissa)))),
		Mantissa: m.Mantissa}
	if signed {
		t.Kind, t.Width = KindFloat, t.Width+1
	}
	return t
}

// The limits of a minifloat that is used, so that its products take fewer resources than those of integers.
const (
	leastSaved   = 2 // least bits that it saves against the integers
	mostMantissa = 4
)

// MinifloatIfWorthwhile returns the narrowest minifloat for values of integer type t if it saves enough bits to be
// worth its decoder, otherwise t.
func (m MinifloatNeeds) MinifloatIfWorthwhile(t Type) Type {
	if t.Kind != KindInt && t.Kind != KindUInt || m.Mantissa > mostMantissa {
		return t
	}
	if f := m.narrowestMinifloat(t.Kind == KindInt); f.Width+leastSaved <= t.Width {
		return f
	}
	return t
}

// IsMinifloat reports whether t is a minifloat.
func (t Type) IsMinifloat() bool { return t.Kind == KindFloat || t.Kind == KindUFloat }

// ExponentBits returns the number of exponent bits of a minifloat.
func (t Type) ExponentBits() int {
	if t.Kind == KindFloat {
		return t.Width - t.Mantissa - 1
	}
	return t.Width - t.Mantissa
}

// CodeType returns the integer type of a minifloat's codes, which have the order of its values. For other types it
// returns t.
func (t Type) CodeType() Type {
	if !t.IsMinifloat() {
		return t
	}
	if t.Kind == KindFloat {
		return Type{Kind: KindInt, Width: t.Width}
	}
	return Type{Kind: KindUInt, Width: t.Width}
}

// ValueOfCode returns the value that a code of the minifloat t stands for.
func (t Type) ValueOfCode(code int64) int64 {
	p, sign := code, int64(1)
	if code < 0 {
		p, sign = ^code, -1
	}
	if e := p >> t.Mantissa; e > 0 {
		p = (p&(1<<t.Mantissa-1) | 1<<t.Mantissa) << (e - 1)
	}
	return sign * p
}

// CodeOfValue returns the code of v in the minifloat t, which must hold v.
func (t Type) CodeOfValue(v int64) int64 {
	if v < 0 {
		return ^t.CodeOfValue(-v)
	}
	if e := bits.Len64(uint64(v)) - t.Mantissa; e > 0 {
		return int64(e)<<t.Mantissa | v>>(e-1)&(1<<t.Mantissa-1)
	}
	return v
}

// largest returns the greatest value of the minifloat t.
func (t Type) largest() int64 { return t.ValueOfCode(1<<(t.ExponentBits()+t.Mantissa) - 1) }

// holdsFloat reports whether v is a value of the minifloat t.
func (t Type) holdsFloat(v int64) bool {
	if v < 0 && t.Kind == KindUFloat || max(v, -v) > t.largest() {
		return false
	}
	return MinifloatNeeds{}.WithValue(v).Mantissa <= t.Mantissa
}

// floatName returns a name such as E4M3, or UE4M3 for a minifloat without a sign.
func (t Type) floatName() string {
	name := fmt.Sprintf("E%dM%d", t.ExponentBits(), t.Mantissa)
	if t.Kind == KindUFloat {
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
	t = Type{Kind: KindUFloat, Width: e + m, Mantissa: m}
	if !unsigned {
		t.Kind, t.Width = KindFloat, t.Width+1
	}
	return t, t.floatName() == s && m+1<<e <= MaxTypeBits-1
}
