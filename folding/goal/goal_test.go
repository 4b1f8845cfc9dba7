package goal

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
)

func TestParseMaxUse(t *testing.T) {
	t.Parallel()
	d := DefaultMaxUseFractions
	with := func(u MaxUseFractions, kind int, f float64) MaxUseFractions {
		*u.FractionPointerOf(kind) = f
		return u
	}
	for _, c := range []struct {
		text    string
		want    MaxUseFractions
		written string // the result of String; the input if empty
		err     string
	}{
		{"guideline", d, "", ""},
		{"0.8", NewUniformMaxUse(0.8), "", ""},
		{"1", NewUniformMaxUse(1), "", ""},
		{" 0.25 ", NewUniformMaxUse(0.25), "0.25", ""},
		{"lut=0.6,bram=0.9", with(with(d, KindLUT, 0.6), KindBRAM, 0.9), "", ""},
		{"lut=0.7", d, "guideline", ""},
		{"LUT = 0.6, Dsp=0", with(with(d, KindLUT, 0.6), KindDSP, 0), "lut=0.6,dsp=0", ""},
		{"0.5,uram=1", with(NewUniformMaxUse(0.5), KindURAM, 1), "", ""},
		{"0.5,dsp=1", with(NewUniformMaxUse(0.5), KindDSP, 1), "", ""},
		{"0.5,lut=0.6", with(NewUniformMaxUse(0.5), KindLUT, 0.6), "", ""},
		{"lutram=0.1,ff=0.2,mean=0.3", with(with(with(d, KindLUTRAM, 0.1), KindFF, 0.2), KindMeanHardBlockShare, 0.3),
			"", ""},
		{"0.9,lut=0.5,dsp=0.6", with(with(NewUniformMaxUse(0.9), KindLUT, 0.5), KindDSP, 0.6), "", ""},
		{"0.9,lut=0.7,lutram=0.25,ff=1", with(with(with(NewUniformMaxUse(0.9), KindLUT, 0.7), KindLUTRAM, 0.25),
			KindFF, 1), "",
			""},
		{"", MaxUseFractions{}, "", "not a fraction"},
		{"80%", MaxUseFractions{}, "", "not a fraction"},
		{"1.2", MaxUseFractions{}, "", "not a fraction"},
		{"-0.1", MaxUseFractions{}, "", "not a fraction"},
		{"NaN", MaxUseFractions{}, "", "not a fraction"},
		{"lut=inf", MaxUseFractions{}, "", "not a fraction"},
		{"lut=", MaxUseFractions{}, "", "not a fraction"},
		{"luts=0.5", MaxUseFractions{}, "", "unknown resource"},
		{"guideline,lut=0.5", MaxUseFractions{}, "", "not a fraction"},
		{"lut=0.5,lut=0.6", MaxUseFractions{}, "", "given twice"},
		{"lut=0.5,0.6", MaxUseFractions{}, "", "names no resource"},
		{"0", MaxUseFractions{}, "", "leaves no resource"},
	} {
		got, err := ParseMaxUseFractions(c.text)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %+v, %v", c.text, got, err)
			continue
		}
		if c.written == "" {
			c.written = c.text
		}
		if err != nil {
			continue
		}
		again, err := ParseMaxUseFractions(got.String())
		if err != nil || again != got {
			t.Errorf("%q is written %q, read back %+v, %v", c.text, got, again, err)
		}
		if got.differs(NewUniformMaxUse(got.LUT)) != 1 && got.String() != c.written {
			t.Errorf("%q is written %q, want %q", c.text, got, c.written)
		}
	}
	if zero := (MaxUseFractions{}).String(); zero != DefaultMaxUseName {
		t.Errorf("nothing given is written %q", zero)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	board := func(name string) boards.Board {
		b, err := boards.FindBoard(name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	z, p := board("zcu104"), board("pynq-z1")
	for _, c := range []struct {
		b    boards.Board
		use  MaxUseFractions
		want dataflow.Resources
	}{
		{z, MaxUseFractions{}, dataflow.Resources{LUT: 161280, LUTRAM: 25440, FF: 230400, BRAM: 499, URAM: 76,
			DSP: 1382}},
		{z, NewUniformMaxUse(1), dataflow.Resources{LUT: 230400, LUTRAM: 101760, FF: 460800, BRAM: 624, URAM: 96,
			DSP: 1728}},
		{p, NewUniformMaxUse(0.7), dataflow.Resources{LUT: 37240, LUTRAM: 12180, FF: 74480, BRAM: 196, DSP: 154}},
		{p, MaxUseFractions{LUT: 0.29}, dataflow.Resources{LUT: 15428}},
	} {
		if got := BudgetOfBoard(c.b, c.use); got.Resources != c.want ||
			got.AllowsResources(c.want.Plus(dataflow.Resources{LUT: 1})) {
			t.Errorf("%s %+v: %+v, want %+v", c.b.Name, c.use, got.Resources, c.want)
		}
	}
}

// TestMean checks that the mean covers the kinds that the board has.
func TestMean(t *testing.T) {
	t.Parallel()
	b := boards.Board{LUT: 100, BRAM36: 5, DSP: 10} // 10 RAMB18
	with := b
	with.URAM = 4
	for _, c := range []struct {
		b     boards.Board
		limit float64
		r     dataflow.Resources
		mean  float64
		fits  bool
	}{
		{b, 0.5, dataflow.Resources{BRAM: 5, DSP: 5}, 0.5, true},
		{b, 0.5, dataflow.Resources{BRAM: 10, DSP: 0}, 0.5, true},
		{b, 0.5, dataflow.Resources{BRAM: 6, DSP: 5}, 0.55, false},
		{b, 0.5, dataflow.Resources{LUT: 100}, 0, true},
		{with, 0.5, dataflow.Resources{BRAM: 6, URAM: 2, DSP: 4}, 0.5, true},
		{with, 0.5, dataflow.Resources{BRAM: 5, URAM: 3, DSP: 3}, 1.55 / 3, false},
		{boards.Board{LUT: 100}, 0.5, dataflow.Resources{LUT: 1}, 0, true},
	} {
		budget := BudgetOfBoard(c.b, MaxUseFractions{1, 1, 1, 1, 1, 1, c.limit})
		if got := budget.MeanHardBlockShareOf(c.r); math.Abs(got-c.mean) > 1e-9 ||
			budget.AllowsResources(c.r) != c.fits {
			t.Errorf("%+v of %+v: mean %v, fits %t", c.r, c.b, got, budget.AllowsResources(c.r))
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{1e6: "1000000", 200: "200", 0.5: "0.5", 1234.5678912: "1234.567891",
		1e-9: "0"} {
		if got := FormatUpToSixDecimals(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}

func TestClocksPerFrame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clock, fps float64
		samples    int
		want       int
	}{
		{200, 3125000, 1, 64},
		{200, 3125001, 1, 63},
		{100, 1e6, 1, 100},
		{100, 1e6, 4, 400},
		{100, 1e6 + 1, 4, 399},
		{142.857, 142857, 1, 1000}, // in binary 142.857e6/142857 is below 1000
		{100, 0.1, 1, 1e9},
		{100, 3e8, 1, 0},
		{100, 3e8, 4, 1},
		{100, 1e-300, 1, ClocksBeyondAnyInterval},
		{1e300, 1, 1, ClocksBeyondAnyInterval},
	} {
		if got := MaxClocksPerFrameForRate(c.clock, c.fps, c.samples); got != c.want {
			t.Errorf("%v MHz, %v samples per second, %d in a frame: %d, want %d", c.clock, c.fps, c.samples,
				got, c.want)
		}
	}
}

// TestRate checks that a printed rate asks for its interval: no longer one, and for a whole number no shorter one. It
// is rounded down to few decimals.
func TestRate(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 9))
	check := func(clock, interval float64, samples int) {
		rate := SamplesPerSecondForInterval(clock, interval, samples)
		most := new(big.Rat).Quo(new(big.Rat).Mul(RationalOfShortestDecimal(clock),
			big.NewRat(1_000_000*int64(samples), 1)),
			new(big.Rat).SetFloat64(interval))
		again, err := strconv.ParseFloat(FormatAllDecimals(rate), 64)
		if err != nil {
			t.Fatal(err)
		}
		limit := intervalOf(clock, again, samples)
		if !IntervalMeetsLimit(interval, limit) || CappedFloorOfRational(limit) != int(interval) ||
			RationalOfShortestDecimal(rate).Cmp(most) > 0 {
			t.Errorf("%v MHz, %v clocks for %d: %s samples per second, which are %s clocks", clock, interval, samples,
				FormatAllDecimals(rate),
				limit.FloatString(3))
		}
	}
	for _, c := range []struct {
		clock, interval float64
		samples         int
		want            float64
	}{
		{200, 64, 1, 3125000}, {100, 192, 1, 520833}, {100, 3, 1, 33333333}, {200, 7, 1, 28571428}, {100, 1e9, 1, 0.1},
		{100, 1.5, 1, 66666666}, {100, 0, 1, 0}, {200, 64, 4, 12500000}, {100, 3, 2, 66666666}, {100, 0, 8, 0},
	} {
		if got := SamplesPerSecondForInterval(c.clock, c.interval, c.samples); got != c.want {
			t.Errorf("%v MHz, %v clocks for %d: %v samples per second, want %v", c.clock, c.interval, c.samples,
				got, c.want)
		}
	}
	for range 3000 {
		clock := []float64{100, 142.857, 200, 250, 333.33, 12.5}[r.IntN(6)]
		n := float64(1 + r.IntN(int(math.Pow(10, 1+8*r.Float64()))))
		samples := 1 << r.IntN(4)
		check(clock, n, samples)
		check(clock, n+float64(r.IntN(64))/64, samples)
	}
}

func TestGoalVerify(t *testing.T) {
	t.Parallel()
	verify := func(clock float64, goal Goal) error { return goal.Verify(dataflow.Target{ClockMHz: clock}) }
	for _, goal := range []Goal{{}, {FPS: 1, FIFO: FIFODepthPolicy{Words: 3}}, {Interval: 3, Latency: true}} {
		if err := verify(100, goal); err != nil {
			t.Errorf("%+v: %v", goal, err)
		}
	}
	for _, clock := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if verify(clock, Goal{}) == nil {
			t.Errorf("%v MHz are a clock", clock)
		}
	}
	for _, goal := range []Goal{
		{FPS: -1}, {FPS: math.NaN()}, {FPS: math.Inf(1)}, {MaxCycles: -1}, {Interval: -1},
		{FIFO: FIFODepthPolicy{Words: -1}},
		{FPS: 1, MaxCycles: 1}, {FPS: 1, Interval: 1}, {SearchTime: -1}, {Least: ResourceMeasureDSP + 1},
		{MaxUse: MaxUseFractions{LUT: math.NaN()}}, {MaxUse: MaxUseFractions{Mean: -1}},
		{MaxUse: MaxUseFractions{BRAM: math.Inf(1)}},
		{MaxUse: NewUniformMaxUse(1.5)},
	} {
		if verify(100, goal) == nil {
			t.Errorf("%+v is a goal", goal)
		}
	}
}

func TestParseMeasure(t *testing.T) {
	t.Parallel()
	for m := ResourceMeasureLoad; m <= ResourceMeasureDSP; m++ {
		if got, err := ParseResourceMeasure(m.FlagValue()); err != nil || got != m {
			t.Errorf("%s: %v, %v", m.FlagValue(), got, err)
		}
		if o := m.MinimisationOrder(); o[0] != m || o[len(o)-1] != ResourceMeasureLUT && m != ResourceMeasureLUT {
			t.Errorf("%s: %v", m, o)
		}
	}
	for _, s := range []string{"", "LUT", "lutram", "area"} {
		if m, err := ParseResourceMeasure(s); err == nil {
			t.Errorf("%q: %v", s, m)
		}
	}
}
