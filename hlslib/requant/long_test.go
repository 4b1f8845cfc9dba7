package requant_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/requant"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/tier"
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

// besideEveryStep returns the ends of x, and the integers on both sides of every point of x at which the code changes.
func besideEveryStep(q num.ExactQuantiser, x num.Range) []int64 {
	at := list(x.Lo, x.Hi)
	a, b := q.CodeAt(x.Lo), q.CodeAt(x.Hi)
	root, floor := new(big.Rat), new(big.Int)
	for code := min(a, b) + 1; code <= max(a, b); code++ {
		root.SetFrac64(2*code-1, 2) // the real number between two codes
		root.Quo(root.Sub(root, q.Bias), q.Scale)
		last := floor.Div(root.Num(), root.Denom()).Int64()
		for v := max(last-1, x.Lo); v <= min(last+1, x.Hi); v++ { // last is the step itself where it is a tie
			at = append(at, v)
		}
	}
	return at
}

// stepsOf returns where a test compares a quantiser over x: beside every step of each case of the long tier and of one
// of 24 cases otherwise, and beside n random steps of the others.
func stepsOf(r *rand.Rand, q num.ExactQuantiser, x num.Range, test, n int) []int64 {
	if tier.Long() || test%24 == 0 {
		return besideEveryStep(q, x)
	}
	return besideSteps(r, q, x, n)
}

// evalAt returns the results of a layer of one value per channel, bound to in, where its inputs are x, per channel. The
// last input of a channel stands for those that it lacks.
func evalAt(t *testing.T, p requant.Params, in dataflow.StreamType, x [][]int64) [][]int64 {
	t.Helper()
	n := 0
	for _, of := range x {
		n = max(n, len(of))
	}
	in.Shape = dataflow.Shape{n, len(x)}
	frame := dataflow.Tensor{Shape: in.Shape, Data: make([]int64, n*len(x))}
	for i := range n {
		for c, of := range x {
			frame.Data[i*len(x)+c] = of[min(i, len(of)-1)]
		}
	}
	out := layertest.Bind(t, requant.New(p), in).Eval([]dataflow.Tensor{frame})[0].Data
	got := make([][]int64, len(x))
	for c, of := range x {
		for i := range of {
			got[c] = append(got[c], out[i*len(x)+c])
		}
	}
	return got
}

// TestFitLong compares layers with quantisers of 13 to 16 bits, on both sides of steps. Scales are quotients of numbers
// of float32, for a tensor or per channel; one of three has no least bits beyond a small denominator, and so has ties.
func TestFitLong(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
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
		x := make([][]int64, channels)
		for c := range x {
			x[c] = stepsOf(r, q[c], in.ChannelRange(c), n, 40)
		}
		for c, got := range evalAt(t, p, in, x) {
			for i, v := range got {
				if want := q[c].CodeAt(x[c][i]); v != want {
					t.Fatalf("case %d, channel %d: %+v gives %d at %d, want %d", n, c, p, v, x[c][i], want)
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
	tier.NotQuick(t)
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
		at := make([][]int64, channels)
		for c, b := range q {
			x := in.ChannelRange(c)
			at[c] = list(max(x.Lo, min(b.At-1, x.Hi)), min(b.At, x.Hi))
			if lower := (num.Range{Lo: x.Lo, Hi: min(x.Hi, b.At-1)}); lower.Lo < lower.Hi {
				at[c] = append(at[c], stepsOf(r, b.Below, lower, n, 30)...)
			}
			if upper := (num.Range{Lo: max(x.Lo, b.At), Hi: x.Hi}); upper.Lo < upper.Hi {
				at[c] = append(at[c], stepsOf(r, b.Above, upper, n, 30)...)
			}
		}
		for c, got := range evalAt(t, p, in, at) {
			for i, v := range got {
				want := q[c].Above.CodeAt(at[c][i])
				if at[c][i] < q[c].At {
					want = q[c].Below.CodeAt(at[c][i])
				}
				if v != want {
					t.Fatalf("case %d, channel %d: %+v gives %d at %d, want %d", n, c, p, v, at[c][i], want)
				}
			}
		}
	}
}
