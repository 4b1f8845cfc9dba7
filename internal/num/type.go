package num

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A TypeKind says how the bits of a Type are read, such as signed or unsigned.
type TypeKind uint8

// The kinds of Type. The zero TypeKind is invalid.
const (
	KindUInt    TypeKind = iota + 1 // unsigned integer; with one bit its name is BINARY
	KindInt                         // integer in two's complement
	KindBipolar                     // -1 and +1 in one bit, where 0 stands for -1
	KindTernary                     // -1, 0 and +1 in two bits, in two's complement
	KindFloat                       // minifloat: sign, exponent and mantissa (float.go)
	KindUFloat                      // minifloat without a sign
)

// A Type describes the bits that hold a value on a stream or in a memory. The zero Type is invalid.
type Type struct {
	Kind     TypeKind
	Width    int // in bits, 1..64; of an integer inside a circuit, 1..128
	Mantissa int `json:",omitempty"` // of a minifloat: bits behind the leading one; otherwise 0
}

// MaxTypeBits is the width of the widest Type on streams and in tensors. Every value below the front end is an int64,
// except inside circuits (wide.go).
const MaxTypeBits = 64

// NarrowestIntTypeFor returns the narrowest integer type that holds r. It is unsigned if no value is negative.
func NarrowestIntTypeFor(r Range) Type {
	if r.Lo >= 0 {
		return Type{Kind: KindUInt, Width: unsignedBits(r.Hi)}
	}
	return Type{Kind: KindInt, Width: max(signedBits(r.Lo), signedBits(r.Hi))}
}

// NarrowestTypeOfValues returns the narrowest type that holds all the values: a bipolar one if each is -1 or +1,
// otherwise the narrowest integer type. There must be at least one value.
func NarrowestTypeOfValues(values ...[]int64) Type {
	r := RangeOfLists(values...)
	if r.Lo < -1 || r.Hi > 1 {
		return NarrowestIntTypeFor(r)
	}
	for _, row := range values {
		if slices.Contains(row, 0) {
			return NarrowestIntTypeFor(r)
		}
	}
	return Type{Kind: KindBipolar, Width: 1}
}

// RangeOfLists returns the range from the least to the greatest of the values in all lists. There must be at least one
// value.
func RangeOfLists(values ...[]int64) Range {
	r := Range{math.MaxInt64, math.MinInt64}
	for _, row := range values {
		for _, v := range row {
			r.Lo, r.Hi = min(r.Lo, v), max(r.Hi, v)
		}
	}
	return r
}

// Range returns the smallest range that contains all values of t that are int64s. It panics for an invalid kind.
func (t Type) Range() Range {
	switch t.Kind {
	case KindUInt:
		if t.Width >= 63 {
			return Range{0, 1<<63 - 1}
		}
		return Range{0, 1<<t.Width - 1}
	case KindInt:
		top := min(t.Width, MaxTypeBits) - 1
		return Range{-1 << top, 1<<top - 1}
	case KindBipolar, KindTernary:
		return Range{-1, 1}
	case KindFloat:
		return Range{-t.largest(), t.largest()}
	case KindUFloat:
		return Range{0, t.largest()}
	}
	panic("num: invalid type")
}

// IsSigned reports whether t holds negative values.
func (t Type) IsSigned() bool { return t.Kind != KindUInt && t.Kind != KindUFloat }

// Holds reports whether v is a value of t. A bipolar type has no 0.
func (t Type) Holds(v int64) bool {
	if t.IsMinifloat() {
		return t.holdsFloat(v)
	}
	return t.Range().Contains(v) && (t.Kind != KindBipolar || v != 0)
}

// EncodeBits returns the low Width bits that represent v. It panics if t does not hold v: widths are derived from
// ranges, so such a value is a bug in hlsgen.
func (t Type) EncodeBits(v int64) uint64 {
	if !t.Holds(v) {
		panic(fmt.Sprintf("num: %s cannot hold %d", t, v))
	}
	if t.Kind == KindBipolar {
		return uint64(v+1) / 2
	}
	if t.IsMinifloat() {
		v = t.CodeOfValue(v)
	}
	return uint64(v) & t.mask()
}

// DecodeBits returns the value that the low Width bits of b represent.
func (t Type) DecodeBits(b uint64) int64 {
	b &= t.mask()
	switch t.Kind {
	case KindUInt:
		return int64(b)
	case KindBipolar:
		return int64(b)*2 - 1
	case KindUFloat:
		return t.ValueOfCode(int64(b))
	}
	s := 64 - t.Width
	v := int64(b<<s) >> s
	if t.Kind == KindFloat {
		return t.ValueOfCode(v)
	}
	return v
}

// mask returns a number whose low Width bits are 1.
func (t Type) mask() uint64 {
	if t.Width >= 64 {
		return ^uint64(0)
	}
	return 1<<t.Width - 1
}

// String returns QONNX's name of the type: INT4, UINT2, BINARY, BIPOLAR or TERNARY. Minifloats are called E4M3 or
// UE4M3.
func (t Type) String() string {
	switch t.Kind {
	case KindUInt:
		if t.Width == 1 {
			return "BINARY"
		}
		return "UINT" + strconv.Itoa(t.Width)
	case KindInt:
		return "INT" + strconv.Itoa(t.Width)
	case KindBipolar:
		return "BIPOLAR"
	case KindTernary:
		return "TERNARY"
	case KindFloat, KindUFloat:
		return t.floatName()
	}
	return "INVALID"
}

// ParseType returns the type with a name that String returns. Any other name is an error.
func ParseType(s string) (Type, error) {
	switch s {
	case "BINARY":
		return Type{Kind: KindUInt, Width: 1}, nil
	case "BIPOLAR":
		return Type{Kind: KindBipolar, Width: 1}, nil
	case "TERNARY":
		return Type{Kind: KindTernary, Width: 2}, nil
	}
	if t, ok := parseFloat(s); ok {
		return t, nil
	}
	kind, digits := KindInt, strings.TrimPrefix(s, "INT")
	if strings.HasPrefix(s, "UINT") {
		kind, digits = KindUInt, s[4:]
	}
	w, err := strconv.Atoi(digits)
	if err != nil || digits == s || w < 1 || w > MaxTypeBits || strconv.Itoa(w) != digits {
		return Type{}, fmt.Errorf("unknown data type %q: known are INT1..INT%d, UINT1..UINT%d, BINARY, BIPOLAR, "+
			"TERNARY, E4M3 and the like",
			s, MaxTypeBits, MaxTypeBits)
	}
	return Type{Kind: kind, Width: w}, nil
}
