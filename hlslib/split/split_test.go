package split_test

import (
	"reflect"
	"testing"

	"hlsgen/hlslib/split"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	many := make([]int, dataflow.MaxPortsPerSide)
	for i := range many {
		many[i] = 1 + i%3
	}
	cases := []layertest.Case{
		{Name: "halves", Op: split.New(split.Params{Channels: []int{4, 4}}), In: []dataflow.StreamType{typ(uint4, 3,
			8)}},
		{Name: "thirds", Op: split.New(split.Params{Channels: []int{2, 6, 4}}),
			In: []dataflow.StreamType{typ(bipolar, 2, 2, 12)}},
		{Name: "one", Op: split.New(split.Params{Channels: []int{6}}), In: []dataflow.StreamType{typ(uint4, 2, 6)}},
		{Name: "one vector", Op: split.New(split.Params{Channels: []int{1, 2}}), In: []dataflow.StreamType{typ(uint4,
			3)}},
		{Name: "as many as there may be", Op: split.New(split.Params{Channels: many}),
			In: []dataflow.StreamType{typ(uint4, 2, 1+21*6)}},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(12, 5, randomtest.Split)...)...)
}

func TestOutputTypes(t *testing.T) {
	t.Parallel()
	in := dataflow.StreamType{Shape: dataflow.Shape{5, 3}, Range: []num.Range{{Lo: 0, Hi: 1}, {Lo: 0, Hi: 15},
		{Lo: 3, Hi: 4}}, Elem: uint4}
	_, out, err := split.New(split.Params{Channels: []int{1, 2}}).Bind([]dataflow.StreamType{in})
	want := []dataflow.StreamType{
		{Shape: dataflow.Shape{5, 1}, Range: in.Range[:1], Elem: uint4},
		{Shape: dataflow.Shape{5, 2}, Range: in.Range[1:], Elem: uint4},
	}
	if err != nil || !reflect.DeepEqual(out, want) {
		t.Errorf("%+v, %v, want %+v", out, err, want)
	}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, split.New(split.Params{Channels: []int{4, 2, 6}}), typ(uint4, 2, 12))
	l := op.Loop(dataflow.Fold{PE: 1, SIMD: 2}, dataflow.Target{})
	want := []uint64{1, 1, 2, 4, 4, 4, 1, 1, 2, 4, 4, 4}
	if l.IterationsPerFrame() != len(want) {
		t.Fatalf("%d iterations, want %d", l.IterationsPerFrame(), len(want))
	}
	for i, write := range want {
		if m := l.MovesOfIteration(i); m != (dataflow.PortMoves{Read: 1, Write: write}) {
			t.Errorf("iteration %d moves %+v, want a word of outputs %b", i, m, write)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		channels []int
		in       []dataflow.StreamType
		want     string
	}{
		{nil, []dataflow.StreamType{typ(uint4, 2, 4)}, "0 outputs, want 1 to 64"},
		{make([]int, 65), nil, "65 outputs"},
		{[]int{4, 0}, nil, "output 1 has 0 channels"},
		{[]int{4, 1 << 60}, nil, "output 1 has 1152921504606846976 channels"},
		{[]int{2, 2}, nil, "0 inputs, want 1"},
		{[]int{2, 2}, []dataflow.StreamType{typ(uint4, 4, 5)}, "an input of shape [4 5], want 4 channels"},
		{[]int{1}, []dataflow.StreamType{typ(uint4)}, "an input of shape [], want 1 channels"},
	} {
		layertest.CheckRefused(t, split.New(split.Params{Channels: tt.channels}), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, split.LayerKind, ``, `null`, `{}`, `[]`, `{"channels":[]}`, `{"channels":[2,-1]}`,
		`{"channels":3}`, `{"channels":[1.5]}`)
}

// What types are called above.
var uint4, typ, bipolar = layertest.UInt(4), layertest.FullType, layertest.Bipolar
