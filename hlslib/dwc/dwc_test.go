package dwc_test

import (
	"fmt"
	"testing"

	"hlsgen/hlslib/dwc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	elems := []num.Type{uintN(1), intN(3), {Kind: num.KindBipolar, Width: 1}, uintN(8)}
	for in := 1; in <= 8; in++ {
		for out := 1; out <= 8; out++ {
			period := in * out // a multiple of theirs
			cases = append(cases, layertest.Case{Name: fmt.Sprintf("%d to %d", in, out),
				Op: dwc.New(dwc.Params{In: in, Out: out}), In: []dataflow.StreamType{typ(elems[(in+out)%len(elems)], 3,
					2*period)}})
		}
	}
	for _, p := range []dwc.Params{{In: 49, Out: 8}, {In: 16, Out: 98}, {In: 784, Out: 1}, {In: 1, Out: 4096},
		{In: 12, Out: 18}} {
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%d to %d", p.In, p.Out), Op: dwc.New(p),
			In: []dataflow.StreamType{typ(uintN(1), p.In*p.Out)}})
	}
	for _, p := range []dwc.Params{{In: 2, Out: 6, Tile: 2}, {In: 6, Out: 4, Tile: 2}, {In: 12, Out: 4, Tile: 4},
		{In: 1, Out: 8, Tile: 1}} {
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%d to %d in tiles of %d", p.In, p.Out, p.Tile),
			Op: dwc.New(p), In: []dataflow.StreamType{typ(intN(3), 2, 3, 8)}})
	}
	layertest.Check(t, cases...)
}

// TestLoop spells which inner iterations move words.
func TestLoop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in, out     int
		periods     int
		read, write string // per inner iteration
	}{
		{4, 4, 6, "1", "1"},
		{4, 2, 6, "10", "11"},
		{2, 4, 6, "11", "01"},
		{6, 4, 2, "110", "111"},
		{4, 6, 2, "111", "011"},
		{8, 3, 1, "10100100", "11111111"},
		{3, 8, 1, "11111111", "00100101"},
	}
	for _, tt := range tests {
		op := layertest.Bind(t, dwc.New(dwc.Params{In: tt.in, Out: tt.out}), typ(uintN(2), 24))
		l := op.Loop(dataflow.Fold{PE: 1, SIMD: 1}, dataflow.Target{})
		if l.IterationsPerFrame() != tt.periods*len(tt.read) || l.Latency != 2 {
			t.Errorf("%d to %d: %v, want %v", tt.in, tt.out, l, tt)
		}
		for i := range l.IterationsPerFrame() {
			j := i % len(tt.read)
			if want := (dataflow.PortMoves{Read: uint64(tt.read[j] - '0'),
				Write: uint64(tt.write[j] - '0')}); l.MovesOfIteration(i) != want {
				t.Errorf("%d to %d: iteration %d moves %v, want %v", tt.in, tt.out, i, l.MovesOfIteration(i), want)
			}
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(uintN(4), 24)
	for _, tt := range []struct {
		p    dwc.Params
		in   []dataflow.StreamType
		want string
	}{
		{dwc.Params{}, []dataflow.StreamType{in}, "words of 0 into words of 0"},
		{dwc.Params{In: -2, Out: 2}, []dataflow.StreamType{in}, "words of -2"},
		{dwc.Params{In: 1, Out: 1 << 40}, []dataflow.StreamType{in}, "words of 1 into"},
		{dwc.Params{In: 2, Out: 3}, nil, "0 inputs"},
		{dwc.Params{In: 2, Out: 3, Tile: -1}, []dataflow.StreamType{in}, "tiles of -1 channels"},
		{dwc.Params{In: 2, Out: 3, Tile: 2}, []dataflow.StreamType{in}, "tiles of 2 channels of a frame of shape [24]"},
		{dwc.Params{In: 2, Out: 3, Tile: 5}, []dataflow.StreamType{typ(uintN(4), 3, 8)}, "tiles of 5 channels"},
		{dwc.Params{In: 2, Out: 3, Tile: 8}, []dataflow.StreamType{typ(uintN(4), 3, 8)}, "tiles of 8 channels"},
		{dwc.Params{In: 5, Out: 2}, []dataflow.StreamType{in},
			"a frame of shape [24] has 24 elements, want whole words of 5 and of 2"},
		{dwc.Params{In: 16, Out: 12}, []dataflow.StreamType{in}, "whole words of 16 and of 12"},
		{dwc.Params{In: 2048, Out: 1}, []dataflow.StreamType{typ(uintN(4), 2048)}, "a word of 8192 bits"},
		{dwc.Params{In: 768, Out: 512}, []dataflow.StreamType{typ(uintN(4), 1536)}, ""},
		{dwc.Params{In: 768, Out: 640}, []dataflow.StreamType{typ(uintN(4), 7680)}, "a buffer of 5120 bits"},
	} {
		layertest.CheckRefused(t, dwc.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, dwc.LayerKind, ``, `null`, `{}`, `[]`, `{"in":1}`, `{"in":1,"out":0}`,
		`{"in":1,"out":1.5}`,
		`{"in":1,"out":5000}`, `{"in":1e10,"out":1}`)
}

func TestCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, out, lut int }{{4, 4, 0}, {4, 2, 1 + 4}, {2, 4, 1 + 8}, {6, 4, 1 + 24 + 2 + 8}} {
		op := layertest.Bind(t, dwc.New(dwc.Params{In: tt.in, Out: tt.out}), typ(uintN(2), 24))
		layertest.CheckFINNCost(t, op, dataflow.Fold{PE: 1, SIMD: 1}, dataflow.Resources{LUT: tt.lut})
	}
}

// What types are called above.
var typ, uintN, intN = layertest.FullType, layertest.UInt, layertest.Int
