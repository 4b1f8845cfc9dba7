package rnntest

import (
	"math"
	"math/big"
	"testing"
)

// TestExp compares enclosures with float64, and with the digits of e.
func TestExp(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{-700, -20.5, -1, -1e-9, 0x1p-40, 0.3, 0.5, 1, 2.75, 31, 700} {
		lo, hi := exp(new(big.Rat).SetFloat64(x), 128)
		if lo.Cmp(hi) >= 0 {
			t.Errorf("e^%v is between %v and %v", x, lo, hi)
		}
		a, _ := lo.Float64()
		b, _ := hi.Float64()
		if want := math.Exp(x); math.Abs(a-want) > 2e-16*want || math.Abs(b-want) > 2e-16*want {
			t.Errorf("e^%v is %v to %v, want %v", x, a, b, want)
		}
	}
	lo, hi := exp(whole(1), 200)
	const e = "2.71828182845904523536028747135266249775724709369995957496697"
	want, _, err := big.ParseFloat(e, 10, 190, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	apart := new(big.Float).Sub(hi, lo)
	if apart.Cmp(big.NewFloat(0x1p-190)) > 0 || new(big.Float).Sub(want, lo).Cmp(big.NewFloat(0x1p-180)) > 0 ||
		new(big.Float).Sub(hi, want).Cmp(big.NewFloat(0x1p-180)) > 0 {
		t.Errorf("e is between %.60f and %.60f", lo, hi)
	}
}

// TestActivations compares the activations with float64, and checks that enclosures contain each other.
func TestActivations(t *testing.T) {
	t.Parallel()
	for op, f := range map[string]func(x float64) float64{
		"Sigmoid":    func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"Tanh":       math.Tanh,
		"ScaledTanh": func(x float64) float64 { return 0.75 * math.Tanh(1.5*x) },
		"Elu": func(x float64) float64 {
			if x < 0 {
				return 0.75 * math.Expm1(x)
			}
			return x
		},
		"Softsign":    func(x float64) float64 { return x / (1 + math.Abs(x)) },
		"Relu":        func(x float64) float64 { return max(x, 0) },
		"LeakyRelu":   func(x float64) float64 { return max(x, 0.75*x) },
		"HardSigmoid": func(x float64) float64 { return max(0, min(1, 0.75*x+1.5)) },
		"Clip":        func(x float64) float64 { return max(-1, min(1, x)) },
		"Affine":      func(x float64) float64 { return 0.75*x + 1.5 },
		"Identity":    func(x float64) float64 { return x },
	} {
		for _, x := range []float64{-1e7, -30, -1.75, -0x1p-30, 0, 0x1p-30, 0.5, 2, 17, 1e7} {
			v := Activation{op, 0.75, 1.5}.of(new(big.Rat).SetFloat64(x))
			lo, hi := new(big.Float), new(big.Float)
			if v.exact != nil {
				lo.SetRat(v.exact)
				hi.SetRat(v.exact)
			} else if lo, hi = v.enclose(96); lo.Cmp(hi) >= 0 {
				t.Errorf("%s(%v) is between %v and %v", op, x, lo, hi)
			}
			a, _ := lo.Float64()
			b, _ := hi.Float64()
			want := f(x)
			if most := 1e-15 * max(1, math.Abs(want)); math.Abs(a-want) > most || b < a || b-a > most {
				t.Errorf("%s(%v) is %v to %v, want %v", op, x, a, b, want)
			}
		}
	}
}

// TestQuantiser checks a table of ties and limits.
func TestQuantiser(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string][6]int64{ // results for -1.5, -0.5, 0.5, 1.5, 0.25, -0.75
		"ROUND": {-2, 0, 0, 2, 0, -1}, "CEIL": {-1, 0, 1, 2, 1, 0}, "FLOOR": {-2, -1, 0, 1, 0, -1},
		"UP": {-2, -1, 1, 2, 1, -1}, "DOWN": {-1, 0, 0, 1, 0, 0}, "HALF_UP": {-2, -1, 1, 2, 0, -1},
		"HALF_DOWN": {-1, 0, 0, 1, 0, -1},
	} {
		q := &Quantiser{Scale: 1, Bits: 4, Signed: true, Mode: mode}
		for i, x := range []float64{-1.5, -0.5, 0.5, 1.5, 0.25, -0.75} {
			if got := q.code(new(big.Rat).SetFloat64(x)); got != want[i] {
				t.Errorf("%s of %v is %d, want %d", mode, x, got, want[i])
			}
		}
	}
	for _, c := range []struct {
		q    Quantiser
		x    float64
		want int64
	}{
		{Quantiser{Scale: 0.5, Bits: 3, Signed: true, Mode: "ROUND"}, 9, 3},
		{Quantiser{Scale: 0.5, Bits: 3, Signed: true, Mode: "ROUND"}, -9, -4},
		{Quantiser{Scale: 0.5, Bits: 3, Signed: true, Narrow: true, Mode: "ROUND"}, -9, -3},
		{Quantiser{Scale: 0.5, Bits: 3, Mode: "ROUND"}, -9, 0},
		{Quantiser{Scale: 0.5, Bits: 3, Mode: "ROUND", Narrow: true}, 9, 6},
		{Quantiser{Scale: 1, Zero: 1, Bits: 3, Mode: "ROUND"}, 1.5, 2},               // 2.5 is a tie with QONNX's rule
		{Quantiser{Scale: 1, Zero: 1, Bits: 8, Linear: true, Mode: "ROUND"}, 1.5, 3}, // 1.5 is a tie with ONNX's rule
		{Quantiser{Scale: 1, Zero: 3, Bits: 8, Linear: true, Mode: "ROUND"}, 1e30, 255},
	} {
		if got := c.q.code(new(big.Rat).SetFloat64(c.x)); got != c.want {
			t.Errorf("%+v of %v is %d, want %d", c.q, c.x, got, c.want)
		}
	}
	// A sigmoid that no float64 can tell from 1: rounding down gives the code below.
	high := Activation{Op: "Sigmoid"}.of(whole(90))
	for mode, want := range map[string]int64{"FLOOR": 7, "CEIL": 8, "ROUND": 8} {
		q := &Quantiser{Scale: 0.125, Bits: 4, Mode: mode}
		if got := q.of(high); got.Cmp(q.value(want)) != 0 {
			t.Errorf("%s of sigmoid(90)*8 is %v eighths, want %d", mode, got, want)
		}
	}
}
