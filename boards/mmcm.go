package boards

import (
	"fmt"
	"math"
)

// The limits of an MMCME2 of speed grade -1 in MHz: of the frequency that it compares, of its oscillator, and of a
// clock that a BUFG passes on (DS181, Artix-7 FPGAs Data Sheet).
const (
	leastPhase, mostPhase           = 10, 450
	leastOscillator, mostOscillator = 600, 1200
	mostBufferedMHz                 = 464
)

// mmcm is the family.PLL of an MMCME2_BASE, whose multiplier and last divider go by eighths (UG472). Among the settings
// for the nearest frequency it takes the fastest oscillator, which has the least jitter.
func mmcm(oscillator, wanted float64) (mhz float64, cell string) {
	var in, back, out int // back and out in eighths
	best, fastest := math.Inf(1), 0.
	for i := 1; i <= 106; i++ {
		if phase := oscillator / float64(i); phase < leastPhase || phase > mostPhase {
			continue
		}
		for m := 2 * 8; m <= 64*8; m++ {
			vco := oscillator * float64(m) / float64(8*i)
			if vco < leastOscillator || vco > mostOscillator {
				continue
			}
			o := min(max(int(math.Round(8*vco/wanted)), 2*8), 128*8)
			made := oscillator * float64(m) / float64(i*o)
			far := math.Abs(made - wanted)
			if far < best-1e-9 || far < best+1e-9 && vco > fastest {
				best, fastest, mhz, in, back, out = far, vco, made, i, m, o
			}
		}
	}
	return mhz, fmt.Sprintf(`    logic made, feedback;
    MMCME2_BASE #(
        .CLKIN1_PERIOD(%.3f), .DIVCLK_DIVIDE(%d), .CLKFBOUT_MULT_F(%.3f), .CLKOUT0_DIVIDE_F(%.3f)
    ) pll (
        .CLKIN1(clk), .CLKFBIN(feedback), .CLKFBOUT(feedback), .CLKOUT0(made), .LOCKED(locked),
        .PWRDWN(1'b0), .RST(1'b0)
    );
    BUFG buffer (.I(made), .O(clock));
`, 1000/oscillator, in, float64(back)/8, float64(out)/8)
}
