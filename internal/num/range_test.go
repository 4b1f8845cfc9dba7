package num

import (
	"math"
	"math/big"
	"testing"
)

// small lists every range with bounds in [-n,n].
func small(n int64) (all []Range) {
	for lo := -n; lo <= n; lo++ {
		for hi := lo; hi <= n; hi++ {
			all = append(all, Range{lo, hi})
		}
	}
	return all
}

// seen returns the range of f over the values of r, found by trying all of them.
func seen(r Range, f func(int64) int64) Range {
	s := SingleValueRange(f(r.Lo))
	for x := r.Lo; x <= r.Hi; x++ {
		s = s.Union(SingleValueRange(f(x)))
	}
	return s
}

func TestRangeAgainstEnumeration(t *testing.T) {
	t.Parallel()
	for _, r := range small(5) {
		for w := int64(-4); w <= 4; w++ {
			want := seen(r, func(x int64) int64 { return w * x })
			if got, ok := r.TimesConstant(w); !ok || got != want {
				t.Errorf("%v times %d = %v %v, want %v", r, w, got, ok, want)
			}
		}
		if got, want := r.Negated(), seen(r, func(x int64) int64 { return -x }); got != want {
			t.Errorf("-%v = %v, want %v", r, got, want)
		}
		n := int64(0)
		for x := int64(-7); x <= 7; x++ {
			if in := r.Lo <= x && x <= r.Hi; in != r.Contains(x) {
				t.Errorf("%v contains %d: %v", r, x, !in)
			} else if in {
				n++
			}
		}
		if r.ValueCount() != n {
			t.Errorf("%v has %d values, want %d", r, r.ValueCount(), n)
		}
		for _, o := range small(3) {
			want := SingleValueRange(r.Lo + o.Lo)
			union, within := SingleValueRange(r.Lo), true
			for x := r.Lo; x <= r.Hi; x++ {
				union, within = union.Union(SingleValueRange(x)), within && o.Contains(x)
				for y := o.Lo; y <= o.Hi; y++ {
					want, union = want.Union(SingleValueRange(x+y)), union.Union(SingleValueRange(y))
				}
			}
			if got, ok := r.Plus(o); !ok || got != want {
				t.Errorf("%v plus %v = %v %v, want %v", r, o, got, ok, want)
			}
			if got := r.Union(o); got != union {
				t.Errorf("%v union %v = %v, want %v", r, o, got, union)
			}
			if r.IsWithin(o) != within {
				t.Errorf("%v within %v: %v", r, o, !within)
			}
		}
	}
}

// TestRangeOverflow compares with big integers at the edges of int64.
func TestRangeOverflow(t *testing.T) {
	t.Parallel()
	edges := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 62, -1 << 32, -3, -2, -1, 0, 1, 2, 3, 1 << 31, 1 << 62,
		math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range edges {
		for _, b := range edges {
			p := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
			got, ok := SingleValueRange(a).TimesConstant(b)
			if ok != p.IsInt64() || ok && got != SingleValueRange(p.Int64()) {
				t.Errorf("%d*%d = %v %v, want %v", a, b, got, ok, p)
			}
			s := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
			got, ok = SingleValueRange(a).Plus(SingleValueRange(b))
			if ok != s.IsInt64() || ok && got != SingleValueRange(s.Int64()) {
				t.Errorf("%d+%d = %v %v, want %v", a, b, got, ok, s)
			}
			if a <= b {
				n := new(big.Int).Sub(big.NewInt(b), big.NewInt(a))
				n.Add(n, big.NewInt(1))
				if !n.IsInt64() {
					n.SetInt64(math.MaxInt64)
				}
				if got := (Range{a, b}).ValueCount(); got != n.Int64() {
					t.Errorf("count of [%d,%d] = %d, want %v", a, b, got, n)
				}
			}
		}
	}
}
