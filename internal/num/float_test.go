package num

import "testing"

// TestFloat compares every code of small minifloats with the definition: a mantissa times a power of two.
func TestFloat(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]int64{
		"UE1M1": {0, 1, 2, 3},
		"UE2M0": {0, 1, 2, 4},
		"UE2M1": {0, 1, 2, 3, 4, 6, 8, 12},
		"UE2M2": {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28},
		"UE3M1": {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192},
	} {
		typ, err := ParseType(name)
		if err != nil || typ.String() != name {
			t.Fatalf("%s reads as %v, %v", name, typ, err)
		}
		signed, err := ParseType(name[1:])
		if err != nil || signed.Width != typ.Width+1 {
			t.Fatalf("%s reads as %v, %v", name[1:], signed, err)
		}
		holds := map[int64]bool{}
		for code, v := range want {
			holds[v] = true
			if got := typ.DecodeBits(uint64(code)); got != v || typ.EncodeBits(v) != uint64(code) {
				t.Errorf("%s: code %d is %d and %d is code %d, want %d", name, code, got, v, typ.EncodeBits(v), v)
			}
			if v > 0 && (signed.DecodeBits(signed.EncodeBits(-v)) != -v || signed.CodeOfValue(-v) >= 0) {
				t.Errorf("%s: %d reads back as %d", name[1:], -v, signed.DecodeBits(signed.EncodeBits(-v)))
			}
		}
		if last := want[len(want)-1]; typ.Range() != (Range{0, last}) || signed.Range() != (Range{-last, last}) {
			t.Errorf("%s: %v, signed %v, want up to %d", name, typ.Range(), signed.Range(), last)
		}
		before := signed.CodeOfValue(signed.Range().Lo) - 1
		for v := signed.Range().Lo - 5; v <= signed.Range().Hi+5; v++ {
			if typ.Holds(v) != holds[v] || signed.Holds(v) != (holds[v] || holds[-v]) {
				t.Errorf("%s holds %d: %t, signed %t", name, v, typ.Holds(v), signed.Holds(v))
			}
			if !signed.Holds(v) {
				continue
			}
			if code := signed.CodeOfValue(v); code <= before {
				t.Errorf("%s: code %d of %d does not rise", name[1:], code, v)
			} else {
				before = code
			}
		}
	}
}

// TestNarrowestFloat compares the minifloat of values with every narrower one.
func TestNarrowestFloat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []int64
		want   string
	}{
		{[]int64{0}, "UE1M0"},
		{[]int64{1, 2, 4}, "UE2M0"},
		{[]int64{1, 12}, "UE2M1"},
		{[]int64{229376, 1, 15}, "UE4M3"},
		{[]int64{57344 << 16, 7}, "UE5M2"},
	} {
		var m MinifloatNeeds
		for _, v := range tt.values {
			m = m.WithValue(v)
		}
		got := m.narrowestMinifloat(false)
		if got.String() != tt.want {
			t.Errorf("%v: %v, want %s", tt.values, got, tt.want)
		}
		for _, v := range tt.values {
			if !got.Holds(v) || !m.narrowestMinifloat(true).Holds(-v) {
				t.Errorf("%v does not hold %d", got, v)
			}
		}
	}
}
