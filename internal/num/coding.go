package num

import (
	"math/bits"
	"slices"
)

// MaxCodingCodes is the most codes that a Coding has. Up to it, each bit of a value is a function of six bits.
const MaxCodingCodes = 64

// A Coding stores numbers from a small set as codes with fewer bits than their type has. For example, -3, -1, 1 and
// 3 take three bits as numbers but two as codes, because their lowest bit is always 1.
type Coding struct {
	Code   Type    // type of codes, of kind KindUInt
	Value  Type    // type of values
	Values []int64 // value of each code; an unused code has the value with the simplest logic
}

// CodingOf returns a coding for the given values of type t. It returns nil if codes would not be narrower than t, if
// there are more than MaxCodingCodes values, or if t is no integer type. If some adjacent bits distinguish all values,
// these bits are the code. Otherwise the code is the rank of the value.
func CodingOf(t Type, values []int64) *Coding {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	width := max(1, bits.Len(uint(len(values)-1)))
	if t.Kind != KindUInt && t.Kind != KindInt || len(values) > MaxCodingCodes || width >= t.Width {
		return nil
	}
	codes := make([]int, len(values))
	for i := range codes {
		codes[i] = i
	}
	for low := t.Width - width; low >= 0; low-- {
		some, seen := make([]int, len(values)), uint64(0)
		for i, v := range values {
			some[i] = int(t.EncodeBits(v) >> low & (1<<width - 1))
			seen |= 1 << some[i]
		}
		if bits.OnesCount64(seen) == len(values) {
			codes = some
			break
		}
	}
	c := &Coding{Code: Type{Kind: KindUInt, Width: width}, Value: t, Values: make([]int64, 1<<width)}
	patterns := make([]uint64, 1<<width)
	for bit := range t.Width {
		var used, table uint64
		for i, v := range values {
			used |= 1 << codes[i]
			table |= t.EncodeBits(v) >> bit & 1 << codes[i]
		}
		for _, free := range wires(width) {
			if free&used == table {
				table = free
				break
			}
		}
		for code := range patterns {
			patterns[code] |= table >> code & 1 << bit
		}
	}
	for code, p := range patterns {
		c.Values[code] = t.DecodeBits(p)
	}
	return c
}

// wires returns the functions of a code that take no logic: the two constants, and each bit of the code or its
// inverse. Bit n of a function is its value for code n.
func wires(width int) []uint64 {
	all := ^uint64(0) >> (64 - 1<<width)
	list := []uint64{0, all}
	for bit := range width {
		var own uint64
		for code := range 1 << width {
			own |= uint64(code) >> bit & 1 << code
		}
		list = append(list, own, own^all)
	}
	return list
}

// BitsAsFunctionsOfCode returns each bit of a value, the lowest first, as a function of the code. Bit n of a function
// is its value for code n.
func (c *Coding) BitsAsFunctionsOfCode() []uint64 {
	tables := make([]uint64, c.Value.Width)
	for code, v := range c.Values {
		for bit := range tables {
			tables[bit] |= c.Value.EncodeBits(v) >> bit & 1 << code
		}
	}
	return tables
}

// LogicBitCount returns the number of bits of a value that take logic: they are neither constant nor a bit of the code
// or its inverse.
func (c *Coding) LogicBitCount() (n int) {
	free := wires(c.Code.Width)
	for _, table := range c.BitsAsFunctionsOfCode() {
		if !slices.Contains(free, table) {
			n++
		}
	}
	return n
}

// CodeOfValue returns the lowest code that stands for v. It panics if there is none; every value that was given to
// CodingOf has one.
func (c *Coding) CodeOfValue(v int64) int64 {
	code := slices.Index(c.Values, v)
	if code < 0 {
		panic("num: a value without a code")
	}
	return int64(code)
}

// HasCodeFor reports whether some code stands for v. The values of unused codes count too.
func (c *Coding) HasCodeFor(v int64) bool { return slices.Contains(c.Values, v) }
