package num

import (
	"math/bits"
	"slices"
)

// MostCodes is the most codes of a Coding: a bit of a value is then a function of six bits.
const MostCodes = 64

// A Coding is how a memory holds numbers of which few different ones occur: a code each, of fewer bits than their type
// has. -3, -1, 1 and 3 are three bits as numbers, and two as codes, because the lowest bit of all of them is 1.
type Coding struct {
	Code   Type    // of a code, UInt
	Value  Type    // that holds the values
	Values []int64 // of each code; of one that is not used, whatever makes its bits simple
}

// CodingOf is the coding of values that t holds; nil where codes would have as many bits, or there are too many. Codes
// are bits of the values that lie side by side, where these tell all of them apart, else their places in order.
func CodingOf(t Type, values []int64) *Coding {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	width := max(1, bits.Len(uint(len(values)-1)))
	if t.Kind != UInt && t.Kind != Int || len(values) > MostCodes || width >= t.Width {
		return nil
	}
	codes := make([]int, len(values))
	for i := range codes {
		codes[i] = i
	}
	for low := t.Width - width; low >= 0; low-- {
		some, seen := make([]int, len(values)), uint64(0)
		for i, v := range values {
			some[i] = int(t.Encode(v) >> low & (1<<width - 1))
			seen |= 1 << some[i]
		}
		if bits.OnesCount64(seen) == len(values) {
			codes = some
			break
		}
	}
	c := &Coding{Code: Type{Kind: UInt, Width: width}, Value: t, Values: make([]int64, 1<<width)}
	patterns := make([]uint64, 1<<width)
	for bit := range t.Width {
		var used, table uint64
		for i, v := range values {
			used |= 1 << codes[i]
			table |= t.Encode(v) >> bit & 1 << codes[i]
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
		c.Values[code] = t.Decode(p)
	}
	return c
}

// wires are the functions of codes that take no logic: what is always the same, and a bit of the code, as it is or
// turned round. Bit n of a function is its value for code n.
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

// Bits has each bit of a value, the lowest one first, as a function of the code: bit n is its value for code n.
func (c *Coding) Bits() []uint64 {
	tables := make([]uint64, c.Value.Width)
	for code, v := range c.Values {
		for bit := range tables {
			tables[bit] |= c.Value.Encode(v) >> bit & 1 << code
		}
	}
	return tables
}

// Logic is how many bits of a value take logic: they are neither always the same nor a bit of the code.
func (c *Coding) Logic() (n int) {
	free := wires(c.Code.Width)
	for _, table := range c.Bits() {
		if !slices.Contains(free, table) {
			n++
		}
	}
	return n
}

// Encode is the code of a value that was among those of CodingOf; it panics where there is none.
func (c *Coding) Encode(v int64) int64 {
	code := slices.Index(c.Values, v)
	if code < 0 {
		panic("num: a value without a code")
	}
	return int64(code)
}

// Holds reports whether there is a code of v.
func (c *Coding) Holds(v int64) bool { return slices.Contains(c.Values, v) }
