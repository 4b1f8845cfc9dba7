package num

import (
	"math"
	"testing"
)

// types lists every type of at most n bits.
func types(n int) (all []Type) {
	for w := 1; w <= n; w++ {
		all = append(all, Type{Kind: KindUInt, Width: w}, Type{Kind: KindInt, Width: w})
	}
	return append(all, Type{Kind: KindBipolar, Width: 1}, Type{Kind: KindTernary, Width: 2})
}

func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	for _, typ := range types(9) {
		held := 0
		codes := map[uint64]bool{}
		for v := int64(-600); v <= 600; v++ {
			if !typ.Holds(v) {
				continue
			}
			held++
			b := typ.EncodeBits(v)
			if b>>typ.Width != 0 || codes[b] {
				t.Errorf("%v writes %d as %#x: too wide or taken", typ, v, b)
			}
			codes[b] = true
			if got := typ.DecodeBits(b | ^uint64(0)<<typ.Width); got != v {
				t.Errorf("%v reads %d back as %d", typ, v, got)
			}
		}
		want := 1 << typ.Width
		if typ.Kind == KindTernary {
			want = 3
		}
		if held != want {
			t.Errorf("%v holds %d values, want %d", typ, held, want)
		}
	}
}

func TestWideTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		typ Type
		r   Range
	}{
		{Type{Kind: KindInt, Width: 64}, Range{math.MinInt64, math.MaxInt64}},
		{Type{Kind: KindInt, Width: 63}, Range{-1 << 62, 1<<62 - 1}},
		{Type{Kind: KindUInt, Width: 62}, Range{0, 1<<62 - 1}},
		{Type{Kind: KindUInt, Width: 63}, Range{0, math.MaxInt64}},
		{Type{Kind: KindUInt, Width: 64}, Range{0, math.MaxInt64}},
	}
	for _, tt := range tests {
		if got := tt.typ.Range(); got != tt.r {
			t.Errorf("%v has range %v, want %v", tt.typ, got, tt.r)
		}
		for _, v := range []int64{tt.r.Lo, tt.r.Lo + 1, tt.r.Hi - 1, tt.r.Hi} {
			if got := tt.typ.DecodeBits(tt.typ.EncodeBits(v)); got != v {
				t.Errorf("%v reads %d back as %d", tt.typ, v, got)
			}
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for typ, v := range map[Type]int64{{Kind: KindUInt, Width: 3}: 8, {Kind: KindInt, Width: 3}: -5,
		{Kind: KindBipolar, Width: 1}: 0, {Kind: KindTernary, Width: 2}: -2, {Kind: KindFloat, Width: 4,
			Mantissa: 1}: 5,
		{Kind: KindUFloat, Width: 3, Mantissa: 1}: -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v takes %d", typ, v)
				}
			}()
			typ.EncodeBits(v)
		}()
	}
}

// TestSmallest compares every range's type with every narrower type.
func TestSmallest(t *testing.T) {
	t.Parallel()
	for _, r := range small(20) {
		got := NarrowestIntTypeFor(r)
		if !r.IsWithin(got.Range()) {
			t.Errorf("%v does not hold %v", got, r)
		}
		if got.IsSigned() != (r.Lo < 0) {
			t.Errorf("%v for %v has the wrong sign", got, r)
		}
		if n := (Type{Kind: got.Kind, Width: got.Width - 1}); n.Width > 0 && r.IsWithin(n.Range()) {
			t.Errorf("%v for %v, but %v holds it", got, r, n)
		}
	}
	for r, want := range map[Range]Type{
		{math.MinInt64, 0}:         {Kind: KindInt, Width: 64},
		{-1, math.MaxInt64}:        {Kind: KindInt, Width: 64},
		{0, math.MaxInt64}:         {Kind: KindUInt, Width: 63},
		{-1 << 62, 1<<62 - 1}:      {Kind: KindInt, Width: 63},
		{-1<<62 - 1, 0}:            {Kind: KindInt, Width: 64},
		{5, 5}:                     {Kind: KindUInt, Width: 3},
		{-1, -1}:                   {Kind: KindInt, Width: 1},
		{math.MinInt64, 1<<63 - 1}: {Kind: KindInt, Width: 64},
	} {
		if got := NarrowestIntTypeFor(r); got != want {
			t.Errorf("Smallest(%v) = %v, want %v", r, got, want)
		}
	}
}

func TestNarrowest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		values [][]int64
		want   string
	}{
		{[][]int64{{1, -1}, {-1, -1}}, "BIPOLAR"},
		{[][]int64{{1}, {1}}, "BIPOLAR"},
		{[][]int64{{1, 0}, {-1, 1}}, "INT2"},
		{[][]int64{{0}}, "BINARY"},
		{[][]int64{{3, 4}, {7, 2}}, "UINT3"},
		{[][]int64{{3, -4}, {2}}, "INT3"},
		{[][]int64{{-9}}, "INT5"},
		{[][]int64{{}, {-9}}, "INT5"},
	}
	for _, tt := range tests {
		if got := NarrowestTypeOfValues(tt.values...).String(); got != tt.want {
			t.Errorf("Narrowest(%v) = %s, want %s", tt.values, got, tt.want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	t.Parallel()
	for _, typ := range types(MaxTypeBits) {
		got, err := ParseType(typ.String())
		if err != nil || got != typ {
			t.Errorf("%v reads back as %v, %v", typ, got, err)
		}
	}
	for name, want := range map[string]Type{"BINARY": {Kind: KindUInt, Width: 1}, "UINT1": {Kind: KindUInt, Width: 1},
		"UINT2": {Kind: KindUInt, Width: 2},
		"INT4":  {Kind: KindInt, Width: 4}, "BIPOLAR": {Kind: KindBipolar, Width: 1}, "TERNARY": {Kind: KindTernary,
			Width: 2}} {
		if got, err := ParseType(name); err != nil || got != want {
			t.Errorf("ParseType(%s) = %v, %v", name, got, err)
		}
	}
	for _, bad := range []string{"", "INT", "UINT", "INT0", "INT65", "UINT65", "INT-1", "INT+4", "INT04", "int4",
		"FLOAT32", "INT4 ", "4", "UINTINT4", "INVALID"} {
		if got, err := ParseType(bad); err == nil {
			t.Errorf("ParseType(%q) = %v, want an error", bad, got)
		}
	}
}
