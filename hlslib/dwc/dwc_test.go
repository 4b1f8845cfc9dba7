package dwc_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/layertest"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func typ(elem num.Type, shape ...int) dataflow.Type {
	return dataflow.Type{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem}
}

func uintN(n int) num.Type { return num.Type{Kind: num.UInt, Width: n} }
func intN(n int) num.Type  { return num.Type{Kind: num.Int, Width: n} }

func TestContract(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	elems := []num.Type{uintN(1), intN(3), {Kind: num.Bipolar, Width: 1}, uintN(8)}
	for in := 1; in <= 8; in++ {
		for out := 1; out <= 8; out++ {
			period := in * out // a multiple of theirs
			cases = append(cases, layertest.Case{Name: fmt.Sprintf("%d to %d", in, out), Op: dwc.New(dwc.Params{In: in, Out: out}),
				In: []dataflow.Type{typ(elems[(in+out)%len(elems)], 3, 2*period)}})
		}
	}
	for _, p := range []dwc.Params{{In: 49, Out: 8}, {In: 16, Out: 98}, {In: 784, Out: 1}, {In: 1, Out: 4096}, {In: 12, Out: 18}} {
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%d to %d", p.In, p.Out), Op: dwc.New(p), In: []dataflow.Type{typ(uintN(1), p.In*p.Out)}})
	}
	for _, p := range []dwc.Params{{In: 2, Out: 6, Tile: 2}, {In: 6, Out: 4, Tile: 2}, {In: 12, Out: 4, Tile: 4}, {In: 1, Out: 8, Tile: 1}} {
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%d to %d in tiles of %d", p.In, p.Out, p.Tile), Op: dwc.New(p), In: []dataflow.Type{typ(intN(3), 2, 3, 8)}})
	}
	layertest.Check(t, 70, cases...)
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
		op, _, err := dwc.New(dwc.Params{In: tt.in, Out: tt.out}).Bind([]dataflow.Type{typ(uintN(2), 24)})
		if err != nil {
			t.Fatal(err)
		}
		l := op.Loop(dataflow.Fold{PE: 1, SIMD: 1}, dataflow.Target{})
		if l.Iterations() != tt.periods*len(tt.read) || l.Latency != 1 {
			t.Errorf("%d to %d: %v, want %v", tt.in, tt.out, l, tt)
		}
		for i := range l.Iterations() {
			j := i % len(tt.read)
			if want := (dataflow.Moves{Read: uint64(tt.read[j] - '0'), Write: uint64(tt.write[j] - '0')}); l.At(i) != want {
				t.Errorf("%d to %d: iteration %d moves %v, want %v", tt.in, tt.out, i, l.At(i), want)
			}
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(uintN(4), 24)
	for _, tt := range []struct {
		p    dwc.Params
		in   []dataflow.Type
		want string
	}{
		{dwc.Params{}, []dataflow.Type{in}, "words of 0 into words of 0"},
		{dwc.Params{In: -2, Out: 2}, []dataflow.Type{in}, "words of -2"},
		{dwc.Params{In: 1, Out: 1 << 40}, []dataflow.Type{in}, "words of 1 into"},
		{dwc.Params{In: 2, Out: 3}, nil, "0 inputs"},
		{dwc.Params{In: 2, Out: 3, Tile: -1}, []dataflow.Type{in}, "tiles of -1 channels"},
		{dwc.Params{In: 2, Out: 3, Tile: 2}, []dataflow.Type{in}, "tiles of 2 channels of a frame of shape [24]"},
		{dwc.Params{In: 2, Out: 3, Tile: 5}, []dataflow.Type{typ(uintN(4), 3, 8)}, "tiles of 5 channels"},
		{dwc.Params{In: 2, Out: 3, Tile: 8}, []dataflow.Type{typ(uintN(4), 3, 8)}, "tiles of 8 channels"},
		{dwc.Params{In: 5, Out: 2}, []dataflow.Type{in}, "a frame of shape [24] has 24 elements, want whole words of 5 and of 2"},
		{dwc.Params{In: 16, Out: 12}, []dataflow.Type{in}, "whole words of 16 and of 12"},
		{dwc.Params{In: 2048, Out: 1}, []dataflow.Type{typ(uintN(4), 2048)}, "a word of 8192 bits"},
		{dwc.Params{In: 768, Out: 512}, []dataflow.Type{typ(uintN(4), 1536)}, ""},
		{dwc.Params{In: 768, Out: 640}, []dataflow.Type{typ(uintN(4), 7680)}, "a buffer of 5120 bits"},
	} {
		_, _, err := dwc.New(tt.p).Bind(tt.in)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("Bind of %+v to %v: %v, want %q", tt.p, tt.in, err, tt.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `null`, `{}`, `[]`, `{"in":1}`, `{"in":1,"out":0}`, `{"in":1,"out":1.5}`, `{"in":1,"out":5000}`, `{"in":1e10,"out":1}`} {
		if op, err := dwc.Layer.Decode([]byte(text)); err == nil || op != nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, out, lut int }{{4, 4, 0}, {4, 2, 1 + 4}, {2, 4, 1 + 8}, {6, 4, 1 + 24 + 2 + 8}} {
		op, _, err := dwc.New(dwc.Params{In: tt.in, Out: tt.out}).Bind([]dataflow.Type{typ(uintN(2), 24)})
		if err != nil {
			t.Fatal(err)
		}
		if got := op.Cost(dataflow.Fold{PE: 1, SIMD: 1}, dataflow.Target{Formula: dataflow.FINN}).Total(); got != (dataflow.Resources{LUT: tt.lut}) {
			t.Errorf("%d to %d: %+v, want %d LUT", tt.in, tt.out, got, tt.lut)
		}
	}
}
