package pad_test

import (
	"reflect"
	"testing"

	"hlsgen/hlslib/pad"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	around := pad.Params{Before: [2]int{1, 2}, After: [2]int{2, 1}}
	cases := []layertest.Case{
		{Name: "around", Op: pad.New(around), In: []dataflow.StreamType{typ(uintN(4), 2, 3, 4)}},
		{Name: "a pixel", Op: pad.New(around), In: []dataflow.StreamType{typ(uintN(4), 1, 1, 2)}},
		{Name: "between", Op: pad.New(pad.Params{Between: [2]int{1, 2}}), In: []dataflow.StreamType{typ(intN(4), 3, 2,
			2)}},
		{Name: "in one axis", Op: pad.New(pad.Params{After: [2]int{0, 3}, Between: [2]int{2, 1}}),
			In: []dataflow.StreamType{typ(intN(4), 1, 4, 2)}},
		{Name: "nothing", Op: pad.New(pad.Params{Code: 100}), In: []dataflow.StreamType{typ(bipolar, 2, 2, 3)}},
		{Name: "bipolar by -1", Op: pad.New(pad.Params{Before: [2]int{1, 1}, Code: -1}),
			In: []dataflow.StreamType{typ(bipolar, 2, 2, 3)}},
		{Name: "bipolar by 0", Op: pad.New(around), In: []dataflow.StreamType{typ(bipolar, 2, 2, 3)}},
		{Name: "all of 64 bits", Op: pad.New(pad.Params{After: [2]int{1, 0}, Code: -7}),
			In: []dataflow.StreamType{typ(intN(64), 2, 2, 1)}},
		{Name: "least code", Op: pad.New(pad.Params{After: [2]int{1, 0}, Code: -1 << 31}),
			In: []dataflow.StreamType{typ(uintN(4), 2, 2, 1)}},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(20, 7, randomtest.Pad)...)...)
}

func TestOutputType(t *testing.T) {
	t.Parallel()
	two := dataflow.StreamType{Shape: dataflow.Shape{2, 3, 2}, Range: []num.Range{{Lo: 1, Hi: 3}, {Lo: 2, Hi: 4}},
		Elem: uintN(8)}
	for _, tt := range []struct {
		p    pad.Params
		in   dataflow.StreamType
		want dataflow.StreamType
	}{
		{pad.Params{Before: [2]int{1, 0}}, two, dataflow.StreamType{Shape: dataflow.Shape{3, 3, 2},
			Range: []num.Range{{Lo: 0, Hi: 3}, {Lo: 0, Hi: 4}}, Elem: uintN(8)}},
		{pad.Params{After: [2]int{0, 2}, Code: -1}, two, dataflow.StreamType{Shape: dataflow.Shape{2, 5, 2},
			Range: []num.Range{{Lo: -1, Hi: 3}, {Lo: -1, Hi: 4}}, Elem: intN(4)}},
		{pad.Params{Between: [2]int{3, 2}, Code: 2}, two, dataflow.StreamType{Shape: dataflow.Shape{5, 7, 2},
			Range: []num.Range{{Lo: 1, Hi: 3}, {Lo: 2, Hi: 4}}, Elem: uintN(8)}},
		{pad.Params{Code: -9}, two, two},
		{pad.Params{Before: [2]int{1, 1}}, typ(bipolar, 1, 1, 1),
			dataflow.StreamType{Shape: dataflow.Shape{2, 2, 1}, Range: []num.Range{{Lo: -1, Hi: 1}}, Elem: intN(2)}},
	} {
		_, out, err := pad.New(tt.p).Bind([]dataflow.StreamType{tt.in})
		if err != nil || !reflect.DeepEqual(out, []dataflow.StreamType{tt.want}) {
			t.Errorf("%+v: %+v, %v, want %+v", tt.p, out, err, tt.want)
		}
	}
}

// TestLoop checks that large frames are few runs.
func TestLoop(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, pad.New(pad.Params{Before: [2]int{3, 3}, After: [2]int{3, 3}, Between: [2]int{1, 1}}),
		typ(uintN(4), 1000, 1000, 4))
	l := op.Loop(dataflow.Fold{PE: 1, SIMD: 4}, dataflow.Target{})
	if side := 6 + 1999; l.IterationsPerFrame() != side*side || len(l.Body) > 6 {
		t.Errorf("%d iterations in %d runs, want %d", l.IterationsPerFrame(), len(l.Body), side*side)
	}
	if l.WordsRead(0) != 1000*1000 {
		t.Errorf("%d words are read", l.WordsRead(0))
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(uintN(4), 2, 3, 4)
	for _, tt := range []struct {
		p    pad.Params
		in   []dataflow.StreamType
		want string
	}{
		{pad.Params{Before: [2]int{-1, 0}}, []dataflow.StreamType{in}, "padding by -1 pixels"},
		{pad.Params{Between: [2]int{0, 1 << 62}}, []dataflow.StreamType{in}, "padding by 4611686018427387904 pixels"},
		{pad.Params{Code: 1 << 31}, []dataflow.StreamType{in}, "padding with 2147483648"},
		{pad.Params{}, nil, "0 inputs"},
		{pad.Params{}, []dataflow.StreamType{typ(uintN(4), 6, 4)},
			"an input of shape [6 4], want rows, columns and channels"},
		{pad.Params{Between: [2]int{1 << 30, 1 << 30}}, []dataflow.StreamType{in}, "at most 1073741824 elements"},
		{pad.Params{Before: [2]int{1 << 15, 1 << 15}}, []dataflow.StreamType{in}, "an output of shape [32770 32771 4]"},
	} {
		layertest.CheckRefused(t, pad.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, pad.LayerKind, ``, `[]`, `{"before":[-1,0]}`, `{"after":2}`, `{"between":[0,1e30]}`,
		`{"code":1.5}`, `{"code":3000000000}`)
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
