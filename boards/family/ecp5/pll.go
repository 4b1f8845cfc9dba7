package ecp5

import (
	"fmt"
	"math"
)

// The limits of an EHXPLLL in MHz: of the frequency that it compares, and of its oscillator.
const (
	leastPhase, mostPhase           = 3.125, 400
	leastOscillator, mostOscillator = 400, 800
)

// pll is the family.PLL of an EHXPLLL, whose feedback is its output. Among the settings for the nearest frequency, its
// oscillator is the nearest to the middle of its range.
func pll(oscillator, wanted float64) (mhz float64, cell string) {
	var in, feedback, out int
	const middle = (leastOscillator + mostOscillator) / 2
	best, off := math.Inf(1), math.Inf(1)
	for i := 1; i <= 128; i++ {
		phase := oscillator / float64(i)
		if phase < leastPhase || phase > mostPhase {
			continue
		}
		for f := 1; f <= 80; f++ {
			made := phase * float64(f)
			for o := 1; o <= 128; o++ {
				vco := made * float64(o)
				if vco < leastOscillator || vco > mostOscillator {
					continue
				}
				far, far2 := math.Abs(made-wanted), math.Abs(vco-middle)
				if far < best-1e-9 || far < best+1e-9 && far2 < off-1e-9 {
					best, off, mhz, in, feedback, out = far, far2, made, i, f, o
				}
			}
		}
	}
	return mhz, fmt.Sprintf(`    (* FREQUENCY_PIN_CLKI = "%s", FREQUENCY_PIN_CLKOP = "%s", ICP_CURRENT = "12",
       LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
    EHXPLLL #(
        .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"), .STDBY_ENABLE("DISABLED"), .DPHASE_SOURCE("DISABLED"),
        .OUTDIVIDER_MUXA("DIVA"), .OUTDIVIDER_MUXB("DIVB"), .OUTDIVIDER_MUXC("DIVC"), .OUTDIVIDER_MUXD("DIVD"),
        .CLKI_DIV(%d), .CLKFB_DIV(%d), .FEEDBK_PATH("CLKOP"),
        .CLKOP_ENABLE("ENABLED"), .CLKOP_DIV(%d), .CLKOP_CPHASE(%d), .CLKOP_FPHASE(0)
    ) pll (
        .CLKI(clk), .CLKOP(clock), .CLKFB(clock), .LOCK(locked), .RST(1'b0), .STDBY(1'b0), .ENCLKOP(1'b0),
        .PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b1), .PHASESTEP(1'b1), .PHASELOADREG(1'b1), .PLLWAKESYNC(1'b0)
    );
`, number(oscillator), number(mhz), in, feedback, out, out/2)
}

// number returns a frequency in MHz as text.
func number(mhz float64) string { return fmt.Sprintf("%.6g", mhz) }
