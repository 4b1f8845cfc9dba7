package luts

import (
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// signed returns a word as a signed number.
func signed(x circuit.Value, width int) circuit.Value {
	return circuit.LowBitsAsType(x, num.Type{Kind: num.KindInt, Width: width})
}

// exceedsSigned compares a number with a constant.
func exceedsSigned(width int, bound int64) made {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		return circuit.LowBitsOf(circuit.IsGreater(signed(x, width), b.ConstantNumber(bound)), 1)
	}
}

// looked8 is a table with addresses of 8 bits, whose upper half is zero if half is true.
func looked8(half bool) made {
	r := rand.New(rand.NewPCG(1, 2))
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		t := b.AddTable("t", circuit.DistributedRAMStyle, unsigned(1), 1, 256, func() (rows [][]int64) {
			for i := range 256 {
				v := r.Int64N(2)
				if half && i >= 128 {
					v = 0
				}
				rows = append(rows, []int64{v})
			}
			return rows
		})
		return t.ReadRow(circuit.LowBitsAsType(x, unsigned(8)))
	}
}

// TestSmall checks logic of constants alone against Yosys 0.23 for the 7 series, without the logic that starts an
// iteration.
func TestSmall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		width int
		make  made
		want  float64
	}{
		{"more than 65: of seven inputs, but where the number is negative it is not", 8, exceedsSigned(8, 65), 1},
		{"two numbers of four bits, at once", 8, exceeds(4), 4},
		{"two of twelve, three bits of each in a pair of lookup tables before a carry chain", 24, exceeds(12), 8},
		{"a sum", 8, func(_ *circuit.Builder, x circuit.Value) circuit.Value {
			a, b := operands(x, 4)
			return circuit.LowBitsOf(circuit.SumOfTwo(a, b), 5)
		}, 4},
		{"a function of eight bits, in four lookup tables and three multiplexers", 8, looked8(false), 4},
		{"one that is zero where the highest bit is set", 8, looked8(true), 2},
	} {
		var flat, ruled float64
		for k, c := range SynthesisRulesOf(cost.FabricSeries7).CountCells(module(tt.width, tt.make)) {
			if CellPurpose(k) != purposeGate {
				flat, ruled = flat+c.Flat, ruled+c.LUT
			}
		}
		if flat != tt.want || ruled != 0 {
			t.Errorf("%s: %v lookup tables, want %v, and %v by the rules", tt.name, flat, tt.want, ruled)
		}
	}
}

// TestLarge checks that other circuits are counted by the rules.
func TestLarge(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*circuit.Module{
		"a counter": module(1, counter), "an array": module(8, array), "a product": module(16, product(8)),
		"a function": module(8, called(new(circuit.FunctionLibrary))),
	} {
		for _, c := range SynthesisRulesOf(cost.FabricSeries7).CountCells(m) {
			if c.Flat != 0 {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}
