package vivado

import (
	"math"
	"strconv"
	"strings"

	"hlsgen/boards"
)

// A PLLClock is a clock of the logic: the requested one, or that of a PS, which two dividers derive from a PLL.
type PLLClock struct {
	Asked      float64 // requested, in MHz
	PLL        int     // in MHz; 0 if the clock does not come from a PS
	Verified   bool    // whether a source states the board's PLL
	Div0, Div1 int
}

// divider is the greatest value of a PLL's divider, which has six bits.
const divider = 63

// tolerance is the relative difference within which a clock is the one that was asked for. The oscillators of boards
// are no more exact, and most clocks have no end in decimal digits.
const tolerance = 1e-5

// FastestPLClock returns the fastest clock of the logic that the board's PS can make and that is at most asked, in MHz,
// within the tolerance of clocks. ok is false if there is none, or no PS.
func FastestPLClock(board boards.Board, asked float64) (c PLLClock, ok bool) {
	c = PLLClock{Asked: asked}
	c.PLL, c.Verified = board.PSPLLMHz()
	for div0 := 1; div0 <= divider; div0++ {
		for div1 := 1; div1 <= div0; div1++ {
			enough := float64(c.PLL) <= asked*(1+tolerance)*float64(div0*div1)
			if enough && (c.Div0 == 0 || div0*div1 < c.Div0*c.Div1) {
				c.Div0, c.Div1 = div0, div1
			}
		}
	}
	return c, c.PLL > 0 && c.Div0 > 0
}

// MHz returns the frequency that results, in MHz: the requested one if the clock does not come from a PS.
func (c PLLClock) MHz() float64 {
	if c.PLL == 0 {
		return c.Asked
	}
	return float64(c.PLL) / float64(c.Div0*c.Div1)
}

// IsAsked reports whether the frequency that results is the requested one, within the tolerance of clocks.
func (c PLLClock) IsAsked() bool { return math.Abs(c.MHz()-c.Asked) <= tolerance*c.Asked }

// Hz returns the frequency that results in whole hertz, as text.
func (c PLLClock) Hz() string { return strconv.FormatFloat(c.MHz()*1e6, 'f', 0, 64) }

// WholeMHz returns the frequency that results in whole MHz, rounded down, as text.
func (c PLLClock) WholeMHz() string { return strconv.Itoa(int(c.MHz())) }

// String returns the frequency that results in MHz, exact to a hertz, without trailing zeros.
func (c PLLClock) String() string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(c.MHz(), 'f', 6, 64), "0"), ".")
}
