package globalpool_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/layertest"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

var (
	maximum                   = globalpool.Params{Op: globalpool.Max}
	sum                       = globalpool.Params{Op: globalpool.Sum}
	typ, uintN, intN, bipolar = layertest.Full, layertest.UInt, layertest.Int, layertest.Bipolar
)

func TestContract(t *testing.T) {
	t.Parallel()
	perChannel := dataflow.Type{Shape: dataflow.Shape{2, 4, 3},
		Range: []num.Range{{Lo: -8, Hi: -8}, {Lo: -1, Hi: 0}, {Lo: 5, Hi: 7}}, Elem: intN(4)}
	var cases []layertest.Case
	for _, p := range []globalpool.Params{maximum, sum} {
		for _, c := range []struct {
			name string
			in   dataflow.Type
		}{
			{"an image", typ(uintN(4), 3, 5, 6)},
			{"negative values", dataflow.Type{Shape: dataflow.Shape{4, 4}, Range: []num.Range{{Lo: -8, Hi: -2}},
				Elem: intN(4)}},
			{"one vector", typ(intN(4), 1, 1, 6)},
			{"one channel", typ(uintN(8), 7, 1)},
			{"signs", typ(bipolar, 3, 3, 4)},
			{"ranges per channel", perChannel},
			{"of widest sums", typ(intN(60), 8, 2)},
			{"32 words, and more", typ(uintN(2), 3, 32)},
			{"a memory of 33 words, and a register", typ(intN(2), 3, 33)},
			{"more words than a shift register holds", typ(intN(5), 2, 2, 80)},
		} {
			cases = append(cases, layertest.Case{Name: fmt.Sprintf("%s, %s", c.name, p.Op), Op: globalpool.New(p),
				In: []dataflow.Type{c.in}})
		}
		for i := range 10 {
			r := rand.New(rand.NewPCG(uint64(i), 22))
			shape := dataflow.Shape{1 + r.IntN(3), 1 + r.IntN(4), []int{1, 2, 3, 4, 6, 12, 40}[r.IntN(7)]}
			cases = append(cases, layertest.Case{Name: fmt.Sprintf("random %d, %s", i, p.Op), Op: globalpool.New(p),
				In: []dataflow.Type{layertest.Type(r, shape[r.IntN(2):], 7)}})
		}
	}
	cases = append(cases, layertest.Case{Name: "the ends of 64 bits", Op: globalpool.New(maximum),
		In: []dataflow.Type{typ(intN(64), 3, 2)}})
	layertest.Check(t, 40, cases...)
}

// TestTypes: a maximum is of its input's type, a sum of V times the range.
func TestTypes(t *testing.T) {
	t.Parallel()
	ranges := []num.Range{{Lo: -2, Hi: 3}, {Lo: 1, Hi: 7}}
	for _, tt := range []struct {
		p        globalpool.Params
		in, want dataflow.Type
	}{
		{maximum, dataflow.Type{Shape: dataflow.Shape{3, 4, 2}, Range: ranges, Elem: intN(4)},
			dataflow.Type{Shape: dataflow.Shape{2}, Range: ranges, Elem: intN(4)}},
		{sum, dataflow.Type{Shape: dataflow.Shape{3, 4, 2}, Range: ranges, Elem: intN(4)},
			dataflow.Type{Shape: dataflow.Shape{2}, Range: []num.Range{{Lo: -24, Hi: 36}, {Lo: 12, Hi: 84}},
				Elem: intN(8)}},
		{maximum, typ(bipolar, 9, 5), typ(bipolar, 5)},
		{sum, typ(uintN(8), 7, 7, 5), dataflow.Type{Shape: dataflow.Shape{5}, Range: []num.Range{{Lo: 0, Hi: 49 * 255}},
			Elem: uintN(14)}},
	} {
		_, out, err := globalpool.New(tt.p).Bind([]dataflow.Type{tt.in})
		if err != nil || !reflect.DeepEqual(out, []dataflow.Type{tt.want}) {
			t.Errorf("%s of %v: %v, %v, want %v", tt.p.Op, tt.in, out, err, tt.want)
		}
	}
}

// TestLoop spells the clocks: all but the last vector give nothing.
func TestLoop(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, globalpool.New(sum), typ(uintN(4), 7, 7, 12))
	for _, tt := range []struct{ pe, iterations, first, writes int }{{1, 588, 576 + 2, 12}, {4, 147, 144 + 2, 3},
		{12, 49, 48 + 2, 1}} {
		l := op.Loop(dataflow.Fold{PE: tt.pe, SIMD: 1}, dataflow.Target{})
		if l.Iterations() != tt.iterations || l.FirstWrite(0) != tt.first || l.Writes(0) != tt.writes ||
			l.Reads(0) != tt.iterations {
			t.Errorf("PE %d: %+v, want %+v", tt.pe, l, tt)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p    globalpool.Params
		in   []dataflow.Type
		want string
	}{
		{globalpool.Params{}, []dataflow.Type{typ(uintN(4), 4, 2)}, `pooling by "", want "max" or "sum"`},
		{globalpool.Params{Op: "mean"}, []dataflow.Type{typ(uintN(4), 4, 2)}, `pooling by "mean"`},
		{maximum, nil, "0 inputs, want 1"},
		{maximum, []dataflow.Type{typ(uintN(4), 4)}, "an input of shape [4], want [..., channels]"},
		{sum, []dataflow.Type{typ(intN(64), 2, 2, 2)},
			"channel 0: the sum of 4 values in [-9223372036854775808,9223372036854775807] leaves 64 bits"},
		{sum, []dataflow.Type{typ(intN(62), 4, 2)}, "a sum needs 64 bits"},
		{sum, []dataflow.Type{typ(intN(61), 4, 2)}, ""},
		{maximum, []dataflow.Type{typ(intN(64), 65537, 65537, 64)}, "no fold keeps"},
	} {
		layertest.Refuses(t, globalpool.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.RefusesText(t, globalpool.Layer, ``, `null`, `{}`, `[]`, `{"op":""}`, `{"op":1}`, `{"op":"Max"}`,
		`{"op":"max"} x`)
}

// TestCost: the accumulators are a register, shift registers of 32, or distributed RAM.
func TestCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p    globalpool.Params
		pe   int
		want dataflow.Resources
	}{
		{sum, 128, dataflow.Resources{LUT: 4 + 1 + 128*8, FF: 4 + 128*8}},
		{sum, 8, dataflow.Resources{LUT: 4 + 1 + 4 + 1 + 2*8*8, LUTRAM: 8 * 8, FF: 4 + 4 + 8*8}},
		{maximum, 2, dataflow.Resources{LUT: 4 + 1 + 6 + 1 + 2*4 + 4*3, LUTRAM: 4 * 3, FF: 4 + 6}},
	} {
		op := layertest.Bind(t, globalpool.New(tt.p), typ(uintN(4), 4, 4, 128))
		layertest.Costs(t, op, dataflow.Fold{PE: tt.pe, SIMD: 1}, tt.want)
	}
}
