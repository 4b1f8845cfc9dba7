package requant_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib/requant"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

func list(v ...int64) []int64 { return v }

// open returns parameters that clip nothing.
func open(m, b []int64, shift int) requant.Params {
	return requant.Params{Multiplier: m, Bias: b, Shift: shift, Lo: math.MinInt64, Hi: math.MaxInt64}
}

// clip is parameters with limits.
func clip(m, b []int64, shift int, lo, hi int64) requant.Params {
	return requant.Params{Multiplier: m, Bias: b, Shift: shift, Lo: lo, Hi: hi}
}

// round returns parameters with a rounding mode that clip nothing.
func round(mode num.Rounding, m, b []int64, shift int) requant.Params {
	p := open(m, b, shift)
	p.Mode = mode
	return p
}

// digit returns a low digit.
func digit(m, b []int64) requant.LowDigit { return requant.LowDigit{Multiplier: m, Bias: b} }

// bent returns p with a line below bends.
func bent(p requant.Params, at, m, b []int64, low ...requant.LowDigit) requant.Params {
	p.Below = &requant.LowerLine{At: at, Multiplier: m, Bias: b, Low: low}
	return p
}

// long returns p with low digits of the given number of bits.
func long(p requant.Params, bits int, low ...requant.LowDigit) requant.Params {
	p.Low, p.LowShift = low, bits
	return p
}

func TestContract(t *testing.T) {
	t.Parallel()
	i8, u8 := typ(intN(8), 3, 4), typ(uintN(8), 3, 4)
	perChannel := dataflow.StreamType{Shape: dataflow.Shape{2, 4},
		Range: []num.Range{{Lo: -8, Hi: -8}, {Lo: -100, Hi: 0}, {Lo: 5, Hi: 70}, {Lo: -128, Hi: 127}}, Elem: intN(8)}
	var cases []layertest.Case
	for _, c := range []struct {
		name string
		p    requant.Params
		in   dataflow.StreamType
	}{
		{"one for all", clip(list(77), list(64), 7, -50, 50), i8},
		{"one per channel", clip(list(77, -3, 0, 1000), list(64, -64, 9999, 0), 7, 0, 255), i8},
		{"one multiplier, many biases", clip(list(-41), list(64, -64, 9999, 0), 5, -128, 127), i8},
		{"one bias, many multipliers", clip(list(3, 5, -7, 9), list(-1), 3, 0, 40), u8},
		{"the same per channel", clip(list(5, 5, 5, 5), list(2, 2, 2, 2), 2, 0, 100), u8},
		{"ranges per channel", clip(list(77, -3, 12, 1000), list(64), 7, -3, 255), perChannel},
		{"16 bit codes", clip(list(91, 90, -89, 88), list(1<<13, 0, -77, 5<<20), 14, -1<<15, 1<<15-1),
			typ(intN(24), 2, 4)},
		{"half a unit up", open(list(1), list(8), 4), i8},
		{"a power of two", open(list(8), list(0), 0), u8},
		{"its negative", clip(list(-8), list(5), 1, -100, 100), i8},
		{"signs", open(list(1, -1, 0, 1), list(0), 0), u8},
		{"nothing but a bias", open(list(1), list(-300), 0), u8},
		{"a constant", open(list(0), list(-37), 3), u8},
		{"all clipped", clip(list(3), list(0), 1, 1000, 1000), u8},
		{"clipped below alone", clip(list(3), list(0), 2, 0, math.MaxInt64), i8},
		{"clipped above alone", clip(list(3), list(0), 2, math.MinInt64, 0), i8},
		{"out of bipolar", open(list(5, -6), list(3), 1), typ(bipolar, 3, 2)},
		{"of 63 bits", open(list(3), list(1<<61), 40), typ(intN(60), 2, 2)},
		{"unsigned, of 63 bits", open(list(1, 2), list(0), 1), typ(uintN(62), 2, 2)},
		{"shifted out", open(list(3, -3), list(7), 62), typ(intN(9), 2, 2)},
		{"unsigned, shifted out", open(list(3, 4), list(7), 30), typ(uintN(8), 3, 2)},
		{"a limit beyond an int", clip(list(1<<40), list(0), 0, -1<<45, 1<<46), i8},
		{"a wrap on the way", open(list(-1), list(255), 0), u8},
		{"half to even", round(num.RoundingHalfEven, list(1), list(0), 1), i8},
		{"half toward zero, per channel", round(num.RoundingHalfTowardZero, list(3, -3, 1, 0), list(0, 1, 2, 8), 4),
			i8},
		{"half away", round(num.RoundingHalfAwayFromZero, list(-5), list(2), 2), u8},
		{"half up", round(num.RoundingHalfUp, list(1), list(0), 3), i8},
		{"toward zero, of bipolar", round(num.RoundingTowardZero, list(5, -6), list(3), 1), typ(bipolar, 3, 2)},
		{"up, shifted out", round(num.RoundingCeil, list(3, -3), list(7), 62), typ(intN(9), 2, 2)},
		{"half away, of 63 bits", round(num.RoundingHalfAwayFromZero, list(3), list(1<<61), 62), typ(intN(60), 2, 2)},
		{"half to even, without a shift", round(num.RoundingHalfEven, list(3), list(5), 0), i8},
		{"16 bit codes, half to even", requant.Params{Multiplier: list(3, 1, 5, -7), Bias: list(1<<6, 0, -77, 5<<8),
			Shift: 7, Mode: num.RoundingHalfEven, Lo: -1 << 15, Hi: 1<<15 - 1}, typ(intN(24), 2, 4)},
		{"scalar", clip(list(77), list(64), 7, -50, 50), typ(intN(8))},
		{"a low digit", long(clip(list(19), list(-3), 14, 0, 1<<16-1), 33, digit(list(0x1b2c3d4e5), list(99))),
			typ(intN(27), 2, 4)},
		{"low digits per channel", long(clip(list(19, -3, 0, 1), list(-3, 5, 7, -9), 14, -1<<15, 1<<15-1), 31,
			digit(list(0x7fffffff, 1, 0, 5), list(99)), digit(list(0x1abcdef), list(0, 1, 2, 3))), typ(intN(28), 2, 4)},
		{"a low multiplier per channel", long(clip(list(3), list(1), 4, -99, 99), 5, digit(list(1, 30, 17, 0),
			list(31))), i8},
		{"low digits alone, half to even", long(round(num.RoundingHalfEven, list(0), list(0), 5), 21,
			digit(list(5592406), list(0))), typ(intN(20), 2, 4)},
		{"a bend", bent(long(clip(list(19), list(-3), 14, 0, 1<<16-1), 33, digit(list(0x1b2c3d4e5), list(99))),
			list(-70), list(2), list(1), digit(list(12345), list(5))), typ(intN(27), 2, 4)},
		{"a bend per channel", bent(long(clip(list(7, -3, 1, 0), list(-3, 5, 7, -9), 3, -99, 120), 9,
			digit(list(511, 1, 0, 5), list(99)), digit(list(300), list(0, 1, 2, 3))), list(0, 200, -128, 5),
			list(-9, 1, 2, 3), list(4), digit(list(5), list(1, 2, 3, 4)), digit(list(6), list(7))), i8},
		{"low digits of any sign", long(round(num.RoundingHalfAwayFromZero, list(-7), list(3), 3), 4,
			digit(list(-100, 7, 3, 255), list(-9)), digit(list(5), list(-1000))), i8},
	} {
		cases = append(cases, layertest.Case{Name: c.name, Op: requant.New(c.p), In: []dataflow.StreamType{c.in}})
	}
	layertest.Check(t, append(cases, layertest.RandomCases(60, 41, randomtest.Requant)...)...)
}

// TestRanges checks that a channel's outputs are the exact interval, and that a range that all channels share stays one
// range.
func TestRanges(t *testing.T) {
	t.Parallel()
	perChannel := layertest.RangedType(intN(3), dataflow.Shape{2}, num.Range{Lo: -1, Hi: 2}, num.SingleValueRange(3))
	i4 := typ(intN(4), 2)
	for _, tt := range []struct {
		p    requant.Params
		in   dataflow.StreamType
		want dataflow.StreamType
	}{
		{open(list(3), list(1), 1), i4, dataflow.StreamType{Shape: dataflow.Shape{2}, Range: []num.Range{{Lo: -12,
			Hi: 11}},
			Elem: intN(5)}},
		{clip(list(3), list(1), 1, 0, 9), i4, dataflow.StreamType{Shape: dataflow.Shape{2},
			Range: []num.Range{{Lo: 0, Hi: 9}}, Elem: uintN(4)}},
		{open(list(-3, 0), list(1), 1), i4, dataflow.StreamType{Shape: dataflow.Shape{2},
			Range: []num.Range{{Lo: -10, Hi: 12}, {Lo: 0, Hi: 0}}, Elem: intN(5)}},
		{clip(list(-3), list(4), 2, -1, 9), perChannel, dataflow.StreamType{Shape: dataflow.Shape{2},
			Range: []num.Range{{Lo: -1, Hi: 1}, {Lo: -1, Hi: -1}}, Elem: intN(2)}},
		{round(num.RoundingHalfEven, list(1), list(0), 1), perChannel,
			dataflow.StreamType{Shape: dataflow.Shape{2}, Range: []num.Range{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 2}},
				Elem: uintN(2)}},
		{round(num.RoundingHalfAwayFromZero, list(-1), list(0), 1), perChannel,
			dataflow.StreamType{Shape: dataflow.Shape{2}, Range: []num.Range{{Lo: -1, Hi: 1}, {Lo: -2, Hi: -2}},
				Elem: intN(2)}},
		{clip(list(2), list(0), 0, 10, 12), perChannel, dataflow.StreamType{Shape: dataflow.Shape{2},
			Range: []num.Range{{Lo: 10, Hi: 10}, {Lo: 10, Hi: 10}}, Elem: uintN(4)}},
	} {
		layertest.CheckOutputs(t, requant.New(tt.p), []dataflow.StreamType{tt.in}, tt.want)
	}
}

// TestTables looks at the tables, and at the choices of a fold.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		p     requant.Params
		pe    int
		want  string
		folds int
	}{
		{"shared", clip(list(3), list(-1), 2, 0, 3), 1,
			"multipliers UINT2 none [[3]], biases INT1 none [[-1]], limits UINT2 none [[0 3]]", 4},
		{"found to be shared", clip(list(3, 3), list(1, 1), 2, 0, 3), 2,
			"multipliers UINT2 none [[3]], biases BINARY none [[1]], limits UINT2 none [[0 3]]", 4},
		{"wiring", open(list(-4), list(0), 0), 1,
			"multipliers INT3 none [[-4]], biases BINARY none [[0]], limits INT7 none [[-28 32]]", 2},
		{"by channel", open(list(3, -4), list(2), 0), 1,
			"multipliers INT3 distributed [[3] [-4]], biases UINT2 none [[2]], limits INT7 none [[-26 34]]", 6},
		{"biases by channel", open(list(1), list(2, 0), 0), 1,
			"multipliers BINARY none [[1]], biases UINT2 distributed [[2] [0]], limits INT5 none [[-8 9]]", 3},
		{"side by side", open(list(3, -4), list(2, 1), 0), 2,
			"multipliers INT3 none [[3 -4]], biases UINT2 none [[2 1]], limits INT7 none [[-27 33]]", 6},
	} {
		op := layertest.Bind(t, requant.New(tt.p), typ(intN(4), 2))
		f := dataflow.Fold{PE: tt.pe, SIMD: 1, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInDSPs}
		i := op.Emit(f, dataflow.Target{})
		if got, folds := layertest.DescribeTables(i), layertest.CountFolds(op); got != tt.want || folds != tt.folds {
			t.Errorf("%s: %s, %d folds, want %s, %d", tt.name, got, folds, tt.want, tt.folds)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(intN(4), 2, 3)
	one := []dataflow.StreamType{in}
	for _, tt := range []struct {
		p    requant.Params
		in   []dataflow.StreamType
		want string
	}{
		{open(list(1), list(0), 0), nil, "0 inputs, want 1"},
		{open(list(1), list(0), 0), []dataflow.StreamType{in, in}, "2 inputs, want 1"},
		{open(nil, list(0), 0), one, "there is no multiplier"},
		{open(list(1), nil, 0), one, "there is no bias"},
		{open(list(1), list(0), -1), one, "a shift by -1, want 0..62"},
		{open(list(1), list(0), 63), one, "a shift by 63, want 0..62"},
		{round("half-down", list(1), list(0), 1), one, `unknown rounding "half-down"`},
		{clip(list(1), list(0), 0, 3, 2), one, "outputs from 3 up to 2"},
		{open(list(1, 2), list(0), 0), one, "2 multipliers for an input of shape [2 3], want one or 3"},
		{open(list(1), list(0, 1, 2, 3), 0), one, "4 biases for an input of shape [2 3], want one or 3"},
		{open(list(1<<61), list(0), 62), one, "channel 0: the sum leaves 64 bits"},
		{open(list(1, 1, math.MinInt64), list(0), 62), one, "channel 2: the sum leaves 64 bits"},
		{open(list(1), list(math.MaxInt64), 62), one, "channel 0: the sum leaves 64 bits"},
		{open(list(1<<60), list(0), 62), one, "the sum needs 64 bits"},
		{open(list(1<<59), list(0), 62), one, ""},
		{open(list(1), list(0), 0), []dataflow.StreamType{typ(intN(64), 3)}, "the sum needs 64 bits"},
		{long(open(list(1), list(0), 0), 3), one, "0 low digits of 3 bits, want 1..62 bits"},
		{long(open(list(1), list(0), 0), 63, digit(list(1), list(0))), one, "1 low digits of 63 bits"},
		{long(open(list(1), list(0), 0), 3, digit(nil, list(0))), one, "a low digit without a multiplier or a bias"},
		{long(open(list(1), list(0), 0), 3, digit(list(1, 2), list(0))), one, "2 multipliers for an input"},
		{long(open(list(1), list(0), 0), 3, digit(list(1<<61), list(0))), one, "channel 0: the sum leaves 64 bits"},
		{bent(open(list(1), list(0), 0), list(0), list(1), list(0)), one, "a line below a bend with 0 low digits"},
		{bent(long(open(list(1), list(0), 0), 3, digit(list(1), list(0))), list(0, 1), list(1), list(0),
			digit(list(1), list(0))), one, "2 bends for an input of shape"},
		{long(open(list(1), list(0), 0), 62, digit(list(1<<60), list(0))), one, "the sum of a low digit needs 64 bits"},
		{open(list(1), list(0), 0), []dataflow.StreamType{typ(uintN(4), 1<<31, 1)}, "no fold keeps"},
	} {
		layertest.CheckRefused(t, requant.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, requant.LayerKind, ``, `null`, `{}`, `[]`, `{"multiplier":[1]}`, `{"bias":[1]}`,
		`{"multiplier":[0.5],"bias":[1]}`, `{"multiplier":[1],"bias":[1],"shift":63}`,
		`{"multiplier":[1],"bias":[1],"shift":-1}`, `{"multiplier":[1],"bias":[1],"lo":1,"hi":0}`,
		`{"multiplier":[1],"bias":[1],"mode":"nearest"}`, `{"multiplier":[1],"bias":[1e30]}`)
}

// TestLoop checks that the layer takes a clock per word, and a latency for its operations.
func TestLoop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p           requant.Params
		pe, latency int
	}{
		{open(list(4), list(1), 1), 2, 2},
		{open(list(3), list(1), 1), 2, 3}, // a table
		{open(list(4), list(1, 2, 3, 4, 5, 6), 1), 2, 3},
		{open(list(1, 2, 3, 4, 5, 6), list(1), 1), 2, 3},
		{open(list(1, 2, 3, 4, 5, 6), list(1), 1), 6, 3},
	} {
		op := layertest.Bind(t, requant.New(tt.p), typ(uintN(4), 5, 6))
		moves := dataflow.PortMoves{Read: 1, Write: 1}
		layertest.CheckLoop(t, op, dataflow.Fold{PE: tt.pe, SIMD: 1},
			dataflow.Loop{Body: []dataflow.LoopRun{{Times: 30 / tt.pe, Moves: moves}}, Latency: tt.latency})
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	control := dataflow.Resources{LUT: 3 + 1 + 2 + 1, FF: 3 + 2} // 5 vectors of 3 words
	six := list(1, 2, 3, 4, 5, 6)
	for _, tt := range []struct {
		p    requant.Params
		fold dataflow.Fold
		want dataflow.Resources
	}{
		{open(list(4), list(0), 1), dataflow.Fold{PE: 2, SIMD: 1}, dataflow.Resources{}}, // wiring
		{clip(list(9), list(1), 2, 1, 30), dataflow.Fold{PE: 2, SIMD: 1, Compute: dataflow.MultiplierInDSPs},
			dataflow.Resources{LUT: 2*8 + 2*2*6, DSP: 2}},
		{clip(list(9), list(1), 2, 0, 30), dataflow.Fold{PE: 2, SIMD: 1, Compute: dataflow.MultiplierInDSPs},
			dataflow.Resources{LUT: 2*8 + 2*6, DSP: 2}},
		{round(num.RoundingHalfEven, list(9), list(1), 2), dataflow.Fold{PE: 2, SIMD: 1,
			Compute: dataflow.MultiplierInDSPs},
			dataflow.Resources{LUT: 2*8 + 2*6, DSP: 2}},
		{open(six, list(1), 0), dataflow.Fold{PE: 2, SIMD: 1, Compute: dataflow.MultiplierInDSPs,
			Memory: dataflow.MemoryLUTRAM},
			dataflow.Resources{LUT: 2*3 + 2*7, DSP: 2}},
		{open(six, six, 0), dataflow.Fold{PE: 2, SIMD: 1, Compute: dataflow.MultiplierInDSPs,
			Memory: dataflow.MemoryBRAM},
			dataflow.Resources{LUT: 2 * 7, DSP: 2, BRAM: 2}},
	} {
		op := layertest.Bind(t, requant.New(tt.p), typ(uintN(4), 5, 6))
		layertest.CheckFINNCost(t, op, tt.fold, tt.want.Plus(control))
	}
	op := layertest.Bind(t, requant.New(open(list(9), list(1), 1)), typ(uintN(20), 5, 6)) // codes too many for a table
	layertest.CheckFINNCost(t, op, dataflow.Fold{PE: 2, SIMD: 1, Compute: dataflow.MultiplierInLUTs},
		dataflow.Resources{LUT: 2*7*24 + 2*24}.Plus(control))
}

// TestForms checks the parts of a fold without DSP slices. Many channels share a multiplier, which takes least where
// all tables together take more. A few channels have a table each. Functions with too many codes for both are
// multiplied.
func TestForms(t *testing.T) {
	t.Parallel()
	many := list()
	for c := range int64(48) {
		many = append(many, 1000*c)
	}
	for _, tt := range []struct {
		name string
		p    requant.Params
		in   num.Type
		pe   int
		want string // the names of tables
	}{
		{"a byte", clip(list(77), list(64), 7, -50, 50), intN(8), 1, "codes thresholds"},
		{"lanes of two channels", clip(list(77, 78), many[:48], 12, 0, 63), intN(14), 24, ""},
		{"many channels", clip(list(5), many, 12, 0, 255), intN(18), 2, "biases"},
		{"many codes", clip(list(77), list(64), 3, -1<<20, 1<<20), intN(20), 1, "multipliers biases limits"},
	} {
		if len(tt.p.Multiplier) == 2 {
			for len(tt.p.Multiplier) < 48 {
				tt.p.Multiplier = append(tt.p.Multiplier, tt.p.Multiplier[:2]...)
			}
			tt.want = "codes thresholds"
		}
		op := layertest.Bind(t, requant.New(tt.p), typ(tt.in, 2, 48))
		f := dataflow.Fold{PE: tt.pe, SIMD: 1, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInLUTs}
		if len(tt.p.Bias) == 1 {
			f.Memory = dataflow.NoMemory
		}
		var names []string
		for _, table := range op.Emit(f, dataflow.Target{}).Tables {
			names = append(names, table.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: tables %s, want %s", tt.name, got, tt.want)
		}
		f.Compute = dataflow.MultiplierInDSPs
		if got := op.Emit(f, dataflow.Target{}).Func; got != "requant" {
			t.Errorf("%s: in DSP slices it is a %s", tt.name, got)
		}
	}
}

// TestFormsExact checks by brute force that the step functions of a layer's hardware are those that it computes.
func TestFormsExact(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 41))
	built := 0
	for range 300 {
		p := clip(nil, nil, r.IntN(14), -int64(r.IntN(200)), int64(r.IntN(200)))
		p.Mode = num.Roundings[r.IntN(len(num.Roundings))]
		for range 2 {
			p.Multiplier = append(p.Multiplier, int64(r.IntN(200)-100))
			p.Bias = append(p.Bias, int64(r.IntN(4000)-2000))
		}
		in := typ(num.Type{Kind: []num.TypeKind{num.KindInt, num.KindUInt}[r.IntN(2)], Width: 2 + r.IntN(9)}, 2)
		op := layertest.Bind(t, requant.New(p), in)
		for f := range op.Folds() {
			if op.Emit(f, dataflow.Target{}).Func != "threshold" {
				continue
			}
			built++
			for x := in.Range[0].Lo; x <= in.Range[0].Hi; x++ {
				k := op.Kernel(f, dataflow.Target{})
				want := op.Eval([]dataflow.Tensor{{Shape: in.Shape, Data: list(x, x)}})[0].Data
				var got []int64
				for n := range 2 / f.PE {
					got = append(got, k.Step(n, []dataflow.Word{slices.Repeat(list(x), f.PE)})[0]...)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%+v, fold %+v: %d gives %v, want %v", p, f, x, got, want)
				}
			}
		}
	}
	if built == 0 {
		t.Error("no fold is built as step functions")
	}
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
