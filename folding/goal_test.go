package folding

import (
	"math"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
)

func TestParseMaxUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Use
		err  string
	}{
		{"0.8", Use{0.8, 0.8, 0.8, 0.8, 0.8}, ""},
		{"1", Use{1, 1, 1, 1, 1}, ""},
		{" 0.25 ", Use{0.25, 0.25, 0.25, 0.25, 0.25}, ""},
		{"lut=0.7,bram=0.9", Use{0.7, 0.8, 0.9, 0.8, 0.8}, ""},
		{"LUT = 0.7, Dsp=0", Use{0.7, 0.8, 0.8, 0.8, 0}, ""},
		{"0.5,uram=1", Use{0.5, 0.5, 0.5, 1, 0.5}, ""},
		{"", Use{}, "not a fraction"},
		{"80%", Use{}, "not a fraction"},
		{"1.2", Use{}, "not a fraction"},
		{"-0.1", Use{}, "not a fraction"},
		{"NaN", Use{}, "not a fraction"},
		{"lut=inf", Use{}, "not a fraction"},
		{"lut=", Use{}, "not a fraction"},
		{"luts=0.5", Use{}, "unknown resource"},
		{"lut=0.5,lut=0.6", Use{}, "given twice"},
		{"lut=0.5,0.6", Use{}, "names no resource"},
		{"0", Use{}, "leaves no resource"},
	} {
		got, err := ParseMaxUse(c.text)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	z, p := board("zcu104"), board("pynq-z1")
	for _, c := range []struct {
		b    boards.Board
		use  Use
		want dataflow.Resources
	}{
		{z, Use{}, dataflow.Resources{LUT: 184320, FF: 368640, BRAM: 499, URAM: 76, DSP: 1382}},
		{z, Use{1, 1, 1, 1, 1}, dataflow.Resources{LUT: 230400, FF: 460800, BRAM: 624, URAM: 96, DSP: 1728}},
		{p, Use{0.7, 0.7, 0.7, 0.7, 0.7}, dataflow.Resources{LUT: 37240, FF: 74480, BRAM: 196, URAM: 0, DSP: 154}},
		{p, Use{LUT: 0.29}, dataflow.Resources{LUT: 15428}},
	} {
		got := Budget(c.b, c.use)
		if got.LUTRAM = 0; got != c.want { // boards do not say yet how many LUTs can be memory
			t.Errorf("%s %+v: %+v, want %+v", c.b.Name, c.use, got, c.want)
		}
	}
}

func TestClocksPerFrame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clock, fps float64
		want       int
	}{
		{200, 3125000, 64},
		{200, 3125001, 63},
		{100, 1e6, 100},
		{142.857, 142857, 1000}, // in binary 142.857e6/142857 is below 1000
		{100, 0.1, 1e9},
		{100, 3e8, 0},
		{100, 1e-300, mostClocks},
		{1e300, 1, mostClocks},
	} {
		if got := ClocksPerFrame(c.clock, c.fps); got != c.want {
			t.Errorf("%v MHz, %v fps: %d, want %d", c.clock, c.fps, got, c.want)
		}
	}
}

func TestGoalVerify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clock float64
		goal  Goal
		ok    bool
	}{
		{100, Goal{}, true},
		{100, Goal{FPS: 1, FIFO: 3}, true},
		{0, Goal{}, false},
		{-1, Goal{}, false},
		{math.NaN(), Goal{}, false},
		{math.Inf(1), Goal{}, false},
		{100, Goal{FPS: -1}, false},
		{100, Goal{FPS: math.NaN()}, false},
		{100, Goal{FPS: math.Inf(1)}, false},
		{100, Goal{MaxCycles: -1}, false},
		{100, Goal{FIFO: -1}, false},
		{100, Goal{FPS: 1, MaxCycles: 1}, false},
	} {
		if err := c.goal.verify(dataflow.Target{ClockMHz: c.clock}); (err == nil) != c.ok {
			t.Errorf("%v MHz %+v: %v", c.clock, c.goal, err)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{1e6: "1000000", 200: "200", 0.5: "0.5", 1234.5678912: "1234.567891", 1e-9: "0"} {
		if got := plain(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}
