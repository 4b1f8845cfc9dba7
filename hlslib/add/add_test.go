package add_test

import (
	"math"
	"strings"
	"testing"

	"hlsgen/hlslib/add"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

var (
	relu                      = num.StepFunction{At: []int64{1, 7, 30}, Value: []int64{0, 1, 2, 3}}
	fall                      = num.StepFunction{At: []int64{-3, 0, 4}, Value: []int64{2, -1, 7, -8}}
	sign                      = num.StepFunction{At: []int64{0}, Value: []int64{-1, 1}}
	typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
)

// by is factors alone.
func by(m0, m1 []int64) add.Params { return add.Params{Factors: [2][]int64{m0, m1}} }

// then is factors and step functions.
func then(m0, m1 []int64, steps ...num.StepFunction) add.Params {
	return add.Params{Factors: [2][]int64{m0, m1}, Steps: steps}
}

func list(v ...int64) []int64 { return v }

func TestContract(t *testing.T) {
	t.Parallel()
	i4, u4 := typ(intN(4), 3, 4), typ(uintN(4), 3, 4)
	perChannel := layertest.UnevenType(2, 3)
	wide := num.StepFunction{At: []int64{-1 << 60, 1 << 59}, Value: []int64{-1 << 40, 3, 1 << 50}}
	both := func(t dataflow.StreamType) []dataflow.StreamType { return []dataflow.StreamType{t, t} }
	cases := []layertest.Case{
		{Name: "plain", Op: add.New(add.Params{}), In: both(i4)},
		{Name: "of two types", Op: add.New(add.Params{}), In: []dataflow.StreamType{i4, typ(uintN(9), 3, 4)}},
		{Name: "signs", Op: add.New(add.Params{}), In: both(typ(bipolar, 5, 2))},
		{Name: "signs and numbers", Op: add.New(by(list(-7), nil)), In: []dataflow.StreamType{typ(bipolar, 3, 4), u4}},
		{Name: "a difference", Op: add.New(by(nil, list(-1))), In: both(u4)},
		{Name: "ranges per channel", Op: add.New(add.Params{}), In: []dataflow.StreamType{perChannel, typ(intN(3), 2,
			3)}},
		{Name: "one factor each", Op: add.New(by(list(13), list(-200))), In: []dataflow.StreamType{i4, u4}},
		{Name: "factors per channel", Op: add.New(by(list(1, -2, 3, 0), list(5, 0, -7, 8))),
			In: []dataflow.StreamType{i4, u4}},
		{Name: "one side per channel", Op: add.New(by(nil, list(5, 0, -7, 8))), In: []dataflow.StreamType{u4, i4}},
		{Name: "a factor beyond an int", Op: add.New(by(list(1<<40), list(-3))), In: both(i4)},
		{Name: "a dead branch", Op: add.New(by(list(0), nil)), In: []dataflow.StreamType{i4, u4}},
		{Name: "requantised", Op: add.New(then(list(3), list(5), relu)), In: []dataflow.StreamType{i4, u4}},
		{Name: "requantised per channel", Op: add.New(then(list(3), list(5), relu, sign, relu, fall)),
			In: []dataflow.StreamType{i4, u4}},
		{Name: "falling", Op: add.New(then(nil, nil, fall)), In: both(i4)},
		{Name: "bases per channel", Op: add.New(then(nil, list(2), relu, sign, relu, relu)), In: both(i4)},
		{Name: "factors and steps per channel", Op: add.New(then(list(1, 2, 3, 4), list(9, -9, 9, -9), relu, sign, fall,
			relu)), In: []dataflow.StreamType{i4, u4}},
		{Name: "factors per channel, one step", Op: add.New(then(list(1, 2, 3, 4), nil, relu)),
			In: []dataflow.StreamType{i4, u4}},
		{Name: "bipolar results of signs", Op: add.New(then(list(3), nil, sign)), In: both(typ(bipolar, 6))},
		{Name: "a constant", Op: add.New(then(nil, nil, num.StepFunction{Value: []int64{-3}})), In: both(i4)},
		{Name: "a base beyond an int", Op: add.New(then(nil, nil,
			num.StepFunction{At: []int64{1}, Value: []int64{1 << 40, 1<<40 + 1}})), In: both(i4)},
		{Name: "of 63 bits", Op: add.New(then(list(1, 3), nil, wide)),
			In: []dataflow.StreamType{typ(intN(61), 2), typ(intN(61), 2)}},
		{Name: "unsigned, of 63 bits", Op: add.New(add.Params{}), In: both(typ(uintN(62), 2))},
		{Name: "scalars", Op: add.New(then(list(2), nil, relu)), In: both(typ(intN(4)))},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(60, 31, randomtest.Add)...)...)
}

// TestRanges checks that a channel's sums are the exact interval, and that a range that all channels share stays one
// range.
func TestRanges(t *testing.T) {
	t.Parallel()
	i4 := typ(intN(4), 2)
	perChannel := layertest.RangedType(intN(3), i4.Shape, num.Range{Lo: -1, Hi: 2}, num.SingleValueRange(3))
	for _, tt := range []struct {
		p    add.Params
		in   []dataflow.StreamType
		want dataflow.StreamType
	}{
		{add.Params{}, []dataflow.StreamType{i4, i4}, dataflow.StreamType{Shape: dataflow.Shape{2},
			Range: []num.Range{{Lo: -16, Hi: 14}}, Elem: intN(5)}},
		{add.Params{}, []dataflow.StreamType{i4, perChannel}, dataflow.StreamType{Shape: dataflow.Shape{2},
			Range: []num.Range{{Lo: -9, Hi: 9}, {Lo: -5, Hi: 10}}, Elem: intN(5)}},
		{by(list(-3), list(2, 0)), []dataflow.StreamType{perChannel, i4},
			dataflow.StreamType{Shape: dataflow.Shape{2}, Range: []num.Range{{Lo: -22, Hi: 17}, {Lo: -9, Hi: -9}},
				Elem: intN(6)}},
		{then(list(2), nil, relu), []dataflow.StreamType{i4, i4}, dataflow.StreamType{Shape: dataflow.Shape{2},
			Range: []num.Range{{Lo: 0, Hi: 2}}, Elem: uintN(2)}},
		{then(nil, nil, relu, sign), []dataflow.StreamType{i4, i4},
			dataflow.StreamType{Shape: dataflow.Shape{2}, Range: []num.Range{{Lo: 0, Hi: 2}, {Lo: -1, Hi: 1}},
				Elem: intN(3)}},
		{then(nil, nil, sign), []dataflow.StreamType{i4, i4}, typ(bipolar, 2)},
	} {
		layertest.CheckOutputs(t, add.New(tt.p), tt.in, tt.want)
	}
}

// TestForms checks what becomes a constant and what a table, and the choices of a fold.
func TestForms(t *testing.T) {
	t.Parallel()
	jump := num.StepFunction{At: []int64{2, 4}, Value: []int64{0, 1, 100}}
	for _, tt := range []struct {
		name  string
		p     add.Params
		pe    int
		want  string
		folds int
	}{
		{"plain", add.Params{}, 1, "add", 2},
		{"constants", by(list(3, 3), list(-1)), 1, "add", 4},
		{"factors", by(list(3, 4), nil), 1, "add_per_channel factors UINT3 distributed [[3 1] [4 1]]", 6},
		{"side by side", by(nil, list(-1, 0)), 2, "add_per_channel factors INT2 none [[1 -1 1 0]]", 3},
		{"steps", then(nil, nil, relu), 1, "add thresholds INT5 none [[0 6]]", 2},
		{"steps per channel", then(list(2), nil, relu, sign), 1,
			"add codes INT3 distributed 128 rows of 1", 6},
		{"all", then(list(2, 1), nil, fall, jump), 2,
			"add_per_channel factors UINT2 none [[2 1 1 1]], codes INT8 distributed 128 rows of 1", 6},
	} {
		op := layertest.Bind(t, add.New(tt.p), typ(intN(4), 2), typ(intN(4), 2))
		i := op.Emit(dataflow.Fold{PE: tt.pe, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, dataflow.Target{})
		got, folds := strings.TrimSpace(i.Func+" "+layertest.DescribeTables(i)), layertest.CountFolds(op)
		if got != tt.want || folds != tt.folds {
			t.Errorf("%s: %s, %d folds, want %s, %d", tt.name, got, folds, tt.want, tt.folds)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(uintN(4), 3)
	pair := []dataflow.StreamType{in, in}
	wide := typ(intN(64), 3)
	for _, tt := range []struct {
		p    add.Params
		in   []dataflow.StreamType
		want string
	}{
		{add.Params{}, nil, "0 inputs, want 2"},
		{add.Params{}, []dataflow.StreamType{in}, "1 inputs, want 2"},
		{add.Params{}, []dataflow.StreamType{in, in, in}, "3 inputs, want 2"},
		{add.Params{}, []dataflow.StreamType{in, typ(uintN(4), 1, 3)},
			"inputs of shapes [3] and [1 3], want one shape"},
		{by(list(1, 2), nil), pair, "2 factors of input 0 for inputs of shape [3], want none, one or 3"},
		{by(nil, list(1, 2, 3, 4)), pair, "4 factors of input 1"},
		{then(nil, nil, relu, relu), pair, "2 step functions for inputs of shape [3]"},
		{then(nil, nil, num.StepFunction{}), pair, "channel 0: step function has 0 breakpoints and 0 values"},
		{by(list(0), list(0)), pair, "channel 0: both factors are 0"},
		{by(list(1, 0, 2), list(1, 0, 2)), pair, "channel 1: both factors are 0"},
		{by(list(1, 0, 2), list(0)), pair, "channel 1: both factors are 0"},
		{by(list(0, 0, 0), list(2)), pair, ""},
		{by(list(math.MaxInt64), nil), pair, "channel 0: the sum leaves 64 bits"},
		{by(list(math.MinInt64), nil), []dataflow.StreamType{typ(intN(2), 3), in}, "channel 0: the sum leaves 64 bits"},
		{add.Params{}, []dataflow.StreamType{wide, wide}, "channel 0: the sum leaves 64 bits"},
		{by(nil, list(1<<59)), []dataflow.StreamType{in, typ(intN(4), 3)}, ""},
		{by(nil, list(1<<60)), []dataflow.StreamType{in, typ(intN(4), 3)}, "the sum needs 64 bits"},
		{then(nil, nil, layertest.Stairs(layer.MaxThresholdsPerChannel+1, 1)), []dataflow.StreamType{typ(uintN(13), 3),
			in},
			"a channel has 4097 thresholds, at most 4096"},
		{add.Params{}, []dataflow.StreamType{typ(uintN(4), 1<<31, 1), typ(uintN(4), 1<<31, 1)}, "no fold keeps"},
	} {
		layertest.CheckRefused(t, add.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, add.LayerKind, ``, `[]`, `{"factors":[1,2]}`, `{"factors":[[0],[0]]}`,
		`{"factors":[[1]]}`,
		`{"factors":[[1],[1],[1]]}`, `{"factors":[[1.5],[]]}`, `{"factors":[[1e30],[]]}`,
		`{"steps":[{}]}`, `{"steps":[{"at":[1,1],"value":[1,2,3]}]}`, `{} x`)
}

// TestLoop checks that the layer takes a clock per word, and a latency for its operations.
func TestLoop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p       add.Params
		latency int
	}{{add.Params{}, 2}, {by(list(-1), nil), 2}, {by(list(2), nil), 2}, {then(nil, nil, relu), 2}, // comparators
		{then(list(2), nil, relu), 3}} {
		op := layertest.Bind(t, add.New(tt.p), typ(uintN(4), 5, 6), typ(uintN(4), 5, 6))
		layertest.CheckLoop(t, op, dataflow.Fold{PE: 2, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, dataflow.Loop{
			Body: []dataflow.LoopRun{{Times: 15, Moves: dataflow.PortMoves{Read: 3, Write: 1}}}, Latency: tt.latency,
		})
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	control := dataflow.Resources{LUT: 3 + 1 + 2 + 1, FF: 3 + 2} // 5 vectors of 3 words
	for _, tt := range []struct {
		p    add.Params
		fold dataflow.Fold
		want dataflow.Resources
	}{
		{add.Params{}, dataflow.Fold{PE: 2, SIMD: 1}, dataflow.Resources{LUT: 2 * 5}},
		// sums of -15..135
		{by(list(9), list(-1)), dataflow.Fold{PE: 2, SIMD: 1, Compute: dataflow.MultiplierInLUTs},
			dataflow.Resources{LUT: 2*(3*8) + 2*9}},
		{by(list(9), list(7)), dataflow.Fold{PE: 2, SIMD: 1, Compute: dataflow.MultiplierInDSPs},
			dataflow.Resources{LUT: 2 * 8, DSP: 4}},
		{then(list(1, 2, 3, 4, 5, 6), nil, relu), dataflow.Fold{PE: 2, SIMD: 1, Memory: dataflow.MemoryLUTRAM,
			Compute: dataflow.MultiplierInDSPs}, dataflow.Resources{LUT: 2*2*3 + 2*7 + 2*(2+1), DSP: 2}},
		// with a base
		{then(nil, nil, relu, relu, relu, relu, relu, sign), dataflow.Fold{PE: 2, SIMD: 1, Memory: dataflow.MemoryBRAM},
			dataflow.Resources{LUT: 2*5 + 2*5 + 2, BRAM: 1}},
	} {
		op := layertest.Bind(t, add.New(tt.p), typ(uintN(4), 5, 6), typ(uintN(4), 5, 6))
		layertest.CheckFINNCost(t, op, tt.fold, tt.want.Plus(control))
	}
}
