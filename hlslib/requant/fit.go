package requant

import (
	"math/big"
	"math/bits"

	"hlsgen/internal/num"
)

// Fit finds the parameters with which the layer equals step functions exactly: channel c has steps[c] on inputs in x[c];
// one of either serves all channels. ok is false where there are none within 63 bits: what the layer computes is a line,
// rounded down and clipped, and a step function may be none. It is also false where a channel's inputs and values span
// more than 61 bits together.
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
	for c := range stairs {
		s := stair{f: of(steps, c).Over(of(x, c)), x: of(x, c)}
		if s.v = hull(s.f.Value); !s.narrow() {
			return Params{}, false
		}
		if stairs[c] = s; c == 0 {
			p.Lo, p.Hi = s.v.Lo, s.v.Hi
		}
		p.Lo, p.Hi = min(p.Lo, s.v.Lo), max(p.Hi, s.v.Hi)
	}
	lines := make([]slopes, len(stairs))
	for c := range stairs {
		stairs[c].limits = num.Range{Lo: p.Lo, Hi: p.Hi}
		if lines[c], ok = stairs[c].slopes(); !ok {
			return Params{}, false
		}
	}
	if p.Shift, p.Multiplier, ok = multipliers(stairs, lines); !ok {
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
	f      num.Step  // over x: every breakpoint lies inside, and changes the value
	x, v   num.Range // inputs and values
	limits num.Range // where the layer clips
}

// Bounds of Fit's numbers: spanBits is what inputs and values may span together, for comparisons of slopes to stay within
// an int64; maxTerm is the largest magnitude of m*x, and of a value times 2^Shift.
const (
	spanBits = 61
	maxTerm  = 1 << 61
)

// narrow reports whether the stair's numbers keep those bounds.
func (s stair) narrow() bool {
	if max(s.x.Hi, s.v.Hi) >= maxTerm || min(s.x.Lo, s.v.Lo) <= -maxTerm {
		return false
	}
	return bits.Len64(uint64(s.x.Hi-s.x.Lo))+bits.Len64(uint64(s.v.Hi-s.v.Lo+1)) <= spanBits
}

// plateau is the first and the last input of value i.
func (s stair) plateau(i int) [2]int64 {
	ends := [2]int64{s.x.Lo, s.x.Hi}
	if i > 0 {
		ends[0] = s.f.At[i-1]
	}
	if i < len(s.f.At) {
		ends[1] = s.f.At[i] - 1
	}
	return ends
}

// A point of the plane of inputs and values, counted from the least ones; in the mirrored plane inputs count down.
type point struct{ x, v int64 }

// extremes looks at the plateaus' ends along lines of slope rise/run. A line of the stair passes on or above floor, the
// one furthest up of those that bound it from below, and below ceiling, the one furthest down of those that bound it
// from above. ok is false where one of the sides has no bounds.
func (s stair) extremes(rise, run, sign int64) (floor, ceiling point, ok bool) {
	var floorAt, ceilingAt int64
	var below, above bool
	for i, v := range s.f.Value {
		for _, x := range s.plateau(i) {
			p := point{sign * (x - s.x.Lo), v - s.v.Lo}
			at := run*p.v - rise*p.x
			if v > s.limits.Lo && (!below || at > floorAt) {
				floor, floorAt, below = p, at, true
			}
			if v < s.limits.Hi && (!above || at+run < ceilingAt) {
				ceiling, ceilingAt, above = point{p.x, p.v + 1}, at+run, true
			}
		}
	}
	return floor, ceiling, below && above
}

// slopes is an open interval of slopes; an end that is nil is infinite.
type slopes struct{ lo, hi *big.Rat }

// slopes is those of the stair's lines. ok is false where it has none.
func (s stair) slopes() (between slopes, ok bool) {
	if between.hi, ok = s.steepest(1); !ok {
		return slopes{}, false
	}
	if between.lo, ok = s.steepest(-1); !ok {
		return slopes{}, false
	}
	if between.lo == nil {
		return between, true
	}
	between.lo.Neg(between.lo)
	return between, between.hi == nil || between.lo.Cmp(between.hi) < 0
}

// steepest is what the slopes of the stair's lines stay below, nil where they may be any; sign is -1 for those of the
// mirrored stair. A floor with a ceiling further along bounds the slope. The outermost such pair gives a first bound; as
// long as some pair lies the wrong way round along that slope, the one that does so by most gives the next. That is
// Newton's method for a ratio (Dinkelbach, Management Science 13, 1967), and takes a few rounds. ok is false where a pair
// comes up that no lesser slope puts right.
func (s stair) steepest(sign int64) (slope *big.Rat, ok bool) {
	floor, ceiling, ok := s.extremes(1, 0, sign)
	if !ok || ceiling.x <= floor.x {
		return nil, true
	}
	for {
		rise, run := ceiling.v-floor.v, ceiling.x-floor.x
		if floor, ceiling, _ = s.extremes(rise, run, sign); run*(ceiling.v-floor.v) >= rise*(ceiling.x-floor.x) {
			return big.NewRat(rise, run), true
		}
		if ceiling.x <= floor.x {
			return nil, false
		}
	}
}

// multipliers finds the least shift with which every channel has multipliers, and chooses among them.
func multipliers(stairs []stair, lines []slopes) (shift int, m []int64, ok bool) {
	all := make([]num.Range, len(stairs))
search:
	for ; shift <= MaxShift; shift++ {
		for c, s := range stairs {
			if all[c], ok = lines[c].multipliers(shift, maxTerm/max(1, s.x.Hi, -s.x.Lo)); !ok {
				continue search
			}
		}
		return shift, choose(all), true
	}
	return 0, nil, false
}

// multipliers is the integers m of at most the given magnitude with m/2^shift in the interval.
func (l slopes) multipliers(shift int, most int64) (m num.Range, ok bool) {
	m = num.Range{Lo: -most, Hi: most}
	if l.lo != nil {
		m.Lo = above(l.lo, shift, most)
	}
	if l.hi != nil {
		m.Hi = -above(new(big.Rat).Neg(l.hi), shift, most)
	}
	return m, m.Lo <= m.Hi
}

// above is the least integer above r*2^shift, kept within -most..most+1.
func above(r *big.Rat, shift int, most int64) int64 {
	scaled := new(big.Int).Lsh(r.Num(), uint(shift))
	floor := scaled.Div(scaled, r.Denom()) // rounds down, for the denominator is positive
	switch {
	case floor.Cmp(big.NewInt(most)) >= 0:
		return most + 1
	case floor.Cmp(big.NewInt(-most)) < 0:
		return -most
	}
	return floor.Int64() + 1
}

// biases is the b with which m*x + b over 2^shift, rounded down and clipped, equals the stair.
func (s stair) biases(m int64, shift int) (b num.Range, ok bool) {
	if max(s.v.Hi+1, -s.v.Lo) > maxTerm>>shift {
		return b, false
	}
	b = num.Range{Lo: -2 * maxTerm, Hi: 2*maxTerm - 1}
	for i, v := range s.f.Value {
		for _, x := range s.plateau(i) {
			if v > s.limits.Lo {
				b.Lo = max(b.Lo, v<<shift-m*x)
			}
			if v < s.limits.Hi {
				b.Hi = min(b.Hi, (v+1)<<shift-1-m*x)
			}
		}
	}
	return b, b.Lo <= b.Hi
}

// choose picks the value nearest to 0 that lies in all ranges, or, where none does, that of each.
func choose(from []num.Range) []int64 {
	all := from[0]
	for _, r := range from {
		all = num.Range{Lo: max(all.Lo, r.Lo), Hi: min(all.Hi, r.Hi)}
	}
	if all.Lo <= all.Hi {
		from = []num.Range{all}
	}
	chosen := make([]int64, len(from))
	for i, r := range from {
		chosen[i] = min(max(0, r.Lo), r.Hi)
	}
	return chosen
}

// proves reports whether channel c of the layer equals the stair. Between the ends of a plateau the layer cannot leave
// what it has at both, for it never turns round.
func (s stair) proves(p Params, c int) bool {
	for i, v := range s.f.Value {
		for _, x := range s.plateau(i) {
			if p.apply(c, x) != v {
				return false
			}
		}
	}
	return true
}
