package dup_test

import (
	"fmt"
	"testing"

	"hlsgen/hlslib/dup"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	perChannel := dataflow.StreamType{Shape: dataflow.Shape{2, 3},
		Range: []num.Range{{Lo: -8, Hi: -8}, {Lo: -1, Hi: 0}, {Lo: 5, Hi: 7}}, Elem: intN(4)}
	var cases []layertest.Case
	for _, copies := range []int{2, 3, 5, dataflow.MaxPortsPerSide} {
		for _, in := range []dataflow.StreamType{typ(uintN(4), 3, 2, 6), typ(intN(64), 2, 64),
			typ(num.Type{Kind: num.KindBipolar, Width: 1}, 4), typ(intN(3)), perChannel} {
			cases = append(cases, layertest.Case{Name: fmt.Sprintf("%d of %v", copies, in.Shape),
				Op: dup.New(dup.Params{Copies: copies}), In: []dataflow.StreamType{in}})
		}
	}
	for _, c := range []struct {
		name string
		p    dup.Params
		in   dataflow.StreamType
	}{
		{"words of two vectors", dup.Params{Copies: 2, Word: 12}, typ(uintN(4), 3, 2, 6)},
		{"words across vectors", dup.Params{Copies: 3, Word: 9}, perChannel3(perChannel)},
		{"tiles", dup.Params{Copies: 2, Word: 3, Tile: 3}, typ(intN(3), 2, 4, 6)},
		{"tiles, words of several positions", dup.Params{Copies: 2, Word: 4, Tile: 2}, typ(intN(3), 2, 4, 6)},
	} {
		cases = append(cases, layertest.Case{Name: c.name, Op: dup.New(c.p), In: []dataflow.StreamType{c.in}})
	}
	layertest.Check(t, cases...)
}

// perChannel3 is a type with nine vectors.
func perChannel3(t dataflow.StreamType) dataflow.StreamType {
	t.Shape = dataflow.Shape{9, 3}
	return t
}

func TestLoop(t *testing.T) {
	t.Parallel()
	op, out, err := dup.New(dup.Params{Copies: 3}).Bind([]dataflow.StreamType{typ(uintN(4), 5, 6)})
	if err != nil || len(out) != 3 {
		t.Fatal(out, err)
	}
	l := op.Loop(dataflow.Fold{PE: 2, SIMD: 1}, dataflow.Target{})
	want := dataflow.Loop{Body: []dataflow.LoopRun{{Times: 15, Moves: dataflow.PortMoves{Read: 1, Write: 7}}},
		Latency: 2}
	if fmt.Sprint(l) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", l, want)
	}
	layertest.CheckFINNCost(t, op, dataflow.Fold{PE: 2, SIMD: 1}, dataflow.Resources{LUT: 4 + 1 + 3, FF: 4})
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(uintN(4), 3)
	for _, tt := range []struct {
		copies int
		in     []dataflow.StreamType
		want   string
	}{
		{0, []dataflow.StreamType{in}, "0 copies, want 2 to 64"},
		{1, []dataflow.StreamType{in}, "1 copies"},
		{65, []dataflow.StreamType{in}, "65 copies"},
		{-2, []dataflow.StreamType{in}, "-2 copies"},
		{2, nil, "0 inputs, want 1"},
		{2, []dataflow.StreamType{in, in}, "2 inputs, want 1"},
		{2, []dataflow.StreamType{typ(uintN(64), 1<<31, 64)}, "no fold keeps"},
		{2, []dataflow.StreamType{typ(uintN(64), 1<<30, 64)}, ""},
	} {
		layertest.CheckRefused(t, dup.New(dup.Params{Copies: tt.copies}), tt.in, tt.want)
	}
	windows := []dataflow.StreamType{typ(uintN(4), 2, 3, 4)}
	for _, tt := range []struct {
		p    dup.Params
		in   []dataflow.StreamType
		want string
	}{
		{dup.Params{Copies: 2, Word: -1}, []dataflow.StreamType{in}, "-1 elements in a word, want 0 to 4096"},
		{dup.Params{Copies: 2, Tile: 1}, []dataflow.StreamType{in}, "tiles of 1 channels in words of 0 elements"},
		{dup.Params{Copies: 2, Word: 5}, windows, "want whole words of 5 elements"},
		{dup.Params{Copies: 2, Word: 4, Tile: 3}, windows, "tiles of 3 channels"},
		{dup.Params{Copies: 2, Word: 4, Tile: 4}, windows, "tiles of 4 channels"},
		{dup.Params{Copies: 2, Word: 2000}, []dataflow.StreamType{typ(uintN(4), 2000)}, "a word of 8000 bits"},
		{dup.Params{Copies: 2, Word: 1}, []dataflow.StreamType{typ(uintN(4), 1<<30, 4)}, "no fold keeps"},
	} {
		layertest.CheckRefused(t, dup.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, dup.LayerKind, ``, `null`, `{}`, `[]`, `{"copies":1}`, `{"copies":2.5}`,
		`{"copies":"2"}`,
		`{"copies":1e9}`, `{"copies":2} x`)
}

// What types are called above.
var typ, uintN, intN = layertest.FullType, layertest.UInt, layertest.Int
