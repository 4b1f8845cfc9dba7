package num

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCodingOf(t *testing.T) {
	t.Parallel()
	signed := func(width int) Type { return Type{Kind: KindInt, Width: width} }
	for _, tt := range []struct {
		name   string
		of     Type
		values []int64
		codes  []int64 // the values by code; nil if there is no coding
		logic  int
	}{
		{"odd", signed(3), []int64{-3, 3, 1, -1, 3}, []int64{1, 3, -3, -1}, 0},
		{"some odd ones", signed(3), []int64{-3, 1, 3}, []int64{1, 3, -3, -1}, 0},
		{"unsigned", Type{Kind: KindUInt, Width: 3}, []int64{1, 3, 5, 7}, []int64{1, 3, 5, 7}, 0},
		{"steps of three", signed(4), []int64{-5, -2, 1, 4}, []int64{1, 4, -5, -2}, 0},
		{"steps of four", signed(5), []int64{-13, -9, -5, -1, 3, 7, 11, 15}, []int64{3, 7, 11, 15, -13, -9, -5, -1}, 0},
		{"powers of two", signed(5), []int64{-8, -4, -2, -1, 1, 2, 4, 8}, []int64{-8, -4, -2, -1, 1, 2, 4, 8}, 4},
		{"one", Type{Kind: KindUInt, Width: 2}, []int64{2}, []int64{2, 2}, 0},
		{"two", signed(8), []int64{-100, 7}, []int64{7, -100}, 0},
		{"all", signed(2), []int64{-2, -1, 0, 1}, nil, 0},
		{"as many bits", signed(3), []int64{-3, -1, 0, 1, 3}, nil, 0},
		{"signs", Type{Kind: KindBipolar, Width: 1}, []int64{-1, 1}, nil, 0},
	} {
		c := CodingOf(tt.of, tt.values)
		if (c == nil) != (tt.codes == nil) {
			t.Errorf("%s: %v, want codes of %v", tt.name, c, tt.codes)
			continue
		}
		if c != nil && (!slices.Equal(c.Values, tt.codes) || c.LogicBitCount() != tt.logic || c.Value != tt.of) {
			t.Errorf("%s: %v of %d bits of logic, want %v of %d", tt.name, *c, c.LogicBitCount(), tt.codes, tt.logic)
		}
	}
	if many := make([]int64, MaxCodingCodes+1); true {
		for i := range many {
			many[i] = int64(i * i)
		}
		of := Type{Kind: KindUInt, Width: 13}
		if CodingOf(of, many) != nil || CodingOf(of, many[1:]) == nil {
			t.Errorf("want a coding of %d values and none of more", MaxCodingCodes)
		}
	}
}

// TestCodingIsExact checks that every value can be recovered from its code, and from the value bits that are
// computed from the code's bits.
func TestCodingIsExact(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		of := Type{Kind: []TypeKind{KindUInt, KindInt}[r.IntN(2)], Width: 2 + r.IntN(39)}
		var values []int64
		for range 1 + r.IntN(1<<r.IntN(7)) {
			values = append(values, of.DecodeBits(r.Uint64()))
		}
		c := CodingOf(of, values)
		if c == nil {
			continue
		}
		for _, v := range values {
			code, made := c.CodeOfValue(v), uint64(0)
			for bit, table := range c.BitsAsFunctionsOfCode() {
				made |= table >> code & 1 << bit
			}
			if !c.HasCodeFor(v) || c.Values[code] != v || of.DecodeBits(made) != v || !c.Code.Holds(code) ||
				c.Code.Width >= of.Width {
				t.Fatalf("%v of %v: %d is code %d of %v", values, of, v, code, *c)
			}
		}
	}
}
