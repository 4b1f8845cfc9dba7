package ask

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"hlsgen/folding/finn"
	"hlsgen/internal/dataflow"
)

// A Goal is what a design is made for. With FPS or Interval it is the one of the least resources that is as fast; with
// Latency the one of the shortest latency, as fast as asked; with MaxCycles the one of the least resources of which no
// layer takes more clocks per frame, whatever the budget; otherwise the one of the highest throughput, and of these the
// one of the least resources.
type Goal struct {
	FPS float64 // samples per second; 0: not asked
	// Interval is clocks per frame, which may hold several samples (dataflow.Turns); 0: not asked. It is a fraction
	// where frames that come unevenly are asked for.
	Interval   float64
	MaxCycles  int // clocks per frame of every layer, without a budget; 0: not used
	Latency    bool
	Least      Measure    // what "least resources" means
	MaxUse     Use        // the budget; the zero Use means DefaultMaxUse
	OverBudget bool       // where nothing fits, the design that takes the least share of the budget
	Fixed      *finn.File // what a folding file asks for; nil: nothing
	FIFO       FIFO
	// SearchTime ends the search once it has a design; what it then leaves open, the certificate states. It also has
	// the search go on for StepsPerSecond. 0 leaves the end to a count of steps, which does not depend on the machine.
	SearchTime time.Duration
	// Steps has the search go on for so many steps, and end there once it has a design; 0: as many as are usual. The
	// design with more steps is never worse.
	Steps     int
	Cure      bool              // what makes the design faster is tried, in a tenth of the search's steps
	Interrupt *Interrupt        // ends the search with the best design; nil: nothing does
	Tell      func(st Standing) // is told of each better design; may be nil
}

// StepsPerSecond is the steps that a search is given for each second of Goal.SearchTime: what a slow machine does.
const StepsPerSecond = 20_000_000

// Budget is the steps that end the search; 0: as many as are usual.
func (g *Goal) Budget() int {
	if g.SearchTime > 0 {
		return max(1, int(g.SearchTime.Seconds()*StepsPerSecond))
	}
	return g.Steps
}

// A Standing is how far a search is: the best design that it has.
type Standing struct {
	Interval float64 // clocks per frame; 0 where the shortest latency is looked for
	Latency  int     // clocks, where that is
	Floor    int     // no design within the budget has a shorter one, interval or latency; 0: not known
	Share    float64 // of the budget, of what it takes most of
}

// FIFO says how deep FIFOs are. The zero value makes them as deep as the interval of unbounded ones needs.
type FIFO struct {
	Words   int  // of every FIFO, where not 0
	Minimal bool // no deeper than freedom from deadlock needs, at any speed
}

// String is the FIFO as --fifo has it.
func (f FIFO) String() string {
	switch {
	case f.Words > 0:
		return strconv.Itoa(f.Words)
	case f.Minimal:
		return "minimal"
	}
	return "throughput"
}

// Limit is the longest interval that reaches the goal at the clock, with frames of so many samples; nil where any does.
func (g *Goal) Limit(clockMHz float64, samples int) *big.Rat {
	switch {
	case g.Interval > 0:
		return new(big.Rat).SetFloat64(g.Interval)
	case g.MaxCycles > 0:
		return big.NewRat(int64(g.MaxCycles), 1)
	case g.FPS > 0:
		return intervalOf(clockMHz, g.FPS, samples)
	}
	return nil
}

// intervalOf is the clocks per frame of a rate of samples.
func intervalOf(clockMHz, fps float64, samples int) *big.Rat {
	return new(big.Rat).Quo(perClock(clockMHz, samples), Decimal(fps))
}

// perClock is the samples per second of a frame in every clock.
func perClock(clockMHz float64, samples int) *big.Rat {
	return new(big.Rat).Mul(Decimal(clockMHz), big.NewRat(1_000_000*int64(samples), 1))
}

// Reaches reports whether an interval is no longer than asked; nil asks for nothing.
func Reaches(clocks float64, limit *big.Rat) bool {
	return limit == nil || new(big.Rat).SetFloat64(clocks).Cmp(limit) <= 0
}

// ClocksPerFrame is the longest interval in whole clocks that reaches fps at the clock, with frames of so many samples.
func ClocksPerFrame(clockMHz, fps float64, samples int) int {
	return Floor(intervalOf(clockMHz, fps, samples))
}

// Rate is the samples per second of an interval between frames of so many samples, rounded down to as few decimals as
// make it the rate of this interval in whole clocks and of no longer one: what is printed can be asked for.
func Rate(clockMHz, interval float64, samples int) float64 {
	if !(interval > 0) || math.IsInf(interval, 0) {
		return 0
	}
	exact := new(big.Rat).Quo(perClock(clockMHz, samples), new(big.Rat).SetFloat64(interval))
	scale := big.NewInt(1)
	for range 20 {
		n := new(big.Int).Mul(exact.Num(), scale)
		n.Quo(n, exact.Denom())
		r, _ := new(big.Rat).SetFrac(n, scale).Float64()
		if r > 0 && Floor(intervalOf(clockMHz, r, samples)) == int(interval) {
			return r
		}
		scale.Mul(scale, big.NewInt(10))
	}
	r, _ := exact.Float64()
	return r
}

// Unit is what rates count, as users read it. They count samples; where a frame is one, it is called so.
func Unit(samplesPerFrame int) string {
	if samplesPerFrame > 1 {
		return "samples"
	}
	return "frames"
}

// Verify reports what no goal may say: the command line rules it out.
func (g *Goal) Verify(t dataflow.Target) error {
	finite := func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
	asked := 0
	for _, x := range []bool{g.FPS > 0, g.Interval > 0, g.MaxCycles > 0} {
		if x {
			asked++
		}
	}
	switch {
	case !finite(t.ClockMHz) || t.ClockMHz <= 0:
		return fmt.Errorf("clock %v MHz is not positive", t.ClockMHz)
	case !finite(g.FPS) || g.FPS < 0:
		return fmt.Errorf("%v samples per second is not positive", g.FPS)
	case !finite(g.Interval):
		return fmt.Errorf("an interval of %v clocks is not possible", g.Interval)
	case g.SearchTime < 0 || g.Steps < 0 || g.Least > LeastDSP:
		return fmt.Errorf("search time %v, measure %d: not possible", g.SearchTime, g.Least)
	case g.MaxCycles < 0 || g.Interval < 0 || g.FIFO.Words < 0:
		return fmt.Errorf("%d cycles, interval %v, FIFOs of %d words: must not be negative", g.MaxCycles, g.Interval,
			g.FIFO.Words)
	case !g.MaxUse.valid():
		return fmt.Errorf("budget %+v: shares are from 0 to 1", g.MaxUse)
	case asked > 1:
		return fmt.Errorf("a goal has one of samples per second, an interval and a limit of cycles")
	}
	return nil
}
