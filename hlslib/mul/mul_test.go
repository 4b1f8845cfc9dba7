package mul_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mul"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

var (
	ternary                   = num.Type{Kind: num.KindTernary, Width: 2}
	relu                      = num.StepFunction{At: []int64{1, 7, 30}, Value: []int64{0, 1, 2, 3}}
	fall                      = num.StepFunction{At: []int64{-3, 0, 4}, Value: []int64{2, -1, 7, -8}}
	sign                      = num.StepFunction{At: []int64{0}, Value: []int64{-1, 1}}
	typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
)

// then is step functions alone.
func then(steps ...num.StepFunction) mul.Params { return mul.Params{Steps: steps} }

// moved is offsets and step functions.
func moved(a, b int64, steps ...num.StepFunction) mul.Params {
	return mul.Params{Offset: [2]int64{a, b}, Steps: steps}
}

// scaled is offsets and a requantiser.
func scaled(a, b int64, q num.Requant) mul.Params {
	return mul.Params{Offset: [2]int64{a, b}, Requant: &q}
}

func TestContract(t *testing.T) {
	t.Parallel()
	i4, u4 := typ(intN(4), 3, 4), typ(uintN(4), 3, 4)
	signs := typ(bipolar, 3, 4)
	perChannel := layertest.UnevenType(2, 3)
	wide := num.StepFunction{At: []int64{-1 << 60, 1 << 59}, Value: []int64{-1 << 40, 3, 1 << 50}}
	of := func(a, b dataflow.StreamType) []dataflow.StreamType { return []dataflow.StreamType{a, b} }
	cases := []layertest.Case{
		{Name: "plain", Op: mul.New(mul.Params{}), In: of(i4, i4)},
		{Name: "of two types", Op: mul.New(mul.Params{}), In: of(i4, typ(uintN(9), 3, 4))},
		{Name: "offsets", Op: mul.New(moved(-7, 3)), In: of(u4, i4)},
		{Name: "offsets to one sign", Op: mul.New(moved(8, -15)), In: of(i4, u4)},
		{Name: "offsets of 32 bits", Op: mul.New(moved(-1<<31, 1<<30)), In: of(u4, i4)},
		{Name: "signs", Op: mul.New(mul.Params{}), In: of(signs, signs)},
		{Name: "signs and numbers", Op: mul.New(mul.Params{}), In: of(signs, u4)},
		{Name: "numbers and signs", Op: mul.New(mul.Params{}), In: of(i4, signs)},
		{Name: "signs from 0 on", Op: mul.New(moved(1, 1)), In: of(signs, signs)},
		{Name: "signs, one from 0 on", Op: mul.New(moved(0, 1)), In: of(signs, signs)},
		{Name: "ternary", Op: mul.New(mul.Params{}), In: of(i4, typ(ternary, 3, 4))},
		{Name: "a bit", Op: mul.New(mul.Params{}), In: of(typ(uintN(1), 3, 4), i4)},
		{Name: "ranges per channel", Op: mul.New(moved(1, 0)), In: of(perChannel, typ(intN(3), 2, 3))},
		{Name: "a gate", Op: mul.New(mul.Params{}), In: of(i4, typ(uintN(5), 4))},
		{Name: "a gate of an image", Op: mul.New(moved(0, 2)), In: of(typ(uintN(6), 3, 2, 6), typ(uintN(3), 1, 1, 6))},
		{Name: "a gate of fewer axes", Op: mul.New(mul.Params{}), In: of(typ(uintN(6), 3, 2, 6), typ(intN(3), 1, 6))},
		{Name: "a gate of signs", Op: mul.New(mul.Params{}), In: of(i4, typ(bipolar, 4))},
		{Name: "a gate of one channel", Op: mul.New(then(relu)), In: of(typ(intN(4), 5, 1), typ(intN(4), 1))},
		{Name: "a gate with ranges", Op: mul.New(moved(0, 9)),
			In: of(typ(intN(5), 4, 3), dataflow.StreamType{Shape: dataflow.Shape{3}, Range: perChannel.Range,
				Elem: perChannel.Elem})},
		{Name: "a gate of one vector", Op: mul.New(then(relu)), In: of(typ(intN(4), 1, 1, 6), typ(intN(4), 6))},
		{Name: "a gate, requantised per channel", Op: mul.New(moved(-1, 4, relu, sign, relu, fall)),
			In: of(u4, typ(intN(4), 1, 4))},
		{Name: "requantised", Op: mul.New(then(relu)), In: of(i4, u4)},
		{Name: "falling", Op: mul.New(then(fall)), In: of(i4, i4)},
		{Name: "bases per channel", Op: mul.New(then(relu, sign, relu, relu)), In: of(i4, i4)},
		{Name: "bipolar results of signs", Op: mul.New(then(sign)), In: of(signs, signs)},
		{Name: "steps of signs", Op: mul.New(then(num.StepFunction{At: []int64{0, 1}, Value: []int64{5, 6, 9}})),
			In: of(signs, typ(bipolar, 4))},
		{Name: "a constant", Op: mul.New(then(num.StepFunction{Value: []int64{-3}})), In: of(i4, i4)},
		{Name: "a base beyond an int", Op: mul.New(then(num.StepFunction{At: []int64{1}, Value: []int64{1 << 40,
			1<<40 + 1}})),
			In: of(i4, i4)},
		{Name: "of 63 bits", Op: mul.New(then(wide, sign)), In: of(typ(intN(33), 2), typ(intN(30), 2))},
		{Name: "unsigned, of 63 bits", Op: mul.New(mul.Params{}), In: of(typ(uintN(31), 3, 2), typ(uintN(32), 2))},
		{Name: "by a requantiser", Op: mul.New(scaled(0, 0, num.Requant{Multiplier: 5, Shift: 4,
			Mode: num.RoundingHalfAwayFromZero,
			Lo:   -8, Hi: 7})), In: of(i4, u4)},
		{Name: "by a shift", Op: mul.New(scaled(-8, 1, num.Requant{Multiplier: 8, Shift: 6, Mode: num.RoundingHalfEven,
			Lo: -128, Hi: 127})), In: of(u4, i4)},
		{Name: "by a requantiser that falls", Op: mul.New(scaled(0, 0,
			num.Requant{Multiplier: -3, Shift: 1, Mode: num.RoundingTowardZero, Lo: math.MinInt64, Hi: 20})), In: of(i4,
			u4)},
		{Name: "by 0", Op: mul.New(scaled(0, 0, num.Requant{Shift: 5, Mode: num.RoundingCeil, Lo: 2, Hi: 3})),
			In: of(i4,
				i4)},
		{Name: "by a requantiser, of signs", Op: mul.New(scaled(0, 0,
			num.Requant{Multiplier: 7, Shift: 2, Mode: num.RoundingHalfUp, Lo: -9, Hi: 9})), In: of(signs, signs)},
		{Name: "by a requantiser, of signs and numbers", Op: mul.New(scaled(0, 0,
			num.Requant{Multiplier: 7, Shift: 2, Mode: num.RoundingFloor, Lo: -9, Hi: 9})), In: of(i4, typ(bipolar,
			4))},
		{Name: "by a requantiser, of 63 bits", Op: mul.New(scaled(0, 0,
			num.Requant{Multiplier: 1<<31 - 1, Shift: 62, Mode: num.RoundingHalfTowardZero, Lo: -1, Hi: 1})),
			In: of(typ(intN(16), 2), typ(intN(16), 2))},
		{Name: "scalars", Op: mul.New(then(relu)), In: of(typ(intN(4)), typ(intN(4)))},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(60, 37, randomtest.Mul)...)...)
}

// TestRanges checks that a channel's products are the exact interval, and that a range that all channels share stays
// one range.
func TestRanges(t *testing.T) {
	t.Parallel()
	perChannel := layertest.RangedType(intN(3), dataflow.Shape{2}, num.Range{Lo: -1, Hi: 2}, num.SingleValueRange(3))
	i4, signs := typ(intN(4), 3, 2), typ(bipolar, 3, 2)
	for _, tt := range []struct {
		p    mul.Params
		a, b dataflow.StreamType
		want dataflow.StreamType
	}{
		{mul.Params{}, i4, i4, dataflow.StreamType{Range: []num.Range{{Lo: -56, Hi: 64}}, Elem: intN(8)}},
		{mul.Params{}, i4, perChannel, dataflow.StreamType{Range: []num.Range{{Lo: -16, Hi: 14}, {Lo: -24, Hi: 21}},
			Elem: intN(6)}},
		{moved(8, 1), i4, perChannel, dataflow.StreamType{Range: []num.Range{{Lo: 0, Hi: 45}, {Lo: 0, Hi: 60}},
			Elem: uintN(6)}},
		{moved(0, -3), i4, perChannel, dataflow.StreamType{Range: []num.Range{{Lo: -28, Hi: 32}, {}}, Elem: intN(7)}},
		{then(relu), i4, i4, dataflow.StreamType{Range: []num.Range{{Lo: 0, Hi: 3}}, Elem: uintN(2)}},
		{then(relu, sign), i4, i4, dataflow.StreamType{Range: []num.Range{{Lo: 0, Hi: 3}, {Lo: -1, Hi: 1}},
			Elem: intN(3)}},
		{mul.Params{}, signs, signs, dataflow.StreamType{Range: []num.Range{{Lo: -1, Hi: 1}}, Elem: bipolar}},
		{scaled(0, 0, num.Requant{Multiplier: 3, Shift: 2, Mode: num.RoundingHalfUp, Lo: -10, Hi: 100}), i4, perChannel,
			dataflow.StreamType{Range: []num.Range{{Lo: -10, Hi: 11}, {Lo: -10, Hi: 16}}, Elem: intN(6)}},
		{moved(1, 0), signs, signs, dataflow.StreamType{Range: []num.Range{{Lo: -2, Hi: 2}}, Elem: intN(3)}},
		{mul.Params{}, i4, typ(bipolar, 2), dataflow.StreamType{Range: []num.Range{{Lo: -8, Hi: 8}}, Elem: intN(5)}},
	} {
		tt.want.Shape = dataflow.Shape{3, 2}
		layertest.CheckOutputs(t, mul.New(tt.p), []dataflow.StreamType{tt.a, tt.b}, tt.want)
	}
}

// TestForms looks at the types inside, at the tables, and at the choices of a fold.
func TestForms(t *testing.T) {
	t.Parallel()
	jump := num.StepFunction{At: []int64{2, 4}, Value: []int64{0, 1, 100}}
	i4, signs := typ(intN(4), 3, 2), typ(bipolar, 3, 2)
	for _, tt := range []struct {
		name  string
		p     mul.Params
		b     dataflow.StreamType
		pe    int
		want  string
		folds int
	}{
		{"plain", mul.Params{}, i4, 1, "INT4 INT4 INT8", 4},
		{"offsets", moved(8, -8), i4, 1, "UINT4 INT5 INT9", 4},
		{"a gate", mul.Params{}, typ(uintN(3), 2), 1, "gate INT4 UINT3 INT7", 4},
		{"signs", mul.Params{}, signs, 1, "INT4 BIPOLAR INT5", 2},
		{"moved signs", moved(0, 1), signs, 1, "INT4 UINT2 INT5", 4},
		{"a bit", mul.Params{}, typ(uintN(1), 3, 2), 1, "INT4 BINARY INT4", 2},
		{"steps", then(relu), i4, 1, "INT4 INT4 INT8 codes UINT2 distributed 256 rows of 1", 4},
		{"steps per channel", then(relu, sign), signs, 1,
			"INT4 BIPOLAR INT5 codes INT3 distributed 64 rows of 1", 3},
		{"a requantiser", scaled(0, 0, num.Requant{Multiplier: 6, Shift: 2, Mode: num.RoundingHalfUp, Lo: -12, Hi: 99}),
			i4, 1,
			"INT4 INT4 INT8 [3 1 1 -12 96 1 9]", 4},
		{"a requantiser of signs", scaled(0, 0, num.Requant{Multiplier: 3, Shift: 2, Mode: num.RoundingHalfUp, Lo: -9,
			Hi: 9}),
			signs, 1, "INT4 BIPOLAR INT5 [3 2 1 -6 6 0 6]", 4},
		{"a shift of signs", scaled(0, 0, num.Requant{Multiplier: 4, Mode: num.RoundingFloor, Lo: -99, Hi: 9}), signs,
			1,
			"INT4 BIPOLAR INT5 [4 0 4 -32 9 2 7]", 2},
		{"side by side", then(fall, jump), signs, 2,
			"INT4 BIPOLAR INT5 codes INT8 distributed 64 rows of 1", 3},
	} {
		op := layertest.Bind(t, mul.New(tt.p), i4, tt.b)
		i := op.Emit(dataflow.Fold{PE: tt.pe, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, dataflow.Target{})
		var words []string
		for _, f := range i.Config {
			if f.Value == true && f.Name == "gate" {
				words = append(words, f.Name)
			}
			switch v := f.Value.(type) {
			case num.Type, []int64:
				words = append(words, fmt.Sprint(v))
			}
		}
		got, folds := strings.TrimSpace(strings.Join(words, " ")+" "+layertest.DescribeTables(i)),
			layertest.CountFolds(op)
		if got != tt.want || folds != tt.folds {
			t.Errorf("%s: %s, %d folds, want %s, %d", tt.name, got, folds, tt.want, tt.folds)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(uintN(4), 2, 3)
	pair := []dataflow.StreamType{in, in}
	for _, tt := range []struct {
		p    mul.Params
		in   []dataflow.StreamType
		want string
	}{
		{mul.Params{}, nil, "0 inputs, want 2"},
		{mul.Params{}, []dataflow.StreamType{in, in, in}, "3 inputs, want 2"},
		{mul.Params{}, []dataflow.StreamType{in, typ(uintN(4), 3, 2)}, "shapes [2 3] and [3 2]"},
		{mul.Params{}, []dataflow.StreamType{typ(uintN(4), 3), in}, "shapes [3] and [2 3]"},
		{mul.Params{}, []dataflow.StreamType{in, typ(uintN(4), 2)}, "want one shape, or a second of one vector of 3"},
		{mul.Params{}, []dataflow.StreamType{in, typ(uintN(4), 2, 1)}, "shapes [2 3] and [2 1]"},
		{mul.Params{}, []dataflow.StreamType{in, typ(uintN(4), 1, 1, 3)}, "shapes [2 3] and [1 1 3]"},
		{mul.Params{}, []dataflow.StreamType{in, typ(uintN(4), 1, 3)}, ""},
		{moved(1<<31, 0), pair, "the offset 2147483648 of input 0 takes more than 32 bits"},
		{moved(0, -1<<31-1), pair, "the offset -2147483649 of input 1 takes more than 32 bits"},
		{then(relu, relu), pair, "2 step functions for inputs of shape [2 3], want none, one or 3"},
		{then(num.StepFunction{}), pair, "channel 0: step function has 0 breakpoints and 0 values"},
		{moved(1, 0), []dataflow.StreamType{typ(intN(64), 3), typ(intN(4), 3)},
			"channel 0: an input and its offset leave 64 bits"},
		{mul.Params{}, []dataflow.StreamType{typ(intN(64), 3), typ(intN(2), 3)},
			"channel 0: the product leaves 64 bits"},
		{mul.Params{}, []dataflow.StreamType{typ(uintN(32), 3), typ(uintN(31), 3)}, ""},
		{mul.Params{}, []dataflow.StreamType{typ(intN(32), 3), typ(uintN(31), 3)}, ""},
		{mul.Params{}, []dataflow.StreamType{typ(intN(32), 3), typ(intN(32), 3)},
			"the product needs 64 bits for [-4611686016279904256,4611686018427387904], at most 63"},
		{mul.Params{Steps: []num.StepFunction{relu}, Requant: &num.Requant{Mode: num.RoundingFloor}}, pair,
			"step functions and a requantiser"},
		{scaled(0, 0, num.Requant{}), pair, "unknown rounding"},
		{scaled(0, 0, num.Requant{Multiplier: 1 << 54, Mode: num.RoundingFloor}), pair, ""},
		{scaled(0, 0, num.Requant{Multiplier: 1 << 55, Mode: num.RoundingFloor}), pair,
			"channel 0: the requantiser's product leaves 63 bits"},
		{then(layertest.Stairs(layer.MaxThresholdsPerChannel+1, 1)), []dataflow.StreamType{typ(uintN(13), 3),
			typ(uintN(1), 3)},
			"a channel has 4097 thresholds, at most 4096"},
		{mul.Params{}, []dataflow.StreamType{typ(uintN(4), 1<<31, 1), typ(uintN(4), 1)}, "no fold keeps"},
	} {
		layertest.CheckRefused(t, mul.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, mul.LayerKind, ``, `[]`, `{"offset":[1]}`, `{"offset":[1,2,3]}`, `{"offset":[1.5,0]}`,
		`{"offset":[0,2147483648]}`, `{"requant":{}}`, `{"requant":{"mode":"floor"},"steps":[{"value":[1]}]}`,
		`{"steps":[{}]}`, `{"steps":[{"at":[1,1],"value":[1,2,3]}]}`, `{} x`)
}

// TestLoop checks that the layer takes a clock per word, reads a gate with the first vector, and has a latency for its
// operations.
func TestLoop(t *testing.T) {
	t.Parallel()
	u4 := typ(uintN(4), 5, 6)
	all := []dataflow.LoopRun{{Times: 15, Moves: dataflow.PortMoves{Read: 3, Write: 1}}}
	gate := []dataflow.LoopRun{{Times: 3, Moves: dataflow.PortMoves{Read: 3, Write: 1}},
		{Times: 12, Moves: dataflow.PortMoves{Read: 1, Write: 1}}}
	for _, tt := range []struct {
		p    mul.Params
		b    dataflow.StreamType
		want dataflow.Loop
	}{
		{mul.Params{}, u4, dataflow.Loop{Body: all, Latency: 2}},
		{moved(0, -1), u4, dataflow.Loop{Body: all, Latency: 2}},
		{then(relu), u4, dataflow.Loop{Body: all, Latency: 3}}, // a table
		{scaled(0, 0, num.Requant{Multiplier: 3, Mode: num.RoundingFloor}), u4, dataflow.Loop{Body: all, Latency: 2}},
		{scaled(0, 0, num.Requant{Multiplier: 4, Mode: num.RoundingFloor}), u4, dataflow.Loop{Body: all, Latency: 2}},
		{mul.Params{}, typ(uintN(4), 6), dataflow.Loop{Body: gate, Latency: 3}},
		{moved(0, -1, relu), typ(uintN(4), 6), dataflow.Loop{Body: gate, Latency: 4}},
	} {
		op := layertest.Bind(t, mul.New(tt.p), u4, tt.b)
		layertest.CheckLoop(t, op, dataflow.Fold{PE: 2, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, tt.want)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	u4, gate := typ(uintN(4), 5, 6), typ(uintN(4), 6)
	control := dataflow.Resources{LUT: 3 + 1 + 2 + 1, FF: 3 + 2} // 5 vectors of 3 words
	for _, tt := range []struct {
		p    mul.Params
		b    dataflow.StreamType
		fold dataflow.Fold
		want dataflow.Resources
	}{
		{mul.Params{}, u4, dataflow.Fold{Compute: dataflow.MultiplierInLUTs}, dataflow.Resources{LUT: 2 * (3 * 8)}},
		{mul.Params{}, u4, dataflow.Fold{Compute: dataflow.MultiplierInDSPs}, dataflow.Resources{DSP: 2}},
		{moved(-8, 0), u4, dataflow.Fold{Compute: dataflow.MultiplierInDSPs}, dataflow.Resources{LUT: 2 * 4, DSP: 2}},
		{mul.Params{}, typ(bipolar, 5, 6), dataflow.Fold{}, dataflow.Resources{LUT: 2 * 5}},
		// 3 words of 8 bits kept
		{mul.Params{}, gate, dataflow.Fold{Compute: dataflow.MultiplierInDSPs},
			dataflow.Resources{LUT: 4 * 2, LUTRAM: 4 * 2, DSP: 2}},
		{scaled(0, 0, num.Requant{Multiplier: 3, Shift: 4, Mode: num.RoundingHalfUp, Lo: -2, Hi: 15}), u4,
			// codes of 0..42
			dataflow.Fold{Compute: dataflow.MultiplierInDSPs}, dataflow.Resources{LUT: 2 * (6 + 2*3), DSP: 4}},
		{scaled(0, 0, num.Requant{Multiplier: 5, Mode: num.RoundingFloor, Lo: 1, Hi: 2000}), typ(bipolar, 5, 6),
			// codes of -75..75
			dataflow.Fold{Compute: dataflow.MultiplierInLUTs}, dataflow.Resources{LUT: 2*5 + 2*(3*8+2*4)}},
		{then(relu), u4, dataflow.Fold{Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInDSPs},
			dataflow.Resources{LUT: 2 * (2 + 1), DSP: 2}},
		// tables
		{then(relu, relu, relu, relu, relu, sign), u4, dataflow.Fold{Memory: dataflow.MemoryBRAM,
			Compute: dataflow.MultiplierInDSPs},
			dataflow.Resources{BRAM: 2, DSP: 2}},
	} {
		op := layertest.Bind(t, mul.New(tt.p), u4, tt.b)
		tt.fold.PE, tt.fold.SIMD = 2, 1
		layertest.CheckFINNCost(t, op, tt.fold, tt.want.Plus(control))
		fitted := op.Cost(tt.fold, dataflow.Target{}).Total()
		if fitted.FF < 2*5 || fitted.DSP != tt.want.DSP {
			t.Errorf("%+v: %+v by the fitted formula", tt.p, fitted)
		}
	}
}
