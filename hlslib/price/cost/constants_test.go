package cost

import (
	"testing"

	"hlsgen/internal/num"
)

// TestConstants checks counts of adders by hand: their bits, and the products that are not always 0.
func TestConstants(t *testing.T) {
	t.Parallel()
	uint3, int3, one, bipolar := num.Type{Kind: num.KindUInt, Width: 3}, num.Type{Kind: num.KindInt, Width: 3},
		num.Type{Kind: num.KindUInt, Width: 1}, num.Type{Kind: num.KindBipolar, Width: 1}
	for _, tt := range []struct {
		name        string
		weights     [][]int64
		apart       bool
		in          num.Type
		terms, bits int
	}{
		{name: "all zero", weights: [][]int64{{0, 0}, {0, 0}}, in: int3},
		{name: "one power of two", weights: [][]int64{{0, 4}, {-2, 0}}, in: int3, terms: 2},
		{name: "two equal powers", weights: [][]int64{{1, 1}}, in: uint3, terms: 2, bits: 4},
		// 6 bits, in 2 of which only one addend has a bit
		{name: "low bits of one", weights: [][]int64{{1, 4}}, in: uint3, terms: 2, bits: 4},
		{name: "low bits of none", weights: [][]int64{{4, 4}}, in: uint3, terms: 2, bits: 4},
		// 4x - x has 6 bits, 2 of them of one addend
		{name: "two digits", weights: [][]int64{{3}}, in: uint3, terms: 1, bits: 4},
		{name: "a product of two", weights: [][]int64{{3}, {3}}, in: uint3, terms: 2, bits: 4},
		{name: "and its double", weights: [][]int64{{3}, {6}}, in: uint3, terms: 2, bits: 4},
		{name: "inputs apart", weights: [][]int64{{3}, {6}}, apart: true, in: uint3, terms: 2, bits: 8},
		{name: "another input", weights: [][]int64{{3, 0}, {0, 3}}, in: uint3, terms: 2, bits: 8},
		{name: "pruned", weights: [][]int64{{1, 0, 0, 1, 0, 0, 0}}, in: uint3, terms: 2, bits: 4},
		{name: "dense", weights: [][]int64{{1, 1, 1, 1, 1, 1}}, in: uint3, terms: 6, bits: 3*4 + 5 + 6},
		{name: "up to the accumulator", weights: [][]int64{{1, 1, 1, 1, 1, 1}}, in: uint3, terms: 6, bits: 3*4 + 5 + 5},
		{name: "a bit of input", weights: [][]int64{{85, 85}}, in: one, terms: 2, bits: 8},
		{name: "a sign of input", weights: [][]int64{{85, 0}}, in: bipolar, terms: 1},
	} {
		acc := 8
		if tt.name == "up to the accumulator" {
			acc = 5
		}
		got := ConstantWeightAdderCountsOf(tt.weights, !tt.apart, tt.in, tt.in.Range(), acc)
		if want := (ConstantWeightAdderCounts{Are: true, Terms: tt.terms, Bits: tt.bits}); got != want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}
