package upsample_test

import (
	"reflect"
	"testing"

	"hlsgen/hlslib/upsample"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

func scale(rows, columns int) dataflow.Op {
	return upsample.New(upsample.Params{Scale: [2]int{rows, columns}})
}

func TestContract(t *testing.T) {
	t.Parallel()
	cases := []layertest.Case{
		{Name: "both", Op: scale(2, 2), In: []dataflow.StreamType{typ(int4, 3, 2, 4)}},
		{Name: "rows", Op: scale(3, 1), In: []dataflow.StreamType{typ(int4, 2, 4, 2)}},
		{Name: "columns", Op: scale(1, 3), In: []dataflow.StreamType{typ(bipolar, 2, 4, 2)}},
		{Name: "neither", Op: scale(1, 1), In: []dataflow.StreamType{typ(int4, 2, 3, 2)}},
		{Name: "a pixel", Op: scale(4, 5), In: []dataflow.StreamType{typ(int4, 1, 1, 3)}},
		{Name: "a row of a channel", Op: scale(2, 3), In: []dataflow.StreamType{typ(int4, 1, 5, 1)}},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(15, 11, randomtest.Upsample)...)...)
}

// TestContractOfBlocks checks a row that lies in block RAM.
func TestContractOfBlocks(t *testing.T) {
	t.Parallel()
	layertest.Check(t, layertest.Case{Name: "a long row", Op: scale(2, 1),
		In: []dataflow.StreamType{typ(layertest.Int(16), 2, 70, 1)}})
}

func TestOutputType(t *testing.T) {
	t.Parallel()
	in := dataflow.StreamType{Shape: dataflow.Shape{5, 9, 2}, Range: []num.Range{{Lo: 0, Hi: 1}, {Lo: 3, Hi: 4}},
		Elem: int4}
	_, out, err := scale(2, 3).Bind([]dataflow.StreamType{in})
	want := dataflow.StreamType{Shape: dataflow.Shape{10, 27, 2}, Range: in.Range, Elem: int4}
	if err != nil || !reflect.DeepEqual(out, []dataflow.StreamType{want}) {
		t.Errorf("%+v, %v, want %+v", out, err, want)
	}
}

// TestBuffer checks that a row is kept where rows are repeated, else a pixel.
func TestBuffer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rows, columns, simd int
		want                dataflow.Resources
	}{
		{2, 1, 1, dataflow.Resources{BRAM: 1}},           // 1600 words of 4 bits
		{1, 2, 1, dataflow.Resources{LUT: 4, LUTRAM: 4}}, // 16 words of 4 bits
		{1, 2, 16, dataflow.Resources{FF: 64}},           // a word of 64 bits
	} {
		op := layertest.Bind(t, scale(tt.rows, tt.columns), typ(int4, 100, 100, 16))
		for _, p := range op.Cost(dataflow.Fold{PE: 1, SIMD: tt.simd},
			dataflow.Target{Formula: dataflow.FINNCostFormula}) {
			if p.Name == "buffer" && p.Resources != tt.want {
				t.Errorf("%+v: %+v", tt, p.Resources)
			}
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(int4, 4, 5, 2)
	for _, tt := range []struct {
		op   dataflow.Op
		in   []dataflow.StreamType
		want string
	}{
		{scale(0, 1), []dataflow.StreamType{in}, "scales of 0 by 1"},
		{scale(2, -1), []dataflow.StreamType{in}, "scales of 2 by -1"},
		{scale(2, 2), nil, "0 inputs"},
		{scale(2, 2), []dataflow.StreamType{typ(int4, 4, 5)}, "an input of shape [4 5], want rows"},
		{scale(1<<30, 1<<30), []dataflow.StreamType{in}, "at most 1073741824 elements"},
		{scale(1<<20, 1<<5), []dataflow.StreamType{in}, "at most 1073741824 elements"},
	} {
		layertest.CheckRefused(t, tt.op, tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, upsample.LayerKind, ``, `null`, `{}`, `{"scale":2}`, `{"scale":[2]}`,
		`{"scale":[2,-2]}`,
		`{"scale":[2,1e12]}`)
}

// What types are called above.
var int4, typ, bipolar = layertest.Int(4), layertest.FullType, layertest.Bipolar
