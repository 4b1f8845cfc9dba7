package num

import (
	"fmt"
	"math"
	"testing"
)

// TestRows checks the layout of comparators for several channels side by side.
func TestRows(t *testing.T) {
	t.Parallel()
	at := [][]int64{{2, 3}, {4, 5}, {6, 7}, {8, 9}}
	for _, tt := range []struct {
		name string
		k    ThresholdTable
		pe   int
		want string
	}{
		{"one after the other", ThresholdTable{Base: []int64{9}, At: at, Count: 2, Unit: 1}, 1,
			"[[1 2] [3 4] [5 6] [7 8]] [] []"},
		{"two side by side", ThresholdTable{Base: []int64{9}, At: at, Count: 2, Unit: 1}, 2,
			"[[1 2 3 4] [5 6 7 8]] [] []"},
		{"all side by side, bases", ThresholdTable{Base: []int64{1, 2, 3, 4}, At: at, Count: 2, Unit: 1}, 4,
			"[[1 2 3 4 5 6 7 8]] [[1 2 3 4]] []"},
		{"one row of all channels", ThresholdTable{Base: []int64{9}, At: at[:1], Count: 2, Unit: 1}, 4,
			"[[1 2]] [] []"},
		{"a base beyond an int", ThresholdTable{Base: []int64{1 << 31}, At: at[:2], Count: 2, Unit: 1}, 1,
			"[[1 2] [3 4]] [[2147483648] [2147483648]] []"},
		{"fewer than others", ThresholdTable{Base: []int64{9}, At: [][]int64{{2}, {3, 4}}, Count: 2, Unit: 1}, 2,
			"[[1 127 2 3]] [] []"},
		{"deltas", ThresholdTable{Base: []int64{9}, At: at[:2], Count: 2, Delta: [][]int64{{1, -1}, {2, -2}}}, 2,
			"[[1 2 3 4]] [[9 9]] [[1 -1 2 -2]]"},
	} {
		a, b, d := tt.k.TablesForPE(tt.pe, Type{Kind: KindInt, Width: 8})
		if got := fmt.Sprint(a, b, d); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestMerged checks that channels with equal comparators share a row.
func TestMerged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		k    ThresholdTable
		want int
	}{
		{"alike", ThresholdTable{Base: []int64{0}, At: [][]int64{{1}, {1}}, Count: 1, Unit: 1}, 1},
		{"other thresholds", ThresholdTable{Base: []int64{0}, At: [][]int64{{1}, {2}}, Count: 1, Unit: 1}, 2},
		{"other bases", ThresholdTable{Base: []int64{0, 1}, At: [][]int64{{1}, {1}}, Count: 1, Unit: 1}, 2},
		{"alike, deltas", ThresholdTable{Base: []int64{0}, At: [][]int64{{1}, {1}}, Count: 1,
			Delta: [][]int64{{2}, {2}}}, 1},
		{"other deltas", ThresholdTable{Base: []int64{0}, At: [][]int64{{1}, {1}}, Count: 1,
			Delta: [][]int64{{2}, {3}}}, 2},
	} {
		m := tt.k.WithSharedRow()
		if len(m.At) != tt.want || m.HasSharedRow() != (tt.want == 1) || m.Delta != nil && len(m.Delta) != tt.want ||
			len(tt.k.At) != 2 {
			t.Errorf("%s: %+v", tt.name, m)
		}
	}
	none := ThresholdTable{}.WithSharedRow()
	if none.At != nil || none.ThresholdsPerChannel() != 0 || none.HasSharedRow() {
		t.Errorf("of nothing: %+v", none)
	}
}

// TestConstant checks that a base is a constant if all channels have the same base and it fits into an int of C++.
func TestConstant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		k    ThresholdTable
		want bool
	}{
		{ThresholdTable{Base: []int64{math.MinInt32}}, true},
		{ThresholdTable{Base: []int64{math.MaxInt32}}, true},
		{ThresholdTable{Base: []int64{math.MinInt32 - 1}}, false},
		{ThresholdTable{Base: []int64{math.MaxInt32 + 1}}, false},
		{ThresholdTable{Base: []int64{1, 2}}, false},
		{ThresholdTable{Base: []int64{1}, Delta: [][]int64{{1}}}, false},
	} {
		if base, ok := tt.k.ConstantBase(); ok != tt.want || ok && base != tt.k.Base[0] {
			t.Errorf("%+v: %d, %v", tt.k, base, ok)
		}
	}
}
