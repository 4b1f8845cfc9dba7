package folding

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// A Goal is what a design is made for. With FPS or Interval it is the one of the least resources that is as fast; with
// Latency the one of the shortest latency, as fast as asked; with MaxCycles the one of the least resources of which no
// layer takes more clocks per frame, whatever the budget; otherwise the one of the highest throughput, and of these the
// one of the least resources.
type Goal struct {
	FPS        float64 // frames per second; 0: not asked
	Interval   int     // clocks per frame; 0: not asked
	MaxCycles  int     // clocks per frame of every layer, without a budget; 0: not used
	Latency    bool
	Least      Measure // what "least resources" means
	MaxUse     Use     // the budget; the zero Use means DefaultMaxUse
	OverBudget bool    // where nothing fits, the design that takes the least share of the budget
	Fixed      *File   // what a folding file asks for; nil: nothing
	FIFO       FIFO
	// SearchTime ends the search; what it then leaves open, the certificate states. 0 leaves the end to a count of
	// what was looked at, which does not depend on the machine.
	SearchTime time.Duration
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

// A Measure is what "least resources" means: the first thing that a search minimises at an interval. Ties are broken by
// the load, then by LUTs.
type Measure uint8

// The measures. LeastLoad is the largest share of the budget that any kind of resource takes; the others count one kind.
const (
	LeastLoad Measure = iota
	LeastLUT
	LeastFF
	LeastBRAM
	LeastURAM
	LeastDSP
)

// measures are what ParseMeasure reads, and the kind that each counts; -1 for the load.
var measures = [...]struct {
	name string
	kind int
}{{"load", -1}, {"lut", lut}, {"ff", ff}, {"bram", bram}, {"uram", uram}, {"dsp", dsp}}

// String is the measure as a report calls it.
func (m Measure) String() string {
	if k := measures[m].kind; k >= 0 {
		return names[k]
	}
	return "load"
}

// Flag is the measure as --least has it.
func (m Measure) Flag() string { return measures[m].name }

// ParseMeasure reads --least: load, lut, ff, bram, uram or dsp.
func ParseMeasure(s string) (Measure, error) {
	var known []string
	for m, x := range measures {
		if x.name == s {
			return Measure(m), nil
		}
		known = append(known, x.name)
	}
	return 0, fmt.Errorf("want %s", strings.Join(known, ", "))
}

// order is what is minimised, one after the other.
func (m Measure) order() []Measure {
	if m == LeastLUT || m == LeastLoad {
		return []Measure{m, LeastLoad + LeastLUT - m}
	}
	return []Measure{m, LeastLoad, LeastLUT}
}

// of is the measure as the search has it; a load is measured against the yard.
func (m Measure) of(yard *search.Vector) search.Measure {
	if k := measures[m].kind; k >= 0 {
		return search.Measure{Kind: k}
	}
	return search.Measure{Yard: yard}
}

// limit is the longest interval that reaches the goal at the clock; nil where any does.
func (g *Goal) limit(clockMHz float64) *big.Rat {
	switch {
	case g.Interval > 0:
		return big.NewRat(int64(g.Interval), 1)
	case g.MaxCycles > 0:
		return big.NewRat(int64(g.MaxCycles), 1)
	case g.FPS > 0:
		return intervalOf(clockMHz, g.FPS)
	}
	return nil
}

// intervalOf is the clocks per frame of a rate.
func intervalOf(clockMHz, fps float64) *big.Rat {
	hz := new(big.Rat).Mul(decimal(clockMHz), big.NewRat(1_000_000, 1))
	return hz.Quo(hz, decimal(fps))
}

// ClocksPerFrame is the longest interval in whole clocks that reaches fps at the clock.
func ClocksPerFrame(clockMHz, fps float64) int { return floor(intervalOf(clockMHz, fps)) }

// Rate is the frames per second of an interval, rounded down to as few decimals as make it the rate of this interval in
// whole clocks and of no longer one: what is printed can be asked for.
func Rate(clockMHz, interval float64) float64 {
	if !(interval > 0) || math.IsInf(interval, 0) {
		return 0
	}
	exact := new(big.Rat).Mul(decimal(clockMHz), big.NewRat(1_000_000, 1))
	exact.Quo(exact, new(big.Rat).SetFloat64(interval))
	scale := big.NewInt(1)
	for range 20 {
		n := new(big.Int).Mul(exact.Num(), scale)
		n.Quo(n, exact.Denom())
		if r, _ := new(big.Rat).SetFrac(n, scale).Float64(); r > 0 && floor(intervalOf(clockMHz, r)) == int(interval) {
			return r
		}
		scale.Mul(scale, big.NewInt(10))
	}
	r, _ := exact.Float64()
	return r
}

func (g *Goal) verify(t dataflow.Target) error {
	finite := func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
	asked := []bool{g.FPS > 0, g.Interval > 0, g.MaxCycles > 0}
	asked = slices.DeleteFunc(asked, func(x bool) bool { return !x })
	switch {
	case !finite(t.ClockMHz) || t.ClockMHz <= 0:
		return fmt.Errorf("clock %v MHz is not positive", t.ClockMHz)
	case !finite(g.FPS) || g.FPS < 0:
		return fmt.Errorf("%v frames per second is not positive", g.FPS)
	case g.SearchTime < 0 || g.Least > LeastDSP:
		return fmt.Errorf("search time %v, measure %d: not possible", g.SearchTime, g.Least)
	case g.MaxCycles < 0 || g.Interval < 0 || g.FIFO.Words < 0:
		return fmt.Errorf("%d cycles, interval %d, FIFOs of %d words: must not be negative", g.MaxCycles, g.Interval, g.FIFO.Words)
	case len(asked) > 1:
		return fmt.Errorf("a goal has one of frames per second, an interval and a limit of cycles")
	}
	return nil
}
