package vivado_test

import (
	"testing"

	"hlsgen/boards"
	"hlsgen/templates/vivado"
)

// TestPLClock checks that a clock is one that two dividers of 1 to 63 make of the PLL, and the nearest one that is not
// above the requested clock.
func TestPLClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ps    boards.ProcessingSystem
		asked float64
		text  string
		hz    string
		ok    bool
	}{
		{boards.PSZynq7000, 100, "100", "100000000", true},
		{boards.PSZynq7000, 150, "142.857143", "142857143", true},
		{boards.PSZynq7000, 1000, "1000", "1000000000", true},
		{boards.PSZynq7000, 99.99, "90.909091", "90909091", true},
		{boards.PSZynq7000, 0.2, "", "", false},
		{boards.PSZynq7000, 1000. / 3969, "0.251953", "251953", true},
		{boards.PSZynqMP, 200, "187.5", "187500000", true},
		{boards.PSZynqMP, 300, "300", "300000000", true},
		{boards.PSZynqMP, 150, "150", "150000000", true},
		{boards.PSZynqMP, 20.4, "20.27027", "20270270", true}, // 2 times 37: 73.53 is asked for, 74 can be had
		{boards.PSNone, 100, "", "", false},
	} {
		clock, ok := vivado.FastestPLClock(c.ps, c.asked)
		if ok != c.ok || ok && (clock.String() != c.text || clock.Hz() != c.hz) {
			t.Errorf("%s, %g MHz: %s MHz, %s Hz, %t; want %+v", c.ps, c.asked, clock, clock.Hz(), ok, c)
		}
	}
	for _, ps := range []boards.ProcessingSystem{boards.PSZynq7000, boards.PSZynqMP} {
		pll := map[boards.ProcessingSystem]int{boards.PSZynq7000: 1000, boards.PSZynqMP: 1500}[ps]
		for asked := 1.; asked <= 400; asked += 0.7 {
			clock, ok := vivado.FastestPLClock(ps, asked)
			if !ok || clock.MHz() > asked || clock.Div0 > 63 || clock.Div1 > 63 || clock.Div0*clock.Div1 < 1 {
				t.Fatalf("%s, %g MHz: %+v", ps, asked, clock)
			}
			for a := 1; a <= 63; a++ {
				for b := 1; b <= 63; b++ {
					if f := float64(pll) / float64(a*b); f <= asked && f > clock.MHz() {
						t.Fatalf("%s, %g MHz: %+v, but %d times %d gives %g", ps, asked, clock, a, b, f)
					}
				}
			}
		}
	}
}
