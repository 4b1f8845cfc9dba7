// Package goal holds what a user asks of a design: its goal, its budget, and the limits of the search. In come flags
// and a board; out come values that are compared exactly: rationals, and the vectors of package search. It may import
// that and finn, because a folding file is a part of a goal.
//
//	goal.go       the goal of a design
//	measure.go    the meaning of "least resources"
//	use.go        the share of a board that a design may take
//	budget.go     the budget that follows from that share
//	unroll.go     the most products that one process may compute
//	number.go     the format of numbers
//	interrupt.go  a way to end a running search
package goal

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"hlsgen/folding/finn"
	"hlsgen/internal/dataflow"
)

// A Goal says which design to look for. With FPS or Interval, it is the design of the least resources that is as fast.
// With Latency, it is the design of the shortest latency that is as fast as asked. With MaxLatency, it is the design of
// the least resources that is as fast and whose latency is at most that. With MaxCycles, it is the design of
// the least resources whose layers take at most MaxCycles clocks per frame, whatever the budget. Otherwise it is the
// design of the highest throughput, and among equals the design of the least resources.
type Goal struct {
	FPS float64 // samples per second; 0: not given
	// Interval is in clocks per frame, which may hold several samples (dataflow.SampleInterleaving); 0: not given. It
	// is a fraction when a rate asks for frames at uneven distances.
	Interval   float64
	MaxCycles  int // the most clocks per frame of any layer, without a budget; 0: not given
	Latency    bool
	MaxLatency int               // the most clocks from a frame's first word to its last result; 0: not given
	Least      ResourceMeasure   // the meaning of "least resources"
	MaxUse     MaxUseFractions   // the budget; the zero MaxUseFractions means DefaultMaxUseFractions
	OverBudget bool              // whether to return the design of the smallest load when no design fits the budget
	Fixed      *finn.FoldingFile // the choices that a folding file fixes; nil: none
	FIFO       FIFODepthPolicy
	// SearchTime ends the search once it has a design; the certificate states what is then left open. It also sets the
	// steps of work to searchStepsPerSecond per second. With 0, a count of steps ends the search, which does not depend
	// on the machine.
	SearchTime time.Duration
	// Steps sets the steps of work after which the search ends once it has a design; 0: the usual number. A design
	// found with more steps is never worse.
	Steps int
	// whether to try out, in a tenth of the search's steps, what would make the design faster
	Cure      bool
	Interrupt *SearchStopper                  // lets the user end the search with its best design; may be nil
	Tell      func(st BestDesignSoFarSummary) // called for each better design; may be nil
}

// searchStepsPerSecond is the number of steps of work for each second of Goal.SearchTime. A slow machine does as many.
const searchStepsPerSecond = 20_000_000

// SearchStepBudget returns the steps of work after which the search ends once it has a design. 0 means the usual
// number. SearchTime, if given, overrides Steps.
func (g *Goal) SearchStepBudget() int {
	if g.SearchTime > 0 {
		return max(1, int(g.SearchTime.Seconds()*searchStepsPerSecond))
	}
	return g.Steps
}

// A BestDesignSoFarSummary describes the best design of a search in progress.
type BestDesignSoFarSummary struct {
	Interval float64 // clocks per frame; 0 if the search is for the shortest latency
	Latency  int     // clocks; 0 unless the search is for the shortest latency
	Floor    int     // a lower bound on the interval or latency of all designs within the budget; 0: not known
	Share    float64 // the largest share of the budget that any kind of resource takes
}

// A FIFODepthPolicy says how deep FIFOs are. The zero value makes them deep enough for the interval that unbounded
// FIFOs would give.
type FIFODepthPolicy struct {
	Words   int  // if not 0: the depth of every FIFO in words
	Minimal bool // whether FIFOs are only as deep as freedom from deadlock needs, at any speed
}

// String returns the policy as the value of --fifo: a number of words, "minimal" or "throughput".
func (f FIFODepthPolicy) String() string {
	switch {
	case f.Words > 0:
		return strconv.Itoa(f.Words)
	case f.Minimal:
		return "minimal"
	}
	return "throughput"
}

// MaxIntervalClocks returns the longest interval, in clocks per frame, that reaches the goal at the clock, with the
// given samples per frame. It returns nil if every interval does, because the goal asks for no speed.
func (g *Goal) MaxIntervalClocks(clockMHz float64, samples int) *big.Rat {
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

// intervalOf returns the clocks per frame that give a rate in samples per second, with the given samples per frame.
func intervalOf(clockMHz, fps float64, samples int) *big.Rat {
	return new(big.Rat).Quo(perClock(clockMHz, samples), RationalOfShortestDecimal(fps))
}

// perClock returns the samples per second at one frame per clock, with the given samples per frame.
func perClock(clockMHz float64, samples int) *big.Rat {
	return new(big.Rat).Mul(RationalOfShortestDecimal(clockMHz), big.NewRat(1_000_000*int64(samples), 1))
}

// IntervalMeetsLimit reports whether an interval in clocks is at most the limit. A nil limit allows every interval.
func IntervalMeetsLimit(clocks float64, limit *big.Rat) bool {
	return limit == nil || new(big.Rat).SetFloat64(clocks).Cmp(limit) <= 0
}

// MaxClocksPerFrameForRate returns the longest interval in whole clocks that reaches fps at the clock, with the given
// samples per frame.
func MaxClocksPerFrameForRate(clockMHz, fps float64, samples int) int {
	return CappedFloorOfRational(intervalOf(clockMHz, fps, samples))
}

// SamplesPerSecondForInterval returns the samples per second at an interval in clocks between frames of the given
// samples. So that a user can ask for it, it is rounded down to the fewest decimals for which MaxClocksPerFrameForRate
// returns int(interval). It is 0 if interval is infinite or not positive.
func SamplesPerSecondForInterval(clockMHz, interval float64, samples int) float64 {
	if !(interval > 0) || math.IsInf(interval, 0) {
		return 0
	}
	exact := new(big.Rat).Quo(perClock(clockMHz, samples), new(big.Rat).SetFloat64(interval))
	scale := big.NewInt(1)
	for range 20 {
		n := new(big.Int).Mul(exact.Num(), scale)
		n.Quo(n, exact.Denom())
		r, _ := new(big.Rat).SetFrac(n, scale).Float64()
		if r > 0 && CappedFloorOfRational(intervalOf(clockMHz, r, samples)) == int(interval) {
			return r
		}
		scale.Mul(scale, big.NewInt(10))
	}
	r, _ := exact.Float64()
	return r
}

// CountedUnitForSamplesPerFrame returns the unit of rates as users read it: samples, or frames if a frame is one
// sample.
func CountedUnitForSamplesPerFrame(samplesPerFrame int) string {
	if samplesPerFrame > 1 {
		return "samples"
	}
	return "frames"
}

// Verify returns an error for a goal, or a clock of t, with values that are out of range or exclude each other. A goal
// may have only one of FPS, Interval and MaxCycles. The command line rules such values out before.
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
	case g.SearchTime < 0 || g.Steps < 0 || g.Least > ResourceMeasureDSP:
		return fmt.Errorf("search time %v, measure %d: not possible", g.SearchTime, g.Least)
	case g.MaxCycles < 0 || g.Interval < 0 || g.FIFO.Words < 0 || g.MaxLatency < 0:
		return fmt.Errorf("%d cycles, interval %v, FIFOs of %d words, a latency of %d: must not be negative",
			g.MaxCycles, g.Interval, g.FIFO.Words, g.MaxLatency)
	case !g.MaxUse.valid():
		return fmt.Errorf("budget %+v: shares are from 0 to 1", g.MaxUse)
	case asked > 1:
		return fmt.Errorf("a goal has one of samples per second, an interval and a limit of cycles")
	}
	return nil
}
