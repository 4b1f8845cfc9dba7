package mac_test

import (
	"slices"
	"testing"

	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// TestCodes checks the memory for weights of few values, and when a decoder is worth its price.
func TestCodes(t *testing.T) {
	t.Parallel()
	lookup := []int64{-8, -4, -2, -1, 1, 2, 4, 8} // 3 bits of 5, decoded by two lookup tables of two functions each
	for _, tt := range []struct {
		name     string
		values   []int64
		rows     int
		stored   num.Type
		decoders int // lookup tables of a weight
	}{
		{"odd", []int64{-3, -1, 1, 3}, 1, num.Type{Kind: num.KindUInt, Width: 2}, 0},
		{"odd, not all of them", []int64{-3, 1, 3}, 8, num.Type{Kind: num.KindUInt, Width: 2}, 0},
		{"any", []int64{-3, -1, 0, 1, 3}, 80, num.Type{Kind: num.KindInt, Width: 3}, 0},
		{"signs", []int64{-1, 1}, 8, num.Type{Kind: num.KindBipolar, Width: 1}, 0},
		{"powers of two, a row too few", lookup, 63, num.Type{Kind: num.KindInt, Width: 5}, 0},
		{"powers of two", lookup, 64, num.Type{Kind: num.KindUInt, Width: 3}, 2},
	} {
		weights := make([][]int64, tt.rows)
		for c := range weights {
			for k := range 4 * len(tt.values) {
				weights[c] = append(weights[c], tt.values[(c+k)%len(tt.values)])
			}
		}
		f := dataflow.Fold{PE: 1, SIMD: len(weights[0]), Memory: dataflow.MemoryBRAM,
			Compute: dataflow.MultiplierInLUTs}
		in := num.Type{Kind: num.KindUInt, Width: 4}
		u, err := mac.BindUnit(weights, nil, nil, in, func(int) []num.Range { return []num.Range{in.Range()} })
		if err != nil {
			t.Fatal(err)
		}
		table := u.WeightTable(f)
		if table.Elem != tt.stored || u.WeightStorage(f).Width != f.SIMD*tt.stored.Width {
			t.Errorf("%s: elements of %v, %v", tt.name, table.Elem, u.WeightStorage(f))
		}
		for c, row := range table.Rows {
			if coding := u.Codes.CodingForRows(tt.rows); coding != nil {
				row = slices.Clone(row)
				for i, code := range row {
					row[i] = coding.Values[code]
				}
			}
			if !slices.Equal(row, weights[c]) {
				t.Errorf("%s: row %d is %v, want %v", tt.name, c, row, weights[c])
			}
		}
		var want []cost.CostPart
		if tt.decoders > 0 {
			want = []cost.CostPart{cost.Resources{LUT: tt.decoders * f.SIMD}.AsPart("weight decoders")}
		}
		if got := u.Codes.DecoderCost(f.SIMD, tt.rows); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
		}
	}
}
