package boards

import (
	"fmt"
	"math"
)

// The limits of an MMCME2 of speed grade -1 in MHz: of the frequency that it compares, of its oscillator, and of a
// clock that a BUFG passes on. DS181 (Artix-7 FPGAs Data Sheet, v1.27) has them in tables 32 and 37. They were read in
// quotations: LiteX' clock/xilinx_s7.py has the oscillator's, other public files all five.
const (
	leastPhase, mostPhase           = 10, 450
	leastOscillator, mostOscillator = 600, 1200
	mostBufferedMHz                 = 464
)

// The ranges of an MMCME2_BASE: of its first divider, and in eighths of its multiplier and of its last divider (UG472,
// table 3-7, and Vivado's template of the cell). A divider by eighths begins at 2.
const (
	mostFirst           = 106
	leastBack, mostBack = 2 * 8, 64 * 8
	leastLast, mostLast = 2 * 8, 128 * 8
)

// mmcm is the family.PLL of an MMCME2_BASE. Among the settings for the nearest frequency it takes the fastest
// oscillator, which has the least jitter (UG949).
func mmcm(oscillator, wanted float64) (mhz float64, cell string) {
	var in, back, out int // back and out in eighths
	best, fastest := math.Inf(1), 0.
	for i := 1; i <= mostFirst; i++ {
		if phase := oscillator / float64(i); phase < leastPhase || phase > mostPhase {
			continue
		}
		for m := leastBack; m <= mostBack; m++ {
			vco := oscillator * float64(m) / float64(8*i)
			if vco < leastOscillator || vco > mostOscillator {
				continue
			}
			o := min(max(int(math.Round(8*vco/wanted)), leastLast), mostLast)
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
