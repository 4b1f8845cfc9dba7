package crop_test

import (
	"reflect"
	"testing"

	"hlsgen/hlslib/crop"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	ones := [2]int{1, 1}
	cases := []layertest.Case{
		{Name: "a middle", Op: crop.New(crop.Params{Start: [2]int{1, 2}, Stop: [2]int{3, 4}, Step: ones}),
			In: []dataflow.StreamType{typ(int4, 4, 5, 4)}},
		{Name: "all", Op: crop.New(crop.Params{Stop: [2]int{3, 2}, Step: ones}),
			In: []dataflow.StreamType{typ(bipolar, 3, 2, 2)}},
		{Name: "the last", Op: crop.New(crop.Params{Start: [2]int{2, 1}, Stop: [2]int{3, 2}, Step: ones}),
			In: []dataflow.StreamType{typ(int4, 3, 2, 3)}},
		{Name: "every third", Op: crop.New(crop.Params{Stop: [2]int{7, 7}, Step: [2]int{3, 3}}),
			In: []dataflow.StreamType{typ(int4, 7, 7, 2)}},
		{Name: "a step beyond the end", Op: crop.New(crop.Params{Stop: [2]int{3, 3},
			Step: [2]int{100, dataflow.MaxElementsPerFrame}}), In: []dataflow.StreamType{typ(int4, 3, 3, 2)}},
		{Name: "a pixel", Op: crop.New(crop.Params{Stop: ones, Step: ones}), In: []dataflow.StreamType{typ(int4, 1, 1,
			6)}},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(20, 9, randomtest.Crop)...)...)
}

func TestOutputType(t *testing.T) {
	t.Parallel()
	in := dataflow.StreamType{Shape: dataflow.Shape{5, 9, 2}, Range: []num.Range{{Lo: 0, Hi: 1}, {Lo: 3, Hi: 4}},
		Elem: int4}
	_, out, err := crop.New(crop.Params{Start: [2]int{1, 2}, Stop: [2]int{4, 9},
		Step: [2]int{2, 3}}).Bind([]dataflow.StreamType{in})
	want := dataflow.StreamType{Shape: dataflow.Shape{2, 3, 2}, Range: in.Range, Elem: int4}
	if err != nil || !reflect.DeepEqual(out, []dataflow.StreamType{want}) {
		t.Errorf("%+v, %v, want %+v", out, err, want)
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in, ones := typ(int4, 4, 5, 2), [2]int{1, 1}
	for _, tt := range []struct {
		p    crop.Params
		in   []dataflow.StreamType
		want string
	}{
		{crop.Params{Step: ones}, []dataflow.StreamType{in}, "rows from 0 to before 0"},
		{crop.Params{Start: [2]int{0, -1}, Stop: ones, Step: ones}, []dataflow.StreamType{in},
			"columns from -1 to before 1"},
		{crop.Params{Stop: ones, Step: [2]int{1, 0}}, []dataflow.StreamType{in}, "columns in steps of 0"},
		{crop.Params{Stop: ones, Step: [2]int{1 << 62, 1}}, []dataflow.StreamType{in},
			"rows in steps of 4611686018427387904"},
		{crop.Params{Stop: ones, Step: ones}, nil, "0 inputs"},
		{crop.Params{Stop: ones, Step: ones}, []dataflow.StreamType{typ(int4, 4, 5)},
			"an input of shape [4 5], want rows"},
		{crop.Params{Stop: [2]int{4, 6}, Step: ones}, []dataflow.StreamType{in},
			"columns to before 6 of an input of shape [4 5 2], which has 5"},
	} {
		layertest.CheckRefused(t, crop.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, crop.LayerKind, ``, `null`, `{}`, `{"stop":[1,1]}`, `{"stop":[1,1],"step":[1,-1]}`,
		`{"stop":[1,1],"step":1}`)
}

// What types are called above.
var int4, typ, bipolar = layertest.Int(4), layertest.FullType, layertest.Bipolar
