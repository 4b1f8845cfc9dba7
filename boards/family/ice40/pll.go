package ice40

import (
	"fmt"
	"math"
)

// The limits of an SB_PLL40 in MHz: of the frequency that it compares, and of its oscillator.
const (
	leastPhase, mostPhase           = 10, 133
	leastOscillator, mostOscillator = 533, 1066
)

// filters holds the frequencies in MHz below which each FILTER_RANGE from 1 on is used.
var filters = [...]float64{17, 26, 44, 66, 101, math.Inf(1)}

// pll is the family.PLL of an SB_PLL40_PAD, which divides by DIVR + 1, multiplies by DIVF + 1 and divides by two, DIVQ
// times.
func pll(oscillator, wanted float64) (mhz float64, cell string) {
	var r, f, q, filter int
	for divr := range 16 {
		phase := oscillator / float64(divr+1)
		if phase < leastPhase || phase > mostPhase {
			continue
		}
		for divf := range 128 {
			vco := phase * float64(divf+1)
			if vco < leastOscillator || vco > mostOscillator {
				continue
			}
			for divq := 1; divq <= 6; divq++ {
				out := math.Ldexp(vco, -divq)
				if mhz != 0 && math.Abs(out-wanted) >= math.Abs(mhz-wanted) {
					continue
				}
				mhz, r, f, q = out, divr, divf, divq
				for filter = 1; phase >= filters[filter-1]; filter++ {
				}
			}
		}
	}
	return mhz, fmt.Sprintf(`    SB_PLL40_PAD #(
        .FEEDBACK_PATH("SIMPLE"), .DIVR(4'd%d), .DIVF(7'd%d), .DIVQ(3'd%d), .FILTER_RANGE(3'd%d)
    ) pll (.PACKAGEPIN(clk), .PLLOUTGLOBAL(clock), .LOCK(locked), .RESETB(1'b1), .BYPASS(1'b0));
`, r, f, q, filter)
}
