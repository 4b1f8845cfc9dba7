package requant_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/requant"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// float32s returns a random number of float32 of about the given size.
func float32s(r *rand.Rand, size float64) *big.Rat {
	return new(big.Rat).SetFloat64(float64(float32(size * (0.5 + r.Float64()))))
}

// besideSteps returns the ends of x, and n pairs of neighbours between which the code changes.
func besideSteps(r *rand.Rand, q num.ExactQuantiser, x num.Range, n int) []int64 {
	at := list(x.Lo, x.Hi)
	a, b := q.CodeAt(x.Lo), q.CodeAt(x.Hi)
	for range n {
		if a == b {
			break
		}
		code := min(a, b) + 1 + r.Int64N(max(a, b)-min(a, b))
		lo, hi := x.Lo, x.Hi
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; (q.CodeAt(mid) >= code) == (b >= code) {
				hi = mid
			} else {
				lo = mid
			}
		}
		at = append(at, lo, hi)
	}
	return at
}

// TestFitLong compares layers with quantisers of 13 to 16 bits, on both sides of steps. Scales are quotients of numbers
// of float32, for a tensor or per channel; one of three has no least bits beyond a small denominator, and so has ties.
func TestFitLong(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(41, 16))
	low, shared, even := 0, 0, 0
	for n := range 240 {
		channels, bits, perChannel := 1+r.IntN(4), 13+r.IntN(4), r.IntN(2) == 0
		width := bits + 4 + r.IntN(26)
		var q []num.ExactQuantiser
		in := dataflow.StreamType{Shape: dataflow.Shape{channels}}
		one := num.ExactQuantiser{Mode: num.RoundingHalfEven, Lo: 0, Hi: 1<<bits - 1,
			Bias: new(big.Rat).SetInt64(r.Int64N(1 << bits))}
		for c := range channels {
			x := num.Range{Lo: -r.Int64N(1 << width), Hi: r.Int64N(1<<width) + 1}
			if c == 0 || perChannel {
				codes := float64(one.Hi) / float64(int64(2)<<width)
				one.Scale = new(big.Rat).Mul(float32s(r, codes), new(big.Rat).Quo(float32s(r, 1), float32s(r, 1)))
				if n%3 == 0 {
					one.Scale = new(big.Rat).SetFrac64(1+2*r.Int64N(7), 3<<(width-bits+2))
				}
				if r.IntN(4) == 0 {
					one.Scale.Neg(one.Scale)
				}
			}
			q, in.Range = append(q, one), append(in.Range, x)
		}
		in.Elem = num.NarrowestIntTypeFor(in.UnionOfRanges())
		p, ok := requant.FitLongQuantisers(q, in.Range)
		if !ok {
			t.Fatalf("case %d: %+v over %v has no fit", n, q, in.Range)
		}
		if low++; p.Mode == num.RoundingHalfEven {
			even++
		}
		if len(p.Multiplier) == 1 && channels > 1 {
			shared++
		}
		op := layertest.Bind(t, requant.New(p), in)
		x := make([][]int64, channels)
		for c := range x {
			x[c] = besideSteps(r, q[c], in.ChannelRange(c), 40)
		}
		for i := range 82 {
			row := make([]int64, channels)
			for c := range row {
				row[c] = x[c][min(i, len(x[c])-1)]
			}
			got := op.Eval([]dataflow.Tensor{{Shape: in.Shape, Data: row}})[0].Data
			for c, v := range got {
				if want := q[c].CodeAt(row[c]); v != want {
					t.Fatalf("case %d, channel %d: %+v gives %d at %d, want %d", n, c, p, v, row[c], want)
				}
			}
		}
	}
	if low < 200 || shared < 50 || even < 40 {
		t.Errorf("%d have low digits, %d share a multiplier, %d round ties to even", low, shared, even)
	}
}

// TestFitBent compares layers with two lines that meet, as those of LeakyReLUs do, on both sides of steps and of the
// bend. Some channels never reach their bend.
func TestFitBent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(42, 16))
	for n := range 120 {
		channels, bits := 1+r.IntN(3), 13+r.IntN(4)
		width := bits + 4 + r.IntN(22)
		zero, alpha := r.Int64N(1<<bits), float32s(r, 0.2)
		in := dataflow.StreamType{Shape: dataflow.Shape{channels}}
		var q []requant.BentQuantiser
		for range channels {
			x := num.Range{Lo: -r.Int64N(1 << width), Hi: 1 + r.Int64N(1<<width)}
			scale := new(big.Rat).Quo(float32s(r, float64(int64(1)<<bits)/float64(int64(1)<<width)), float32s(r, 1))
			at := r.Int64N(1<<width) >> (1 + r.IntN(5))
			above := num.ExactQuantiser{Scale: scale, Bias: new(big.Rat).SetInt64(zero), Mode: num.RoundingHalfEven,
				Lo: 0, Hi: 1<<bits - 1}
			root := new(big.Rat).Mul(scale, new(big.Rat).SetInt64(-at))
			above.Bias = root.Add(root, above.Bias)
			below := above // the lines meet at the bend
			below.Scale = new(big.Rat).Mul(scale, alpha)
			root = new(big.Rat).Mul(new(big.Rat).Sub(scale, below.Scale), new(big.Rat).SetInt64(at))
			below.Bias = root.Add(root, above.Bias)
			q, in.Range = append(q, requant.BentQuantiser{At: at, Above: above, Below: below}), append(in.Range, x)
		}
		in.Elem = num.NarrowestIntTypeFor(in.UnionOfRanges())
		p, ok := requant.FitBentQuantisers(q, in.Range)
		if !ok {
			t.Fatalf("case %d: %+v over %v has no fit", n, q, in.Range)
		}
		op := layertest.Bind(t, requant.New(p), in)
		for c, b := range q {
			x := in.ChannelRange(c)
			at := list(max(x.Lo, min(b.At-1, x.Hi)), min(b.At, x.Hi))
			if lower := (num.Range{Lo: x.Lo, Hi: min(x.Hi, b.At-1)}); lower.Lo < lower.Hi {
				at = append(at, besideSteps(r, b.Below, lower, 30)...)
			}
			if upper := (num.Range{Lo: max(x.Lo, b.At), Hi: x.Hi}); upper.Lo < upper.Hi {
				at = append(at, besideSteps(r, b.Above, upper, 30)...)
			}
			for _, v := range at {
				row := make([]int64, channels)
				for k := range row {
					row[k] = in.ChannelRange(k).Lo
				}
				row[c] = v
				want := b.Above.CodeAt(v)
				if v < b.At {
					want = b.Below.CodeAt(v)
				}
				if got := op.Eval([]dataflow.Tensor{{Shape: in.Shape, Data: row}})[0].Data[c]; got != want {
					t.Fatalf("case %d, channel %d: %+v gives %d at %d, want %d", n, c, p, got, v, want)
				}
			}
		}
	}
}
