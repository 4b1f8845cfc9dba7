package requant

import (
	"math/big"
	"math/bits"

	"hlsgen/internal/num"
)

// Fit finds the parameters with which the layer equals step functions exactly: channel c has steps[c] on inputs in x[c];
// one of either serves all channels. ok is false where there are none within 63 bits: what the layer computes is a line,
// rounded down and clipped, and a step function may be none. It is also false where a channel's inputs and values span
// more than 60 bits together.
//
// Shift is the least with which all channels have parameters. Channels have the same multiplier where one can serve
// all, and the same bias likewise; the ones chosen are those nearest to 0. The outcome is proved at every breakpoint.
//
// Lo and Hi are the least and greatest values of all channels: of a plateau at a limit the line must only keep on the
// far side. Any other plateau of value v demands v*2^Shift <= m*x+b < (v+1)*2^Shift at both its ends. A real slope has
// such a line just where it lies in an open interval, which depends on no shift; and where m and Shift are integers, so
// are the ends of b's own interval, and it holds an integer. What is left is to find m/2^Shift in the open interval.
func Fit(steps []num.Step, x []num.Range) (p Params, ok bool) {
	if len(steps) == 0 || len(x) == 0 || len(steps) > 1 && len(x) > 1 && len(steps) != len(x) {
		return Params{}, false
	}
	stairs := make([]stair, max(len(steps), len(x)))
	p.Lo, p.Hi = steps[0].Apply(x[0].Lo), steps[0].Apply(x[0].Lo)
	for c := range stairs {
		s := stair{f: of(steps, c).Over(of(x, c)), x: of(x, c)}
		if s.v = hull(s.f.Value); !s.narrow() {
			return Params{}, false
		}
		p.Lo, p.Hi = min(p.Lo, s.v.Lo), max(p.Hi, s.v.Hi)
		stairs[c] = s
	}
	slopes := make([]interval, len(stairs))
	for c := range stairs {
		stairs[c].limits = num.Range{Lo: p.Lo, Hi: p.Hi}
		if slopes[c], ok = stairs[c].slopes(); !ok {
			return Params{}, false
		}
	}
	if p.Shift, p.Multiplier, ok = multipliers(stairs, slopes); !ok {
		return Params{}, false
	}
	biases := make([]num.Range, len(stairs))
	for c, s := range stairs {
		if biases[c], ok = s.biases(of(p.Multiplier, c), p.Shift); !ok {
			return Params{}, false
		}
	}
	p.Bias = choose(biases)
	if _, err := p.sums(len(stairs), func(c int) num.Range { return stairs[c].x }); err != nil {
		return Params{}, false
	}
	for c, s := range stairs {
		if !s.proves(p, c) {
			return Params{}, false
		}
	}
	return p, true
}

// A stair is what one channel has to equal.
type stair struct {
	f         num.Step  // over x: every breakpoint lies inside, and changes the value
	x, v      num.Range // inputs and values
	limits    num.Range // where the layer clips
}

// A point is an end of a plateau.
type point struct{ x, v int64 }

// spanBits is what inputs and values may span together, for the comparisons of slopes to stay within an int64; maxTerm
// is the largest magnitude of a term of m*x + b.
const (
	spanBits = 61
	maxTerm  = 1 << 61
)

// narrow reports whether the stair's numbers stay within the bits that Fit computes in.
func (s stair) narrow() bool {
	if max(s.x.Hi, s.v.Hi) >= maxTerm || min(s.x.Lo, s.v.Lo) <= -maxTerm {
		return false
	}
	return bits.Len64(uint64(s.x.Hi-s.x.Lo))+bits.Len64(uint64(s.v.Hi-s.v.Lo)+1) <= spanBits
}

// plateau is the first and the last input of value i.
func (s stair) plateau(i int) (first, last int64) {
	first, last = s.x.Lo, s.x.Hi
	if i > 0 {
		first = s.f.At[i-1]
	}
	if i < len(s.f.At) {
		last = s.f.At[i] - 1
	}
	return first, last
}

// extremes gives the point that lies furthest above lines of slope rise/run among the plateaus' ends that bound the
// stair's line from below, and furthest below among the points one higher that bound it from above. ok is false where
// all plateaus are at one limit, and there is nothing on one of the sides.
func (s stair) extremes(rise, run int64) (under, over point, ok bool) {
	var highest, lowest int64
	var some [2]bool
	for i, v := range s.f.Value {
		first, last := s.plateau(i)
		// Above lines through (x.Lo, v.Lo): the differences span few bits.
		at, tilt := run*(v-s.v.Lo), rise*(first-s.x.Lo)
		tiltLast := rise * (last - s.x.Lo)
		if v > s.limits.Lo {
			if h := at - min(tilt, tiltLast); !some[0] || h > highest {
				highest, some[0] = h, true
				under = point{first, v}
				if tiltLast < tilt {
					under.x = last
				}
			}
		}
		if v < s.limits.Hi {
			if h := at + run - max(tilt, tiltLast); !some[1] || h < lowest {
				lowest, some[1] = h, true
				over = point{first, v + 1}
				if tiltLast > tilt {
					over.x = last
				}
			}
		}
	}
	return under, over, some[0] && some[1]
}

// An interval is an open one; an end that is nil is infinite.
type interval struct{ lo, hi *big.Rat }

// slopes is the slopes of the lines that lie on or above every point that bounds them from below, and below every one
// that bounds them from above. ok is false where there are none.
func (s stair) slopes() (interval, bool) {
	hi, ok := s.steepest()
	if !ok {
		return interval{}, false
	}
	lo, ok := s.mirror().steepest()
	if !ok {
		return interval{}, false
	}
	if lo != nil {
		lo.Neg(lo)
	}
	return interval{lo, hi}, lo == nil || hi == nil || lo.Cmp(hi) < 0
}

// steepest is what the slopes lie below, nil where they are unbounded. A point that lies before one that is above the
// line bounds the slope. From the outermost points on, the pair that violates the last bound by most gives the next
// one, until none does; that is Newton's method for fractional programs (Dinkelbach, Management Science 13, 1967), which
// takes a few rounds. ok is false where a pair shows that there is no line.
func (s stair) steepest() (slope *big.Rat, ok bool) {
	under, over, ok := s.extremes(1, 0)
	if !ok || over.x <= under.x {
		return nil, true
	}
	for {
		rise, run := over.v-under.v, over.x-under.x
		if run <= 0 {
			return nil, false
		}
		var next [2]point
		next[0], next[1], _ = s.extremes(rise, run)
		dx, dv := next[1].x-next[0].x, next[1].v-next[0].v
		if run*dv-rise*dx >= 0 {
			return big.NewRat(rise, run), true
		}
		under, over = next[0], next[1]
	}
}
