package num

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// vectors calls f with every vector of n elements in r. f must not keep it.
func vectors(n int, r Range, f func([]int64)) {
	v := make([]int64, n)
	var fill func(i int)
	fill = func(i int) {
		if i == n {
			f(v)
			return
		}
		for x := r.Lo; x <= r.Hi; x++ {
			v[i] = x
			fill(i + 1)
		}
	}
	fill(0)
}

func dot(a, b []int64) (s int64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func TestDotAgainstEnumeration(t *testing.T) {
	t.Parallel()
	one := []Range{{-2, 1}}
	each := []Range{{-2, 1}, {0, 3}, {-1, -1}}
	vectors(3, Range{-2, 2}, func(w []int64) {
		for _, in := range [][]Range{one, each} {
			var want Range
			first := true
			vectors(3, Range{-2, 3}, func(x []int64) {
				for i := range x {
					if !in[min(i, len(in)-1)].Contains(x[i]) {
						return
					}
				}
				d := dot(w, x)
				if first {
					want, first = SingleValueRange(d), false
				}
				want = want.Union(SingleValueRange(d))
			})
			if got, ok := DotProductRange(w, in); !ok || got != want {
				t.Errorf("Dot(%v, %v) = %v %v, want %v", w, in, got, ok, want)
			}
		}
	})
	if _, ok := DotProductRange([]int64{1, 1}, []Range{{0, math.MaxInt64}}); ok {
		t.Error("a sum beyond int64 is called exact")
	}
	if _, ok := DotProductRange([]int64{2}, []Range{{math.MinInt64, 0}}); ok {
		t.Error("a product beyond int64 is called exact")
	}
}

// TestDotAlike checks that a single range for all inputs gives the same result as a list of equal ranges. It checks
// that both overflow alike at the ends of int64.
func TestDotAlike(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	number := func() int64 { return r.Int64() >> r.IntN(64) * (1 - 2*r.Int64N(2)) }
	exact := 0
	for range 20000 {
		w := make([]int64, 1+r.IntN(9))
		for i := range w {
			w[i] = number()
		}
		a, b := number(), number()
		in := Range{min(a, b), max(a, b)}
		got, ok := DotProductRange(w, []Range{in})
		want, wantOK := DotProductRange(w, slices.Repeat([]Range{in}, len(w)))
		if len(w) > 1 && (ok != wantOK || got != want) {
			t.Fatalf("Dot(%v, %v) = %v %v, want %v %v", w, in, got, ok, want, wantOK)
		}
		if plain, ok := dotAlike(w, in); ok {
			if exact++; plain != got {
				t.Fatalf("dotAlike(%v, %v) = %v, want %v", w, in, plain, got)
			}
		}
	}
	if exact < 1000 {
		t.Errorf("%d were plain", exact)
	}
}

// width returns the narrowest two's complement width for the sums that occur, found by trying all inputs.
func width(t *testing.T, ws [][]int64, k int, in Type) int {
	var r Range
	for _, w := range ws {
		vectors(k, in.Range(), func(x []int64) {
			for _, v := range x {
				if !in.Holds(v) {
					return
				}
			}
			r = r.Union(SingleValueRange(dot(w, x)))
		})
	}
	return max(signedBits(r.Lo), signedBits(r.Hi))
}

// TestDataTypeBound compares the bound with the worst weights and inputs of the types. The bound must be wide
// enough for all of them. It may be one bit too wide, because it counts the most negative weight as positive, too.
// For a binary input it may be two bits too wide, because it counts up to 2^N, twice the largest value.
func TestDataTypeBound(t *testing.T) {
	t.Parallel()
	for k := 1; k <= 3; k++ {
		for m := 1; m <= 3; m++ {
			for _, in := range types(3) {
				least := make([]int64, k)
				most := make([]int64, k)
				wt := Type{Kind: KindInt, Width: m}.Range()
				for i := range least {
					least[i], most[i] = wt.Lo, wt.Hi
				}
				need := width(t, [][]int64{least, most}, k, in)
				got := AccumulatorBitsByDataType(k, in.Width, m, in.IsSigned())
				slack := 1
				if in == (Type{Kind: KindUInt, Width: 1}) {
					slack = 2
				}
				if got < need || got > need+slack {
					t.Errorf("DataTypeBound(%d, %v, %d) = %d, needed %d", k, in, m, got, need)
				}
			}
		}
	}
}

// TestDataTypeBoundIsThePapers evaluates the published formula, ceil(a + log2(1+2^-a) + 1), except at exact powers
// of two.
func TestDataTypeBoundIsThePapers(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, 2, 3, 27, 64, 490, 600, 784, 1152, 2304, 4096} {
		for n := 1; n <= 8; n++ {
			for m := 1; m <= 8; m++ {
				for _, signed := range []bool{false, true} {
					a := math.Log2(float64(k)) + float64(n+m-1-b2i(signed))
					p := a + math.Log2(1+math.Exp2(-a)) + 1
					if r := math.Round(p); math.Abs(p-r) < 1e-9 {
						p = r
					}
					if got, want := AccumulatorBitsByDataType(k, n, m, signed), int(math.Ceil(p)); got != want {
						t.Errorf("DataTypeBound(%d, %d, %d, %v) = %d, want %d", k, n, m, signed, got, want)
					}
				}
			}
		}
	}
}

func TestL1Bounds(t *testing.T) {
	t.Parallel()
	for _, in := range types(3) {
		vectors(3, Range{-3, 3}, func(w []int64) {
			var l1, sum int64
			for _, v := range w {
				l1, sum = l1+max(v, -v), sum+v
			}
			need := width(t, [][]int64{w}, 3, in)
			got := AccumulatorBitsByL1(l1, in.Width, in.IsSigned())
			if got < need {
				t.Errorf("L1Bound of %v on %v = %d, needed %d", w, in, got, need)
			}
			// A bipolar input has a span of 2, as if it had two bits. Other inputs have a span of 2^N-1.
			n := in.Width
			if in.Kind == KindBipolar {
				n = 2
			}
			if zc := AccumulatorBitsByZeroCentred(l1, n); sum == 0 && zc < need {
				t.Errorf("ZeroCentredBound of %v on %v = %d, needed %d", w, in, zc, need)
			} else if sum == 0 && in.Kind == KindUInt && zc != need && l1 > 0 {
				// Unsigned inputs attain the bound: half of the magnitudes are added, half subtracted.
				t.Errorf("ZeroCentredBound of %v on %v = %d, want %d", w, in, zc, need)
			}
		})
	}
}

func TestBoundsOfNothing(t *testing.T) {
	t.Parallel()
	if a, b := AccumulatorBitsByL1(0, 8, false), AccumulatorBitsByZeroCentred(0, 8); a != 1 || b != 1 {
		t.Errorf("bounds of zero weights are %d and %d, want 1 and 1", a, b)
	}
}
