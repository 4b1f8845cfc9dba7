package ask

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"hlsgen/internal/dataflow"
)

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
		{100, 1e-300, MostClocks},
		{1e300, 1, MostClocks},
	} {
		if got := ClocksPerFrame(c.clock, c.fps); got != c.want {
			t.Errorf("%v MHz, %v frames per second: %d, want %d", c.clock, c.fps, got, c.want)
		}
	}
}

// A rate, as printed, asks for the interval it is the rate of: no longer one, and where that is a whole number no
// shorter
// one. It is rounded to few decimals, down.
func TestRate(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 9))
	check := func(clock, interval float64) {
		rate := Rate(clock, interval)
		most := new(big.Rat).Quo(new(big.Rat).Mul(Decimal(clock), big.NewRat(1_000_000, 1)),
			new(big.Rat).SetFloat64(interval))
		again, err := strconv.ParseFloat(Exact(rate), 64)
		if err != nil {
			t.Fatal(err)
		}
		limit := intervalOf(clock, again)
		if !Reaches(interval, limit) || Floor(limit) != int(interval) || Decimal(rate).Cmp(most) > 0 {
			t.Errorf("%v MHz, %v clocks: %s frames per second, which are %s clocks", clock, interval, Exact(rate),
				limit.FloatString(3))
		}
	}
	for _, c := range []struct {
		clock, interval, want float64
	}{
		{200, 64, 3125000}, {100, 192, 520833}, {100, 3, 33333333}, {200, 7, 28571428}, {100, 1e9, 0.1}, {100, 1.5,
			66666666}, {100, 0, 0},
	} {
		if got := Rate(c.clock, c.interval); got != c.want {
			t.Errorf("%v MHz, %v clocks: %v frames per second, want %v", c.clock, c.interval, got, c.want)
		}
	}
	for range 3000 {
		clock := []float64{100, 142.857, 200, 250, 333.33, 12.5}[r.IntN(6)]
		n := float64(1 + r.IntN(int(math.Pow(10, 1+8*r.Float64()))))
		check(clock, n)
		check(clock, n+float64(r.IntN(64))/64)
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
		{100, Goal{FPS: 1, FIFO: FIFO{Words: 3}}, true},
		{100, Goal{Interval: 3, Latency: true}, true},
		{0, Goal{}, false},
		{-1, Goal{}, false},
		{math.NaN(), Goal{}, false},
		{math.Inf(1), Goal{}, false},
		{100, Goal{FPS: -1}, false},
		{100, Goal{FPS: math.NaN()}, false},
		{100, Goal{FPS: math.Inf(1)}, false},
		{100, Goal{MaxCycles: -1}, false},
		{100, Goal{Interval: -1}, false},
		{100, Goal{FIFO: FIFO{Words: -1}}, false},
		{100, Goal{FPS: 1, MaxCycles: 1}, false},
		{100, Goal{FPS: 1, Interval: 1}, false},
		{100, Goal{SearchTime: -1}, false},
		{100, Goal{Least: LeastDSP + 1}, false},
	} {
		if err := c.goal.Verify(dataflow.Target{ClockMHz: c.clock}); (err == nil) != c.ok {
			t.Errorf("%v MHz %+v: %v", c.clock, c.goal, err)
		}
	}
}

func TestParseMeasure(t *testing.T) {
	t.Parallel()
	for m := LeastLoad; m <= LeastDSP; m++ {
		if got, err := ParseMeasure(m.Flag()); err != nil || got != m {
			t.Errorf("%s: %v, %v", m.Flag(), got, err)
		}
		if o := m.Order(); o[0] != m || o[len(o)-1] != LeastLUT && m != LeastLUT {
			t.Errorf("%s: %v", m, o)
		}
	}
	for _, s := range []string{"", "LUT", "lutram", "area"} {
		if m, err := ParseMeasure(s); err == nil {
			t.Errorf("%q: %v", s, m)
		}
	}
}
