package mvau_test

import (
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// floats returns layers with minifloats: as weights, as inputs, and as both, with signs and without, beside integers
// and signs, and up to sums of 60 bits.
func floats(t *testing.T) []layertest.Case {
	float := func(name string) num.Type {
		f, err := num.ParseType(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	e4m3, e3m0, e5m2 := float("E4M3"), float("UE3M0"), float("UE5M2")
	rows := func(of num.Type) [][]int64 {
		top := of.Range()
		return [][]int64{{top.Lo, of.ValueOfCode(3), 1, top.Hi, 0, of.ValueOfCode(9)},
			{of.ValueOfCode(5), top.Hi, 0, 1, of.ValueOfCode(2), top.Lo}}
	}
	integers := [][]int64{{3, -7, 1, 0, 5, -8}, {7, 7, -2, 1, 0, 3}}
	signs := [][]int64{{1, -1, 1, 1, -1, -1}, {-1, -1, 1, -1, 1, 1}}
	of := func(name string, weights [][]int64, in num.Type) layertest.Case {
		return layertest.Case{Name: name, Op: mvau.New(mvau.Params{Weights: weights}),
			In: []dataflow.StreamType{typ(in, 2, 6)}, Folds: 6}
	}
	return []layertest.Case{of("weights", rows(e4m3), intN(4)), of("unsigned weights", rows(e3m0), uintN(5)),
		of("inputs", integers, e4m3), of("unsigned inputs", integers, e5m2), of("both", rows(e4m3), e4m3),
		of("both unsigned", rows(e3m0), float("UE2M1")), of("wide", rows(e4m3), e5m2),
		of("signs as inputs", rows(e4m3), num.Type{Kind: num.KindBipolar, Width: 1}), of("signs as weights", signs,
			e4m3)}
}

// TestFloatsTooWide checks that products that are too wide for any kernel are refused.
func TestFloatsTooWide(t *testing.T) {
	t.Parallel()
	in := num.Type{Kind: num.KindUFloat, Width: 7, Mantissa: 2}
	op := mvau.New(mvau.Params{Weights: [][]int64{{1 << 31, 1}}})
	if _, _, err := op.Bind([]dataflow.StreamType{typ(in, 2)}); err == nil {
		t.Error("a product of 65 bits is taken")
	}
}
