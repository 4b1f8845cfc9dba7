package cost

import "testing"

func TestArithmetic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		got, want Resources
	}{
		{"adder", AdderCost(9), Resources{LUT: 9}},
		{"maximum", LargerOfTwoCost(9), Resources{LUT: 10}},
		{"maximum of a bit", LargerOfTwoCost(1), Resources{LUT: 2}},
		{"multiplier", finnMultiplierCost(4, 9, false), Resources{LUT: 5 * 13}},
		{"multiplier in DSP slices", finnMultiplierCost(27, 18, true), Resources{DSP: 1}},
		{"multiplier beyond a DSP slice", finnMultiplierCost(32, 17, true), Resources{DSP: 2}},
		{"none", finnMultiplierCost(8, 8, true).Times(0), Resources{}},
		{"three", (Resources{1, 6, 2, 3, 4, 5}).Times(3), Resources{3, 18, 6, 9, 12, 15}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
}
