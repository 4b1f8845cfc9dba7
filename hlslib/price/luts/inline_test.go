package luts

import (
	"math"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
)

// anyOf calls a function that says whether a bit of a word is 1 where a row of a table has a 1, too. The rows have four
// bits, and come from registers.
func anyOf(library *circuit.FunctionLibrary, rows ...int64) made {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		t := b.AddTable("t", circuit.DistributedRAMStyle, unsigned(4), 1, len(rows), func() (list [][]int64) {
			for _, r := range rows {
				list = append(list, []int64{r})
			}
			return list
		})
		row := t.ReadRow(circuit.LowBitsAsType(circuit.SliceBits(x, 4, 3), unsigned(3))).DelayedByClocks(1)
		result := b.CallFunction(library, "any", []circuit.Value{circuit.SliceBits(x, 0, 4), row},
			func(_ *circuit.Builder, operands []circuit.Value) []circuit.Value {
				var list []circuit.Value
				for k := range 4 {
					list = append(list, circuit.AllHold(circuit.BitOf(operands[0], k), circuit.BitOf(operands[1], k)))
				}
				return []circuit.Value{circuit.AnyHolds(list...)}
			})
		return circuit.LowBitsOf(result[0], 1)
	}
}

// TestGiven checks the lookup tables of a function at a call of which synthesis knows arguments. Its seven gates become
// fewer where a table's column is constant.
func TestGiven(t *testing.T) {
	t.Parallel()
	library := new(circuit.FunctionLibrary)
	count := func(rows ...int64) float64 {
		m := module(7, anyOf(library, rows...))
		all := SynthesisRulesOf(cost.FabricICE40).CountCells(m)[purposeGate].LUT
		m.Calls = nil
		return all - SynthesisRulesOf(cost.FabricICE40).CountCells(m)[purposeGate].LUT
	}
	differ := []int64{1, 2, 4, 8, 3, 6, 12, 9}
	whole := count(differ...)
	for _, tt := range []struct {
		name string
		rows []int64
		want float64 // gates of seven
	}{
		{"all columns differ", differ, 7},
		{"always zero", []int64{0, 0, 0, 0, 0, 0, 0, 0}, 0},
		{"always one", []int64{15, 15, 15, 15, 15, 15, 15, 15}, 3},
		{"two columns are zero", []int64{1, 2, 3, 0, 1, 2, 2, 1}, 3},
		{"two columns are one", []int64{13, 14, 15, 12, 13, 14, 14, 13}, 5},
	} {
		if got := count(tt.rows...); math.Abs(got-whole*tt.want/7) > 1e-9 || whole == 0 {
			t.Errorf("%s: %v lookup tables, want %v of %v", tt.name, got, whole*tt.want/7, whole)
		}
	}
}
