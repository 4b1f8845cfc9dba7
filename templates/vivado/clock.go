package vivado

import (
	"strconv"
	"strings"

	"hlsgen/boards"
)

// A Clock is what comes of a PLL of the PS through two dividers.
type Clock struct {
	Asked      float64 // in MHz
	PLL        int     // in MHz; 0 where the clock is not a PS's
	Div0, Div1 int
}

// plls are the IO PLLs, in MHz, as the presets of the boards set them up: what the clocks of the logic come from
// (UG585, clocks of the PL; UG1085, PL clocks). The crystals of some boards make 1499.985 of the 1500.
var plls = map[boards.PS]int{boards.Zynq7000: 1000, boards.ZynqMP: 1500}

// divider is the greatest value of one: it has six bits.
const divider = 63

// PLClock is the fastest clock of the logic that a PS can make and that is at most the one asked for; ok is false where
// it can make none.
func PLClock(ps boards.PS, asked float64) (c Clock, ok bool) {
	c = Clock{Asked: asked, PLL: plls[ps]}
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

// MHz is the clock that results; the one asked for where it does not come from a PS.
func (c Clock) MHz() float64 {
	if c.PLL == 0 {
		return c.Asked
	}
	return float64(c.PLL) / float64(c.Div0*c.Div1)
}

// Hz is the same in whole hertz.
func (c Clock) Hz() string { return strconv.FormatFloat(c.MHz()*1e6, 'f', 0, 64) }

// String is the clock in MHz, to the hertz, without zeros at its end.
func (c Clock) String() string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(c.MHz(), 'f', 6, 64), "0"), ".")
}
