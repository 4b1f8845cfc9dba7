package vivado

import (
	"strconv"
	"strings"

	"hlsgen/boards"
)

// A PLLClock is derived from a PLL of the PS by two dividers.
type PLLClock struct {
	Asked      float64 // requested, in MHz
	PLL        int     // in MHz; 0 if the clock does not come from a PS
	Div0, Div1 int
}

// plls are the frequencies of the IO PLLs in MHz, as the boards' presets configure them. The clocks of the logic come
// from these PLLs (UG585, clocks of the PL; UG1085, PL clocks). The crystals of some boards give 1499.985 rather than
// 1500.
var plls = map[boards.PS]int{boards.Zynq7000: 1000, boards.ZynqMP: 1500}

// divider is the greatest value of a divider, which has six bits.
const divider = 63

// PLClock returns the fastest clock of the logic that a PS can make and that does not exceed the requested MHz. ok is
// false if the PS can make none.
func PLClock(ps boards.PS, asked float64) (c PLLClock, ok bool) {
	c = PLLClock{Asked: asked, PLL: plls[ps]}
	for div0 := 1; div0 <= divider; div0++ {
		for div1 := 1; div1 <= div0; div1++ {
			enough := float64(c.PLL) <= asked*float64(div0*div1)
			if enough && (c.Div0 == 0 || div0*div1 < c.Div0*c.Div1) {
				c.Div0, c.Div1 = div0, div1
			}
		}
	}
	return c, c.PLL > 0 && c.Div0 > 0
}

// MHz returns the resulting frequency, or the requested one if the clock does not come from a PS.
func (c PLLClock) MHz() float64 {
	if c.PLL == 0 {
		return c.Asked
	}
	return float64(c.PLL) / float64(c.Div0*c.Div1)
}

// Hz returns the frequency in whole hertz.
func (c PLLClock) Hz() string { return strconv.FormatFloat(c.MHz()*1e6, 'f', 0, 64) }

// String returns the frequency in MHz, exact to a hertz, without trailing zeros.
func (c PLLClock) String() string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(c.MHz(), 'f', 6, 64), "0"), ".")
}
