package circuit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// rates have stages of different lengths: everything fits into a stage, a usual clock, a stage per operation, and a
// device whose lookup tables have four inputs.
var rates = []circuit.TimingModel{
	{Stage: 1 << 20, LUT: 600, Carry: 15, Inputs: 6},
	{Stage: 2000, LUT: 600, Carry: 15, Inputs: 6},
	{Stage: 1, LUT: 600, Carry: 15, Inputs: 6},
	{Stage: 2000, LUT: 900, Carry: 60, Inputs: 4},
}

func uintN(n int) num.Type { return num.Type{Kind: num.KindUInt, Width: n} }
func intN(n int) num.Type  { return num.Type{Kind: num.KindInt, Width: n} }

var bipolar, ternary = num.Type{Kind: num.KindBipolar, Width: 1}, num.Type{Kind: num.KindTernary, Width: 2}

type (
	value    = circuit.Value
	some     = []circuit.Value
	function = func(b *circuit.Builder, x []circuit.Value) circuit.Value
)

// pure returns the circuit of a function of elements of the given types. Its output is the function's result, a
// number of 64 bits.
func pure(rate circuit.TimingModel, types []num.Type, f function) *circuit.Module {
	b := circuit.NewBuilder(rate)
	always := b.ConstantNumber(1)
	var x []circuit.Value
	for _, t := range types {
		x = append(x, circuit.ElementOf(b.AddInputStream(t.Width, always), 0, t))
	}
	b.AddOutputStream(circuit.LowBitsOf(f(b, x), 64), always)
	return b.FinishLayer()
}

// values lists all values of a narrow type.
func values(t num.Type) (list []int64) {
	for v := t.Range().Lo; v <= t.Range().Hi; v++ {
		if t.Holds(v) {
			list = append(list, v)
		}
	}
	return list
}

// agree compares a circuit's result for given arguments with the wanted result.
func agree(t *testing.T, name string, m *circuit.Module, types []num.Type, x []int64, want int64) bool {
	t.Helper()
	in := make([]uint64, len(x))
	for i, v := range x {
		in[i] = types[i].EncodeBits(v)
	}
	switch out, _, err := iterate(newMachine(t, m), m, in...); {
	case err != nil:
		t.Errorf("%s of %v: %v", name, x, err)
	case int64(out[0]) != want:
		t.Errorf("%s of %v is %d, want %d", name, x, int64(out[0]), want)
	default:
		return true
	}
	return false
}

// everywhere compares a function's circuits with the wanted function for all arguments.
func everywhere(t *testing.T, name string, types []num.Type, make function, want func(x []int64) int64) {
	t.Helper()
	for _, rate := range rates {
		m := pure(rate, types, make)
		if err := timed(m); err != nil {
			t.Errorf("%s at %+v: %v", name, rate, err)
		}
		x := []int64{}
		var all func(rest []num.Type) bool
		all = func(rest []num.Type) bool {
			if len(rest) == 0 {
				return agree(t, name, m, types, x, want(x))
			}
			for _, v := range values(rest[0]) {
				x = append(x, v)
				if ok := all(rest[1:]); !ok {
					return false
				}
				x = x[:len(x)-1]
			}
			return true
		}
		all(types)
	}
}

func truth(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, types := range [][]num.Type{{uintN(3), uintN(4)}, {intN(4), uintN(3)}, {intN(3), intN(4)},
		{ternary, bipolar}, {uintN(1), intN(1)}} {
		for name, tt := range map[string]struct {
			make func(a, b value) value
			want func(a, b int64) int64
		}{
			"sum":        {circuit.SumOfTwo, func(a, b int64) int64 { return a + b }},
			"difference": {circuit.Subtract, func(a, b int64) int64 { return a - b }},
			"product":    {circuit.MultiplyInDSP, func(a, b int64) int64 { return a * b }},
			"exceeds":    {circuit.IsGreater, func(a, b int64) int64 { return truth(a > b) }},
			"same":       {circuit.IsEqual, func(a, b int64) int64 { return truth(a == b) }},
			"greatest":   {circuit.GreaterOf, func(a, b int64) int64 { return max(a, b) }},
			"least":      {circuit.LesserOf, func(a, b int64) int64 { return min(a, b) }},
			"negative": {func(a, b value) value { return circuit.SumAsTree(circuit.Negate(a), b, a, b) },
				func(_, b int64) int64 { return 2 * b }},
			"sign": {func(a, b value) value {
				return circuit.MuxByCondition(circuit.IsNegative(a), b, circuit.ConstantInCircuitOf(b, 5))
			},
				func(a, b int64) int64 {
					if a < 0 {
						return b
					}
					return 5
				}},
		} {
			everywhere(t, fmt.Sprint(name, types), types,
				func(_ *circuit.Builder, x some) value { return tt.make(x[0], x[1]) },
				func(x []int64) int64 { return tt.want(x[0], x[1]) })
		}
	}
}

func TestScaled(t *testing.T) {
	t.Parallel()
	for _, typ := range []num.Type{uintN(4), intN(5), bipolar} {
		one := []num.Type{typ}
		of := func(f func(x value) value) func(*circuit.Builder, some) value {
			return func(_ *circuit.Builder, x some) value { return f(x[0]) }
		}
		for m := int64(-33); m < 34; m++ {
			everywhere(t, fmt.Sprint("times ", m), one, of(func(x value) value {
				return circuit.MultiplyByConstant(x,
					m)
			}),
				func(x []int64) int64 { return m * x[0] })
		}
		for n := -6; n < 4; n++ {
			everywhere(t, fmt.Sprint("shifted ", n), one, of(func(x value) value {
				return circuit.ShiftByConstant(x,
					n)
			}),
				func(x []int64) int64 {
					if n > 0 {
						return x[0] << n
					}
					return x[0] >> -n
				})
		}
		for _, r := range []num.Range{{Lo: -3, Hi: 2}, {Hi: 5}, {Lo: -40, Hi: 3}, {Lo: 4, Hi: 4}, {Lo: -64, Hi: 64},
			{Lo: 16, Hi: 31}, {Lo: 20, Hi: 27}, {Lo: -40, Hi: -30}} {
			everywhere(t, fmt.Sprint("clipped ", r), one, of(func(x value) value { return circuit.ClipToRange(x, r) }),
				func(x []int64) int64 { return min(max(x[0], r.Lo), r.Hi) })
		}
		for _, mode := range num.Roundings {
			for shift := range 7 {
				everywhere(t, fmt.Sprint(mode, shift), one,
					of(func(x value) value { return circuit.ShiftRightRounded(x, shift, mode) }),
					func(x []int64) int64 { return mode.DivideByPowerOfTwo(x[0], shift) })
			}
			q := num.Requant{Multiplier: 5, Shift: 3, Mode: mode, Lo: -4, Hi: 3}
			everywhere(t, fmt.Sprint("requantised ", mode), one,
				of(func(x value) value { return circuit.Requantise(x, q) }),
				func(x []int64) int64 { return q.Apply(x[0]) })
		}
		for _, to := range []num.Type{uintN(1), uintN(3), intN(2), intN(9)} {
			everywhere(t, fmt.Sprint("wrapped to ", to), one, of(func(x value) value {
				return circuit.LowBitsAsType(x,
					to)
			}),
				func(x []int64) int64 { return to.DecodeBits(uint64(x[0])) })
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5, 7, 9} {
		types := slices.Repeat([]num.Type{uintN(1)}, n)
		everywhere(t, "all", types, func(b *circuit.Builder, x some) value { return b.AllHold(x...) },
			func(x []int64) int64 { return slices.Min(x) })
		everywhere(t, "any", types, func(_ *circuit.Builder, x some) value { return circuit.AnyHolds(x...) },
			func(x []int64) int64 { return slices.Max(x) })
		everywhere(t, "odd", types, func(b *circuit.Builder, x some) value {
			odd := b.ConstantNumber(0)
			for _, c := range x {
				odd = circuit.ExclusiveOr(odd, circuit.Not(c))
			}
			return odd
		}, func(x []int64) int64 {
			odd := int64(0)
			for _, c := range x {
				odd ^= 1 - c
			}
			return odd
		})
	}
}

func TestSelected(t *testing.T) {
	t.Parallel()
	for n := 1; n < 10; n++ {
		types := []num.Type{uintN(4), intN(3)}
		everywhere(t, fmt.Sprint("one of ", n), types, func(b *circuit.Builder, x some) value {
			list := some{}
			for i := range n {
				list = append(list, circuit.SumOfTwo(x[1], b.ConstantNumber(int64(7*i))))
			}
			return circuit.MuxByIndex(circuit.ClipToRange(x[0], num.Range{Hi: int64(n - 1)}), list...)
		}, func(x []int64) int64 { return x[1] + 7*min(x[0], int64(n-1)) })
	}
	types := []num.Type{uintN(2), intN(3), intN(3), uintN(3)}
	everywhere(t, "one of three words", types, func(_ *circuit.Builder, x some) value {
		words := some{circuit.LowBitsOf(x[1], 5), circuit.LowBitsOf(x[2], 5),
			circuit.ConcatenateWords(circuit.LowBitsOf(x[3], 3), circuit.LowBitsOf(x[0], 2))}
		return circuit.ElementOf(circuit.MuxByIndex(circuit.ClipToRange(x[0], num.Range{Hi: 2}), words...), 0, intN(5))
	}, func(x []int64) int64 {
		return intN(5).DecodeBits(uint64([]int64{x[1], x[2], x[3] | x[0]<<3}[min(x[0], 2)]))
	})
}

// TestHeap compares sums of products of all kinds with Go's, for random operands.
func TestHeap(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	kinds := []num.Type{uintN(1), uintN(3), intN(2), intN(4), bipolar, ternary}
	for trial := range 300 {
		n := 1 + r.IntN(12)
		var types []num.Type
		fixed := make([]int64, n) // second factors, of the products with a constant factor
		sum := num.Range{}
		for i := range n {
			x, w := kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))]
			types = append(types, x, w)
			fixed[i] = values(w)[r.IntN(len(values(w)))]
			p := x.Range()
			a, _ := p.TimesConstant(w.Range().Lo)
			b, _ := p.TimesConstant(w.Range().Hi)
			sum, _ = sum.Plus(a.Union(b))
		}
		constant := func(i int) bool { return (i+trial)%5 == 0 }
		m := pure(rates[trial%len(rates)], types, func(b *circuit.Builder, x some) value {
			h := b.NewBitHeap()
			for i := range n {
				if constant(i) {
					h.AddProduct(x[2*i], b.ConstantNumber(fixed[i]))
					continue
				}
				put(h, x[2*i], x[2*i+1], types[2*i+1])
			}
			h.AddShifted(b.ConstantNumber(-5), 0)
			h.AddShifted(x[0], 2)
			total, _ := sum.Plus(num.Range{Lo: -37, Hi: 23}) // and 4*x[0] - 5
			return h.Sum(total)
		})
		if err := timed(m); err != nil {
			t.Errorf("trial %d: %v", trial, err)
		}
		for range 20 {
			x := make([]int64, len(types))
			for i, typ := range types {
				x[i] = values(typ)[r.IntN(len(values(typ)))]
			}
			want := 4*x[0] - 5
			for i := range n {
				if w := x[2*i+1]; constant(i) {
					want += x[2*i] * fixed[i]
				} else {
					want += x[2*i] * w
				}
			}
			if !agree(t, fmt.Sprintf("trial %d, types %v", trial, types), m, types, x, want) {
				return
			}
		}
	}
}

// put adds x * w with the method for w's type.
func put(h *circuit.BitHeap, x, w value, typ num.Type) {
	switch typ.Kind {
	case num.KindBipolar:
		h.AddOrSubtract(circuit.IsGreater(w, circuit.ConstantInCircuitOf(w, 0)), x)
	case num.KindTernary:
		bits := circuit.EncodeAsType(w, typ)
		h.AddTernaryMultiple(circuit.BitOf(bits, 0), circuit.BitOf(bits, 1), x)
	default:
		h.AddProduct(x, w)
	}
}

// TestMatches counts pairs of equal conditions.
func TestMatches(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		everywhere(t, "matches", slices.Repeat([]num.Type{uintN(1)}, 2*n), func(b *circuit.Builder, x some) value {
			h := b.NewBitHeap()
			for i := range n {
				h.AddOneIfEqual(x[i], x[n+i])
			}
			return h.Sum(num.Range{Hi: int64(n)})
		}, func(x []int64) (count int64) {
			for i := range n {
				count += truth(x[i] == x[n+i])
			}
			return count
		})
	}
}
