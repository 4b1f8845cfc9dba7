package boards_test

import (
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/testsupport/tier"
)

// TestPLL compares the settings of PLLs with those of prjtrellis' ecppll.
func TestPLL(t *testing.T) {
	t.Parallel()
	ulx3s := find(t, "ulx3s-85f")
	for _, tt := range []struct {
		wanted, mhz   float64
		in, back, out int
	}{
		{48, 46.875, 8, 15, 13}, {50, 50, 1, 2, 12}, {33.3, 100. / 3, 3, 4, 18}, {40, 40, 5, 8, 15},
	} {
		mhz, cell := ulx3s.NearestClock(tt.wanted)
		want := fmt.Sprintf(".CLKI_DIV(%d), .CLKFB_DIV(%d), .FEEDBK_PATH(\"CLKOP\"),\n        "+
			".CLKOP_ENABLE(\"ENABLED\"), .CLKOP_DIV(%d),", tt.in, tt.back, tt.out)
		if fmt.Sprintf("%.6g", mhz) != fmt.Sprintf("%.6g", tt.mhz) || !strings.Contains(cell, want) {
			t.Errorf("%g MHz: %g, want %g\n%s\nwant\n%s", tt.wanted, mhz, tt.mhz, cell, want)
		}
	}
	for _, b := range []string{"icebreaker", "ulx3s-85f", "zcu104", "arty-a7-35"} {
		if mhz, cell := find(t, b).NearestClock(find(t, b).ClockMHz); mhz != find(t, b).ClockMHz || cell != "" {
			t.Errorf("%s: a PLL for its own clock, %g MHz", b, mhz)
		}
	}
}

// TestICEPLL compares the settings of PLLs with those of IceStorm's icepll.
func TestICEPLL(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "icepack") // which comes with it
	b := find(t, "icebreaker")
	value := regexp.MustCompile(`(DIVR|DIVF|DIVQ|FILTER_RANGE):? +(\d+) |F_PLLOUT: +([0-9.]+) MHz \(achieved\)`)
	for _, wanted := range []float64{16, 18, 20, 22, 24, 25, 27, 30, 33, 36} {
		said, err := exec.Command("icepll", "-i", "12", "-o", fmt.Sprint(wanted)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		at := map[string]string{}
		for _, m := range value.FindAllStringSubmatch(string(said), -1) {
			at[m[1]] = m[2] + m[3]
		}
		mhz, cell := b.NearestClock(wanted)
		want := fmt.Sprintf(".DIVR(4'd%s), .DIVF(7'd%s), .DIVQ(3'd%s), .FILTER_RANGE(3'd%s)", at["DIVR"], at["DIVF"],
			at["DIVQ"], at["FILTER_RANGE"])
		if fmt.Sprintf("%.3f", mhz) != at[""] || !strings.Contains(cell, want) {
			t.Errorf("%g MHz: %.3f, want %s\n%s\nwant\n%s", wanted, mhz, at[""], cell, want)
		}
	}
}

// TestMMCM holds the settings of Arty's MMCM within the limits of DS181 for speed grade -1 and UG472, and their clock
// against the one that was asked for.
func TestMMCM(t *testing.T) {
	t.Parallel()
	b := find(t, "arty-a7-35")
	value := regexp.MustCompile(`\.(CLKIN1_PERIOD|DIVCLK_DIVIDE|CLKFBOUT_MULT_F|CLKOUT0_DIVIDE_F)\(([0-9.]+)\)`)
	for _, tt := range []struct{ wanted, mhz float64 }{
		{150, 150}, {50, 50}, {125, 125}, {12.5, 12.5}, {200. / 3, 200. / 3}, {137, 137}, {1, 600. / 128}, {1000, 464},
	} {
		mhz, cell := b.NearestClock(tt.wanted)
		at := map[string]float64{}
		for _, m := range value.FindAllStringSubmatch(cell, -1) {
			at[m[1]], _ = strconv.ParseFloat(m[2], 64)
		}
		in, back, out := at["DIVCLK_DIVIDE"], at["CLKFBOUT_MULT_F"], at["CLKOUT0_DIVIDE_F"]
		vco := b.ClockMHz / in * back
		if math.Abs(mhz/tt.mhz-1) > 5e-4 || math.Abs(vco/out/mhz-1) > 1e-9 || at["CLKIN1_PERIOD"] != 10 {
			t.Errorf("%g MHz: %g, want %g\n%s", tt.wanted, mhz, tt.mhz, cell)
		}
		if vco < 600 || vco > 1200 || b.ClockMHz/in < 10 || back < 2 || back > 64 || out < 2 || out > 128 ||
			math.Mod(8*back, 1) != 0 || math.Mod(8*out, 1) != 0 || math.Mod(in, 1) != 0 {
			t.Errorf("%g MHz: settings beyond their limits\n%s", tt.wanted, cell)
		}
	}
}

func find(t *testing.T, name string) boards.Board {
	t.Helper()
	b, err := boards.FindBoard(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
