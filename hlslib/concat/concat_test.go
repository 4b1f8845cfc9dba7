package concat_test

import (
	"reflect"
	"testing"

	"hlsgen/hlslib/concat"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	cases := []layertest.Case{
		{Name: "alike", In: []dataflow.StreamType{typ(uintN(4), 3, 4), typ(uintN(4), 3, 8)}},
		{Name: "bipolar", In: []dataflow.StreamType{typ(bipolar, 2, 2, 6), typ(bipolar, 2, 2, 3), typ(bipolar, 2, 2,
			3)}},
		{Name: "unsigned and signed", In: []dataflow.StreamType{typ(uintN(4), 6), typ(intN(3), 4), typ(bipolar, 2)}},
		{Name: "a range narrower than its type", In: []dataflow.StreamType{
			{Shape: dataflow.Shape{2, 2}, Range: []num.Range{{Lo: 0, Hi: 2}}, Elem: intN(9)}, typ(uintN(2), 2, 2)}},
		{Name: "all of 64 bits", In: []dataflow.StreamType{typ(intN(64), 2, 1), typ(uintN(1), 2, 1)}},
	}
	for i := range cases {
		cases[i].Op = concat.New(concat.Params{Inputs: len(cases[i].In)})
	}
	many := layertest.Case{Name: "as many as there may be",
		Op: concat.New(concat.Params{Inputs: dataflow.MaxPortsPerSide})}
	for i := range dataflow.MaxPortsPerSide {
		many.In = append(many.In, typ(uintN(1+i%5), 2, 2*(1+i%3)))
	}
	layertest.Check(t, append(append(cases, layertest.RandomCases(12, 3, randomtest.Concat)...), many)...)
}

func TestOutputType(t *testing.T) {
	t.Parallel()
	two := dataflow.StreamType{Shape: dataflow.Shape{2}, Range: []num.Range{{Lo: 0, Hi: 1}, {Lo: -5, Hi: 3}},
		Elem: intN(8)}
	narrow := dataflow.StreamType{Shape: dataflow.Shape{2, 1}, Range: []num.Range{{Lo: 1, Hi: 2}}, Elem: uintN(4)}
	for _, tt := range []struct {
		name string
		in   []dataflow.StreamType
		want dataflow.StreamType
	}{
		{"alike", []dataflow.StreamType{typ(uintN(4), 2, 1), typ(uintN(4), 2, 2)}, typ(uintN(4), 2, 3)},
		{"alike in type", []dataflow.StreamType{narrow, typ(uintN(4), 2, 2)},
			dataflow.StreamType{Shape: dataflow.Shape{2, 3}, Range: []num.Range{{Lo: 1, Hi: 2}, {Lo: 0, Hi: 15},
				{Lo: 0, Hi: 15}}, Elem: uintN(4)}},
		{"signs meet", []dataflow.StreamType{typ(bipolar, 1), two, typ(uintN(3), 1)},
			dataflow.StreamType{Shape: dataflow.Shape{4}, Range: []num.Range{{Lo: -1, Hi: 1}, {Lo: 0, Hi: 1}, {Lo: -5,
				Hi: 3},
				{Lo: 0, Hi: 7}}, Elem: intN(4)}},
	} {
		_, out, err := concat.New(concat.Params{Inputs: len(tt.in)}).Bind(tt.in)
		if err != nil || !reflect.DeepEqual(out, []dataflow.StreamType{tt.want}) {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, out, err, tt.want)
		}
	}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, concat.New(concat.Params{Inputs: 3}), typ(uintN(2), 2, 4), typ(uintN(2), 2, 2),
		typ(uintN(2), 2, 6))
	l := op.Loop(dataflow.Fold{PE: 1, SIMD: 2}, dataflow.Target{})
	want := []uint64{1, 1, 2, 4, 4, 4, 1, 1, 2, 4, 4, 4}
	if l.IterationsPerFrame() != len(want) {
		t.Fatalf("%d iterations, want %d", l.IterationsPerFrame(), len(want))
	}
	for i, read := range want {
		if m := l.MovesOfIteration(i); m != (dataflow.PortMoves{Read: read, Write: 1}) {
			t.Errorf("iteration %d moves %+v, want a word of inputs %b", i, m, read)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	x := typ(uintN(2), 2, 4)
	for _, tt := range []struct {
		inputs int
		in     []dataflow.StreamType
		want   string
	}{
		{1, []dataflow.StreamType{x}, "1 inputs, want 2 to 64"},
		{65, nil, "65 inputs, want 2 to 64"},
		{2, []dataflow.StreamType{x, x, x}, "3 inputs, want 2"},
		{2, []dataflow.StreamType{x, typ(uintN(2), 3, 4)}, "input 1 has shape [3 4], input 0 [2 4]"},
		{2, []dataflow.StreamType{x, typ(uintN(2), 4)}, "input 1 has shape [4]"},
		{2, []dataflow.StreamType{typ(uintN(2)), typ(uintN(2))}, "scalar"},
	} {
		layertest.CheckRefused(t, concat.New(concat.Params{Inputs: tt.inputs}), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, concat.LayerKind, ``, `null`, `{}`, `[]`, `{"inputs":1}`, `{"inputs":-3}`,
		`{"inputs":65}`,
		`{"inputs":"2"}`)
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
