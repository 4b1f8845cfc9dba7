package firstlast_test

import (
	"reflect"
	"testing"

	"hlsgen/hlslib/firstlast"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// last and first are chunks in their order.
func last(chunks ...int) (list []firstlast.ChunkOfFirstOrLastStep) {
	for _, c := range chunks {
		list = append(list, firstlast.ChunkOfFirstOrLastStep{Last: true, Chunk: c})
	}
	return list
}

func first(chunks ...int) (list []firstlast.ChunkOfFirstOrLastStep) {
	for _, c := range chunks {
		list = append(list, firstlast.ChunkOfFirstOrLastStep{Chunk: c})
	}
	return list
}

func TestContract(t *testing.T) {
	t.Parallel()
	cases := []layertest.Case{
		{Name: "the last step", Op: firstlast.New(firstlast.Params{Step: 6, Chunk: 6, Order: last(0), Shape: []int{6}}),
			In: []dataflow.StreamType{typ(int4, 5, 6)}},
		{Name: "the first step", Op: firstlast.New(firstlast.Params{Step: 6, Chunk: 3, Order: first(0, 1),
			Shape: []int{1, 6}}), In: []dataflow.StreamType{typ(int4, 5, 6)}},
		{Name: "a direction of each", Op: firstlast.New(firstlast.Params{Step: 8, Chunk: 4,
			Order: append(last(0), first(1)...), Shape: []int{8}}), In: []dataflow.StreamType{typ(bipolar, 4, 8)}},
		{Name: "a single step", Op: firstlast.New(firstlast.Params{Step: 4, Chunk: 2,
			Order: append(last(1), first(1, 0)...), Shape: []int{6}}), In: []dataflow.StreamType{typ(int4, 1, 4)}},
		{Name: "several vectors a step", Op: firstlast.New(firstlast.Params{Step: 6, Chunk: 2,
			Order: append(first(2), last(0, 0, 1)...), Shape: []int{4, 2}}), In: []dataflow.StreamType{typ(int4, 3, 2,
			3)}},
		{Name: "an element", Op: firstlast.New(firstlast.Params{Step: 1, Chunk: 1, Order: last(0)}),
			In: []dataflow.StreamType{typ(int4, 2)}},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(12, 17, randomtest.FirstLast)...)...)
}

// TestContractOfBlocks checks steps in block RAM: the last word of a step leaves when its place is written.
func TestContractOfBlocks(t *testing.T) {
	t.Parallel()
	layertest.Check(t, layertest.Case{Name: "long steps",
		Op: firstlast.New(firstlast.Params{Step: 40, Chunk: 1, Order: append(last(0, 39), first(7, 0)...),
			Shape: []int{4}}),
		In: []dataflow.StreamType{typ(layertest.Int(16), 3, 40)}})
}

// TestRanges checks that ranges go with channels.
func TestRanges(t *testing.T) {
	t.Parallel()
	r := []num.Range{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 3}, {Lo: -4, Hi: -3}, {Lo: 5, Hi: 6}}
	in := dataflow.StreamType{Shape: dataflow.Shape{3, 4}, Range: r, Elem: int4}
	for _, tt := range []struct {
		p    firstlast.Params
		want []num.Range
	}{
		{firstlast.Params{Step: 4, Chunk: 2, Order: append(last(1), first(0)...), Shape: []int{4}},
			[]num.Range{r[2], r[3], r[0], r[1]}},
		{firstlast.Params{Step: 4, Chunk: 2, Order: append(last(1), first(0)...), Shape: []int{2, 2}},
			[]num.Range{{Lo: -4, Hi: 1}, {Lo: 2, Hi: 6}}},
		{firstlast.Params{Step: 6, Chunk: 2, Order: last(1), Shape: []int{2}}, []num.Range{{Lo: -4, Hi: 6}}},
	} {
		_, out, err := firstlast.New(tt.p).Bind([]dataflow.StreamType{in})
		want := dataflow.StreamType{Shape: tt.p.Shape, Range: tt.want, Elem: int4}
		if err != nil || !reflect.DeepEqual(out, []dataflow.StreamType{want}) {
			t.Errorf("%+v: %+v, %v, want %+v", tt.p, out, err, want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := []dataflow.StreamType{typ(int4, 3, 4)}
	for _, tt := range []struct {
		p    firstlast.Params
		in   []dataflow.StreamType
		want string
	}{
		{firstlast.Params{}, in, "steps of 0 elements"},
		{firstlast.Params{Step: 4, Chunk: 3}, in, "steps of 4 elements, want whole chunks of 3"},
		{firstlast.Params{Step: 4, Chunk: 2, Shape: []int{2}}, in, "0 chunks of 2 elements come out"},
		{firstlast.Params{Step: 4, Chunk: 2, Order: last(2), Shape: []int{2}}, in,
			"chunk 0 is chunk 2 of a step, which has 2"},
		{firstlast.Params{Step: 4, Chunk: 2, Order: last(0), Shape: []int{4}}, in, "an output of shape [4] has 4"},
		{firstlast.Params{Step: 4, Chunk: 2, Order: last(0), Shape: []int{2, -1}}, in, "want axes of at least 1"},
		{firstlast.Params{Step: 8, Chunk: 2, Order: last(0), Shape: []int{2}}, in,
			"a frame of shape [3 4] has 12 elements, want whole steps of 8"},
		{firstlast.Params{Step: 4, Chunk: 2, Order: last(0), Shape: []int{2}}, nil, "0 inputs"},
	} {
		layertest.CheckRefused(t, firstlast.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, firstlast.LayerKind, ``, `null`, `{}`, `{"step":2,"chunk":1}`,
		`{"step":2,"chunk":1,"order":[{"chunk":2}],"shape":[1]}`, `{"step":1e10,"chunk":1,"order":[{}],"shape":[1]}`)
}

// What types are called above.
var int4, typ, bipolar = layertest.Int(4), layertest.FullType, layertest.Bipolar
