package folding

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
)

// A Goal is what a search is after. With FPS it is the least resources that reach the rate; with MaxCycles the least
// resources at which no layer takes more clocks per frame, whatever the budget; otherwise the highest throughput that
// fits the budget.
type Goal struct {
	FPS       float64 // frames per second; 0: as many as fit
	MaxCycles int     // clocks per frame of every layer, without a budget; 0: not used
	MaxUse    Use     // the budget; the zero Use means DefaultMaxUse
	Fixed     *File   // what a folding file asks for; nil: nothing
	FIFO      int     // words in every FIFO; 0: DefaultFIFO
	Least     Measure // what "least resources" means
	Latency   bool    // the shortest latency that the budget allows, at the asked rate or at any; Least is not used
	// SearchTime ends the search; what it then leaves open, Result.Proof states. 0 leaves the end to a count of
	// what was looked at, which does not depend on the machine.
	SearchTime time.Duration
}

// DefaultFIFO is the depth of a stream in words: what HLS gives one, and enough wherever no branch waits for another.
const DefaultFIFO = 2

// A Use is the fraction of each of the board's resources that a design may take, 0 to 1.
type Use struct{ LUT, FF, BRAM, URAM, DSP float64 }

// DefaultMaxUse leaves a fifth of everything to routing, the host's port and what the estimate leaves out.
var DefaultMaxUse = Use{0.8, 0.8, 0.8, 0.8, 0.8}

// ParseMaxUse reads --max-use: a fraction for every resource, "0.8", or single ones, "lut=0.7,bram=0.9", which leave
// the others at DefaultMaxUse; a fraction may come first: "0.5,dsp=1".
func ParseMaxUse(s string) (Use, error) {
	u := DefaultMaxUse
	fields := map[string]*float64{"lut": &u.LUT, "ff": &u.FF, "bram": &u.BRAM, "uram": &u.URAM, "dsp": &u.DSP}
	var seen []string
	for i, part := range strings.Split(s, ",") {
		name, number, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			if i > 0 {
				return Use{}, fmt.Errorf("max-use %q: %q names no resource", s, part)
			}
			number = name
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
			return Use{}, fmt.Errorf("max-use %q: %q is not a fraction from 0 to 1", s, number)
		}
		if !named {
			u = Use{f, f, f, f, f}
			continue
		}
		name = strings.ToLower(strings.TrimSpace(name))
		field, ok := fields[name]
		if !ok {
			return Use{}, fmt.Errorf("max-use %q: unknown resource %q, known are lut, ff, bram, uram, dsp", s, name)
		}
		if slices.Contains(seen, name) {
			return Use{}, fmt.Errorf("max-use %q: %s is given twice", s, name)
		}
		seen = append(seen, name)
		*field = f
	}
	if u == (Use{}) {
		return Use{}, fmt.Errorf("max-use %q leaves no resource", s)
	}
	return u, nil
}

// Capacity is what the board has, in the units of a cost.
func Capacity(b boards.Board) dataflow.Resources {
	return dataflow.Resources{LUT: b.LUT, LUTRAM: b.LUT, FF: b.FF, BRAM: 2 * b.BRAM36, URAM: b.URAM, DSP: b.DSP}
}

// Budget is what a design may take of the board. The fractions are decimals: 0.7 of 53,200 LUT is 37,240, as on paper.
func Budget(b boards.Board, u Use) dataflow.Resources {
	if u == (Use{}) {
		u = DefaultMaxUse
	}
	c := Capacity(b)
	part := func(n int, f float64) int {
		return floor(new(big.Rat).Mul(big.NewRat(int64(n), 1), decimal(f)))
	}
	return dataflow.Resources{
		LUT: part(c.LUT, u.LUT), LUTRAM: part(c.LUTRAM, u.LUT), FF: part(c.FF, u.FF), BRAM: part(c.BRAM, u.BRAM),
		URAM: part(c.URAM, u.URAM), DSP: part(c.DSP, u.DSP),
	}
}

// ClocksPerFrame is the longest interval that reaches fps at the clock.
func ClocksPerFrame(clockMHz, fps float64) int {
	hz := new(big.Rat).Mul(decimal(clockMHz), big.NewRat(1_000_000, 1))
	return floor(hz.Quo(hz, decimal(fps)))
}

// decimal is the shortest decimal that reads as f: the number the user wrote.
func decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("folding: %v is not a number", f))
	}
	return r
}

// mostClocks is beyond any interval; it bounds what floor returns.
const mostClocks = 1 << 40

func floor(r *big.Rat) int {
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() || q.Int64() > mostClocks {
		return mostClocks
	}
	return int(q.Int64())
}

func (g Goal) verify(t dataflow.Target) error {
	finite := func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
	switch {
	case !finite(t.ClockMHz) || t.ClockMHz <= 0:
		return fmt.Errorf("clock %v MHz is not positive", t.ClockMHz)
	case !finite(g.FPS) || g.FPS < 0:
		return fmt.Errorf("%v frames per second is not positive", g.FPS)
	case g.SearchTime < 0 || g.Least > LeastDSP:
		return fmt.Errorf("search time %v, measure %d: not possible", g.SearchTime, g.Least)
	case g.MaxCycles < 0 || g.FIFO < 0:
		return fmt.Errorf("%d cycles, FIFOs of %d words: must not be negative", g.MaxCycles, g.FIFO)
	case g.FPS > 0 && g.MaxCycles > 0:
		return fmt.Errorf("a goal has either frames per second or a limit of cycles")
	}
	return nil
}
