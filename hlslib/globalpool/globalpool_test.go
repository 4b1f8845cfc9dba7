package globalpool_test

import (
	"testing"

	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

var maximum, sum = of(globalpool.PoolingMax), of(globalpool.PoolingSum)

func of(op layer.Pooling) dataflow.Op { return globalpool.New(globalpool.Params{Op: op}) }

func TestContract(t *testing.T) {
	t.Parallel()
	inputs := []layertest.Case{
		{Name: "an image", In: []dataflow.StreamType{typ(uintN(4), 3, 5, 6)}},
		{Name: "negative values", In: []dataflow.StreamType{
			layertest.RangedType(intN(4), dataflow.Shape{4, 4}, num.Range{Lo: -8, Hi: -2}),
		}},
		{Name: "one vector", In: []dataflow.StreamType{typ(intN(4), 1, 1, 6)}},
		{Name: "one channel", In: []dataflow.StreamType{typ(uintN(8), 7, 1)}},
		{Name: "signs", In: []dataflow.StreamType{typ(bipolar, 3, 3, 4)}},
		{Name: "ranges per channel", In: []dataflow.StreamType{layertest.UnevenType(2, 4, 3)}},
		{Name: "of widest sums", In: []dataflow.StreamType{typ(intN(60), 8, 2)}},
		{Name: "32 words, and more", In: []dataflow.StreamType{typ(uintN(2), 3, 32)}},
		{Name: "a memory of 33 words, and a register", In: []dataflow.StreamType{typ(intN(2), 3, 33)}},
		{Name: "more words than a shift register holds", In: []dataflow.StreamType{typ(intN(5), 2, 2, 80)}},
	}
	cases := append(layertest.WithEach(inputs, maximum, sum), layertest.Case{Name: "the ends of 64 bits", Op: maximum,
		In: []dataflow.StreamType{typ(intN(64), 3, 2)}})
	layertest.Check(t, append(cases, layertest.RandomCases(20, 22, randomtest.GlobalPool)...)...)
}

// TestTypes checks that a maximum has its input's type, and a sum V times its range.
func TestTypes(t *testing.T) {
	t.Parallel()
	in := layertest.RangedType(intN(4), dataflow.Shape{3, 4, 2}, num.Range{Lo: -2, Hi: 3}, num.Range{Lo: 1, Hi: 7})
	sums := []num.Range{{Lo: -24, Hi: 36}, {Lo: 12, Hi: 84}}
	for _, tt := range []struct {
		op       dataflow.Op
		in, want dataflow.StreamType
	}{
		{maximum, in, layertest.RangedType(intN(4), dataflow.Shape{2}, in.Range...)},
		{sum, in, layertest.RangedType(intN(8), dataflow.Shape{2}, sums...)},
		{maximum, typ(bipolar, 9, 5), typ(bipolar, 5)},
		{sum, typ(uintN(8), 7, 7, 5), layertest.RangedType(uintN(14), dataflow.Shape{5}, num.Range{Lo: 0,
			Hi: 49 * 255})},
	} {
		layertest.CheckOutputs(t, tt.op, []dataflow.StreamType{tt.in}, tt.want)
	}
}

// TestLoop checks the clocks: all vectors but the last give no output.
func TestLoop(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, sum, typ(uintN(4), 7, 7, 12))
	for _, tt := range []struct{ pe, iterations, first, writes int }{{1, 588, 576 + 2, 12}, {4, 147, 144 + 2, 3},
		{12, 49, 48 + 2, 1}} {
		l := op.Loop(dataflow.Fold{PE: tt.pe, SIMD: 1}, dataflow.Target{})
		if l.IterationsPerFrame() != tt.iterations || l.FirstWriteClock(0) != tt.first ||
			l.WordsWritten(0) != tt.writes ||
			l.WordsRead(0) != tt.iterations {
			t.Errorf("PE %d: %+v, want %+v", tt.pe, l, tt)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		op   layer.Pooling
		in   dataflow.StreamType
		want string
	}{
		{"mean", typ(uintN(4), 4, 2), `pooling by "mean", want "max" or "sum"`},
		{globalpool.PoolingMax, typ(uintN(4), 4), "an input of shape [4], want [..., channels]"},
		{globalpool.PoolingSum, typ(intN(64), 2, 2, 2), "channel 0: the sum of 4 values in ["},
		{globalpool.PoolingSum, typ(intN(62), 4, 2), "a sum needs 64 bits"},
		{globalpool.PoolingSum, typ(intN(61), 4, 2), ""},
		{globalpool.PoolingMax, typ(intN(64), 65537, 65537, 64), "no fold keeps"},
	} {
		layertest.CheckRefused(t, of(tt.op), []dataflow.StreamType{tt.in}, tt.want)
	}
	layertest.CheckRefused(t, maximum, nil, "0 inputs, want 1")
	layertest.CheckTextRefused(t, globalpool.LayerKind, ``, `{}`, `{"op":"mean"}`)
}

// TestCost checks that the accumulators are a register, shift registers of 32, or distributed RAM.
func TestCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		op   dataflow.Op
		pe   int
		want dataflow.Resources
	}{
		{sum, 128, dataflow.Resources{LUT: 4 + 1 + 128*8, FF: 4 + 128*8}},
		{sum, 8, dataflow.Resources{LUT: 4 + 1 + 4 + 1 + 2*8*8, LUTRAM: 8 * 8, FF: 4 + 4 + 8*8}},
		{maximum, 2, dataflow.Resources{LUT: 4 + 1 + 6 + 1 + 2*4 + 4*3, LUTRAM: 4 * 3, FF: 4 + 6}},
	} {
		op := layertest.Bind(t, tt.op, typ(uintN(4), 4, 4, 128))
		layertest.CheckFINNCost(t, op, dataflow.Fold{PE: tt.pe, SIMD: 1}, tt.want)
	}
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
