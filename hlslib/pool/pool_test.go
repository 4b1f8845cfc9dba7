package pool_test

import (
	"testing"

	"hlsgen/hlslib/pool"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

var (
	maximum                   = pool.New(pool.Params{Op: pool.PoolingMax})
	sum                       = pool.New(pool.Params{Op: pool.PoolingSum})
	typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
)

func TestContract(t *testing.T) {
	t.Parallel()
	inputs := []layertest.Case{
		{Name: "windows of 2 by 2", In: []dataflow.StreamType{typ(uintN(4), 3, 2, 4, 6)}},
		{Name: "windows of 3 by 3", In: []dataflow.StreamType{typ(intN(5), 2, 2, 9, 4)}},
		{Name: "one window", In: []dataflow.StreamType{typ(uintN(3), 8, 2)}},
		{Name: "one position", In: []dataflow.StreamType{typ(intN(3), 2, 3, 1, 4)}},
		{Name: "one position, signs", In: []dataflow.StreamType{typ(bipolar, 3, 1, 2)}},
		{Name: "one channel", In: []dataflow.StreamType{typ(uintN(8), 5, 6, 1)}},
		{Name: "signs", In: []dataflow.StreamType{typ(bipolar, 4, 4, 3)}},
		{Name: "ternary", In: []dataflow.StreamType{typ(num.Type{Kind: num.KindTernary, Width: 2}, 4, 5, 2)}},
		{Name: "ranges per channel", In: []dataflow.StreamType{layertest.UnevenType(2, 4, 3)}},
		{Name: "a constant", In: []dataflow.StreamType{layertest.RangedType(intN(3), dataflow.Shape{2, 3, 2},
			num.SingleValueRange(-3))}},
		{Name: "of widest sums", In: []dataflow.StreamType{typ(intN(60), 2, 8, 2)}},
		{Name: "of widest words", In: []dataflow.StreamType{typ(uintN(4), 1, 16, 64)}},
		{Name: "unsigned, 63 bit sum", In: []dataflow.StreamType{typ(uintN(61), 2, 4, 1)}},
	}
	for i := range inputs {
		inputs[i].Folds = 12
	}
	cases := append(layertest.WithEach(inputs, maximum, sum), layertest.Case{Name: "the ends of 64 bits", Op: maximum,
		In: []dataflow.StreamType{typ(intN(64), 3, 4, 2)}})
	layertest.Check(t, append(cases, layertest.RandomCases(30, 21, randomtest.Pool)...)...)
}

// TestTypes checks that a maximum has its input's type, and a sum K times its range.
func TestTypes(t *testing.T) {
	t.Parallel()
	two := func(elem num.Type, a, b num.Range, shape ...int) dataflow.StreamType {
		return layertest.RangedType(elem, shape, a, b)
	}
	a, b := num.Range{Lo: -2, Hi: 3}, num.Range{Lo: 1, Hi: 7}
	for _, tt := range []struct {
		op       dataflow.Op
		in, want dataflow.StreamType
	}{
		{maximum, two(intN(4), a, b, 3, 4, 2), two(intN(4), a, b, 3, 2)},
		{sum, two(intN(4), a, b, 3, 4, 2), two(intN(6), num.Range{Lo: -8, Hi: 12}, num.Range{Lo: 4, Hi: 28}, 3, 2)},
		{maximum, typ(bipolar, 9, 5), typ(bipolar, 5)},
		{sum, typ(bipolar, 9, 5), layertest.RangedType(intN(5), dataflow.Shape{5}, num.Range{Lo: -9, Hi: 9})},
		{sum, typ(uintN(2), 9, 5), layertest.RangedType(uintN(5), dataflow.Shape{5}, num.Range{Lo: 0, Hi: 27})},
	} {
		layertest.CheckOutputs(t, tt.op, []dataflow.StreamType{tt.in}, tt.want)
	}
}

// TestPorts spells the words, and that tiles are named only where they differ from row-major order.
func TestPorts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		shape    dataflow.Shape
		pe, simd int
		in       dataflow.Port
		out      int
		clocks   int
		latency  int
	}{
		{dataflow.Shape{5, 9, 4}, 2, 3, dataflow.Port{Elem: uintN(4), PerWord: 6, Words: 30, Tile: 2}, 10, 30, 3},
		{dataflow.Shape{5, 9, 4}, 4, 1, dataflow.Port{Elem: uintN(4), PerWord: 4, Words: 45}, 5, 45, 2},
		{dataflow.Shape{5, 9, 4}, 4, 9, dataflow.Port{Elem: uintN(4), PerWord: 36, Words: 5}, 5, 5, 3},
		{dataflow.Shape{5, 1, 4}, 2, 1, dataflow.Port{Elem: uintN(4), PerWord: 2, Words: 10}, 10, 10, 2},
	} {
		op := layertest.Bind(t, maximum, typ(uintN(4), tt.shape...))
		f := dataflow.Fold{PE: tt.pe, SIMD: tt.simd}
		in, out := op.Ports(f)
		l := op.Loop(f, dataflow.Target{})
		if in[0] != tt.in || out[0].Words != tt.out || l.IterationsPerFrame() != tt.clocks || l.Latency != tt.latency {
			t.Errorf("%v: %+v %+v %d %d", tt, in, out, l.IterationsPerFrame(), l.Latency)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		op   dataflow.Op
		in   []dataflow.StreamType
		want string
	}{
		{pool.New(pool.Params{}), []dataflow.StreamType{typ(uintN(4), 4, 2)},
			`pooling by "", want "max" or "sum"`},
		{maximum, nil, "0 inputs, want 1"},
		{maximum, []dataflow.StreamType{typ(uintN(4), 4)}, "an input of shape [4], want windows"},
		{maximum, []dataflow.StreamType{typ(uintN(4))}, "an input of shape [], want windows"},
		{sum, []dataflow.StreamType{typ(intN(64), 4, 2)},
			"channel 0: the sum of 4 values in [-9223372036854775808,9223372036854775807] leaves 64 bits"},
		{sum, []dataflow.StreamType{typ(intN(64), 1, 2)}, "a sum needs 64 bits"},
		{sum, []dataflow.StreamType{typ(uintN(62), 3, 2)},
			"channel 0: the sum of 3 values in [0,4611686018427387903] leaves 64 bits"},
		{sum, []dataflow.StreamType{typ(uintN(61), 4, 2)}, ""},
		{maximum, []dataflow.StreamType{typ(intN(64), 4, 2)}, ""},
		{maximum, []dataflow.StreamType{typ(intN(64), 65537, 65537, 2)}, "no fold keeps"},
	} {
		layertest.CheckRefused(t, tt.op, tt.in, tt.want)
	}
	layertest.CheckTextRefused(t, pool.LayerKind, ``, `null`, `{}`, `[]`, `{"op":""}`, `{"op":1}`, `{"op":"Max"}`,
		`{"op":"max"} x`)
}

// TestFolds leaves out words that are too wide.
func TestFolds(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, maximum, typ(uintN(32), 2, 16, 64))
	n := 0
	for f := range op.Folds() {
		if f.PE*f.SIMD > 128 {
			t.Errorf("%+v is offered", f)
		}
		n++
	}
	if n != 5+5+5+5+4+3+2 {
		t.Errorf("%d folds", n)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		op   dataflow.Op
		fold dataflow.Fold
		want dataflow.Resources
	}{
		// 80 clocks, 9 of a window
		{maximum, dataflow.Fold{PE: 2, SIMD: 1}, dataflow.Resources{LUT: 7 + 2 + 4 + 1 + 2*4, FF: 7 + 4 + 2*4}},
		{sum, dataflow.Fold{PE: 2, SIMD: 3}, dataflow.Resources{LUT: 5 + 1 + 2 + 1 + 2*2*8 + 2*8, FF: 5 + 2 + 2*8}},
		{sum, dataflow.Fold{PE: 4, SIMD: 9}, dataflow.Resources{LUT: 3 + 1 + 4*8*8, FF: 3}},
	} {
		op := layertest.Bind(t, tt.op, typ(uintN(4), 5, 9, 4))
		layertest.CheckFINNCost(t, op, tt.fold, tt.want)
	}
}
