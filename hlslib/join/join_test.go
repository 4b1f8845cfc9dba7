package join_test

import (
	"reflect"
	"slices"
	"testing"

	"hlsgen/hlslib/join"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	cases := []layertest.Case{
		{Name: "alike", In: []dataflow.StreamType{typ(uintN(4), 3, 6), typ(uintN(4), 3, 6)},
			Op: join.New(join.Params{Inputs: 2, Block: 3, Elem: "UINT4"})},
		{Name: "bipolar", In: slices.Repeat([]dataflow.StreamType{typ(bipolar, 2, 2, 4)}, 3),
			Op: join.New(join.Params{Inputs: 3, Block: 2, Elem: "BIPOLAR"})},
		{Name: "signs meet", In: []dataflow.StreamType{typ(bipolar, 4), typ(uintN(3), 4), typ(intN(2), 4)},
			Op: join.New(join.Params{Inputs: 3, Block: 1, Elem: "INT9"})},
		{Name: "all of 64 bits", In: slices.Repeat([]dataflow.StreamType{typ(intN(64), 2, 2)}, 2),
			Op: join.New(join.Params{Inputs: 2, Block: 2, Elem: "INT64"})},
	}
	many := layertest.Case{Name: "as many as there may be",
		Op: join.New(join.Params{Inputs: dataflow.MaxPortsPerSide, Block: 2, Elem: "UINT5"})}
	for i := range dataflow.MaxPortsPerSide {
		many.In = append(many.In, typ(uintN(1+i%5), 2, 4))
	}
	layertest.Check(t, append(append(cases, layertest.RandomCases(12, 3, randomtest.Join)...), many)...)
}

// TestOutput spells where elements go, their ranges, and the loop.
func TestOutput(t *testing.T) {
	t.Parallel()
	one := dataflow.StreamType{Shape: dataflow.Shape{4}, Elem: uintN(4),
		Range: []num.Range{{Lo: 0, Hi: 1}, {Lo: 0, Hi: 2}, {Lo: 0, Hi: 3}, {Lo: 0, Hi: 4}}}
	two := dataflow.StreamType{Shape: dataflow.Shape{4}, Elem: intN(3), Range: []num.Range{{Lo: -3, Hi: 3}}}
	op, out, err := join.New(join.Params{Inputs: 2, Block: 2, Elem: "INT8"}).Bind([]dataflow.StreamType{one, two})
	if err != nil {
		t.Fatal(err)
	}
	r, s := one.Range, two.Range[0]
	want := dataflow.StreamType{Shape: dataflow.Shape{8}, Elem: intN(8),
		Range: []num.Range{r[0], r[1], s, s, r[2], r[3], s, s}}
	if !reflect.DeepEqual(out, []dataflow.StreamType{want}) {
		t.Errorf("%+v, want %+v", out, want)
	}
	y := op.Eval([]dataflow.Tensor{{Shape: one.Shape, Data: []int64{0, 1, 2, 3}},
		{Shape: two.Shape, Data: []int64{-1, -2, -3, 3}}})
	if want := []int64{0, 1, -1, -2, 2, 3, -3, 3}; !slices.Equal(y[0].Data, want) {
		t.Errorf("%v, want %v", y[0].Data, want)
	}
	l := op.Loop(dataflow.Fold{PE: 1, SIMD: 1}, dataflow.Target{})
	both := dataflow.PortMoves{Read: 3, Write: 1}
	if want := (dataflow.Loop{Body: []dataflow.LoopRun{{Times: 2, Moves: both}}, Latency: 2}); !reflect.DeepEqual(l,
		want) {
		t.Errorf("%+v, want %+v", l, want)
	}
	layertest.CheckFINNCost(t, op, dataflow.Fold{PE: 1, SIMD: 1}, dataflow.Resources{LUT: 1 + 1 + 2, FF: 1})
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	x := typ(uintN(2), 2, 4)
	for _, tt := range []struct {
		p    join.Params
		in   []dataflow.StreamType
		want string
	}{
		{join.Params{Inputs: 1, Block: 1, Elem: "UINT2"}, []dataflow.StreamType{x}, "1 inputs, want 2 to 64"},
		{join.Params{Inputs: 2, Elem: "UINT2"}, []dataflow.StreamType{x, x}, "0 elements in a word, want 1 to 4096"},
		{join.Params{Inputs: 2, Block: 1}, []dataflow.StreamType{x, x}, "type"},
		{join.Params{Inputs: 2, Block: 1, Elem: "UINT2"}, []dataflow.StreamType{x, x, x}, "3 inputs, want 2"},
		{join.Params{Inputs: 2, Block: 3, Elem: "UINT2"}, []dataflow.StreamType{x, x},
			"inputs of shape [2 4], want channels in words of 3"},
		{join.Params{Inputs: 2, Block: 1, Elem: "UINT2"}, []dataflow.StreamType{x, typ(uintN(2), 4)},
			"input 1 has shape [4], input 0 [2 4]"},
		{join.Params{Inputs: 2, Block: 1, Elem: "INT2"}, []dataflow.StreamType{x, x},
			"INT2 does not hold [0,3] of input 0"},
		{join.Params{Inputs: 2, Block: 4, Elem: "INT64"}, slices.Repeat([]dataflow.StreamType{typ(intN(64), 1<<28, 4)},
			2),
			"at most"},
		{join.Params{Inputs: 2, Block: 64, Elem: "INT64"}, slices.Repeat([]dataflow.StreamType{typ(intN(64), 64)}, 2),
			"a word of 8192 bits"},
	} {
		layertest.CheckRefused(t, join.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, join.LayerKind, ``, `null`, `{}`, `[]`, `{"inputs":1,"block":1,"elem":"UINT2"}`,
		`{"inputs":2,"block":0,"elem":"UINT2"}`, `{"inputs":2,"block":1}`, `{"inputs":2,"block":1,"elem":"X"}`,
		`{"inputs":2,"block":1,"elem":3}`)
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
