package requant

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/num"
)

// Fit finds the parameters with which the layer equals step functions exactly: channel c has steps[c] on inputs in
// x[c]; one of either serves all channels. ok is false where there are none within 63 bits: what the layer computes is
// a line, rounded and clipped, and a step function may be none.
//
// Mode is the first of roundings that has parameters, unless another that has them with a lesser shift needs no
// product. Shift is the least with which all channels have parameters. Channels have the same multiplier where one can
// serve all, and the same bias likewise; the ones chosen are those nearest to 0. The outcome is proved at every
// breakpoint.
//
// Lo and Hi are the least and greatest values of all channels: of a plateau at a limit the line must only keep on the
// far side. Any other plateau of value v demands least(v) <= m*x+b < least(v+1) at both its ends, where least(v) is the
// least integer that, over 2^Shift and rounded, comes to v; how it rounds shows in nothing else. All of these are
// integers, so that two such bounds leave room for some b just where they do at the slope m.
func Fit(steps []num.Step, x []num.Range) (p Params, ok bool) {
	stairs, valid := stairsOf(steps, x)
	if !valid {
		return Params{}, false
	}
	for _, mode := range roundings {
		if ok && (!p.multiplies() || p.Shift == 0 || !passes(stairs, mode, p.Shift-1)) {
			continue
		}
		if q, found := fit(stairs, mode); found && (!ok || !q.multiplies()) {
			p, ok = q, true
		}
	}
	return p, ok
}

// roundings is where Fit looks. Those that are left out round down with another bias. Where ties go toward or away from
// 0, a line a little less or more steep has none, and rounds down as well; only that it may need a product in place of
// a shift.
var roundings = []num.Rounding{num.Floor, num.HalfEven, num.HalfTowardZero, num.HalfAway, num.TowardZero,
	num.AwayFromZero}

// fit is Fit with one rounding.
func fit(stairs []stair, mode num.Rounding) (p Params, ok bool) {
	p = Params{Mode: mode, Lo: stairs[0].limits.Lo, Hi: stairs[0].limits.Hi}
	for _, s := range stairs { // what one shift serves, the next serves with twice the multiplier and the bias
		for !s.passes(mode, p.Shift) {
			if p.Shift++; p.Shift > MaxShift {
				return Params{}, false
			}
		}
	}
	multipliers, biases := make([]num.Range, len(stairs)), make([]num.Range, len(stairs))
	for c, s := range stairs {
		if multipliers[c], ok = s.multipliers(mode, p.Shift); !ok {
			return Params{}, false
		}
	}
	p.Multiplier = choose(multipliers)
	for c, s := range stairs {
		between, _ := s.corridor(mode, p.Shift)
		biases[c], _, _ = between.biases(layer.Of(p.Multiplier, c))
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

// maxTerm is the largest magnitude of m*x, and of a value times 2^Shift.
const maxTerm = 1 << 61

// stairsOf is the channels' stairs. ok is false where there are none, or a magnitude is too large for any shift.
func stairsOf(steps []num.Step, x []num.Range) (stairs []stair, ok bool) {
	if len(steps) == 0 || len(x) == 0 || len(steps) > 1 && len(x) > 1 && len(steps) != len(x) {
		return nil, false
	}
	stairs = make([]stair, max(len(steps), len(x)))
	var limits num.Range
	for c := range stairs {
		s := stair{f: layer.Of(steps, c).Over(layer.Of(x, c)), x: layer.Of(x, c)}
		if s.v = num.Hull(s.f.Value); max(s.x.Hi, s.v.Hi) >= maxTerm || min(s.x.Lo, s.v.Lo) <= -maxTerm {
			return nil, false
		}
		if stairs[c] = s; c == 0 {
			limits = s.v
		}
		limits = limits.Union(s.v)
	}
	for c := range stairs {
		stairs[c].limits = limits
	}
	return stairs, true
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

// passes reports whether all stairs have multipliers.
func passes(stairs []stair, mode num.Rounding, shift int) bool {
	for _, s := range stairs {
		if !s.passes(mode, shift) {
			return false
		}
	}
	return true
}

// most is the greatest multiplier.
func (s stair) most() int64 { return maxTerm / max(1, s.x.Hi, -s.x.Lo) }

// passes reports whether the stair has multipliers.
func (s stair) passes(mode num.Rounding, shift int) bool {
	between, ok := s.corridor(mode, shift)
	if ok {
		_, ok = between.steepest(1, s.most())
	}
	return ok
}

// multipliers is the m with which there is a b.
func (s stair) multipliers(mode num.Rounding, shift int) (m num.Range, ok bool) {
	between, ok := s.corridor(mode, shift)
	if !ok {
		return m, false
	}
	up, ok := between.steepest(1, s.most())
	down, ok2 := between.steepest(-1, s.most())
	return num.Range{Lo: -down, Hi: up}, ok && ok2
}

// corridor is where the stair's lines m*x+b pass through. ok is false where values times 2^shift are too large.
func (s stair) corridor(mode num.Rounding, shift int) (between corridor, ok bool) {
	if max(s.v.Hi+1, 1-s.v.Lo) > maxTerm>>shift {
		return corridor{}, false
	}
	n := 2 * len(s.f.Value)
	between = corridor{make([]bound, 0, n), make([]bound, 0, n)}
	for i, v := range s.f.Value {
		ends := s.plateau(i)
		if v > s.limits.Lo {
			least := mode.Least(v, shift)
			between.floor = append(between.floor, bound{ends[0], least}, bound{ends[1], least})
		}
		if v < s.limits.Hi {
			most := mode.Least(v+1, shift) - 1
			between.ceiling = append(between.ceiling, bound{ends[0], most}, bound{ends[1], most})
		}
	}
	return between, true
}

// A bound is what a line comes to at x, at least or at most.
type bound struct{ x, sum int64 }

// A corridor is the bounds of lines from below and from above.
type corridor struct{ floor, ceiling []bound }

// biases is the b of the lines of slope m. Where there are none, floor and ceiling are the bounds that are furthest
// apart.
func (between corridor) biases(m int64) (b num.Range, floor, ceiling bound) {
	b = num.Range{Lo: -2 * maxTerm, Hi: 2*maxTerm - 1}
	for _, p := range between.floor {
		if at := p.sum - m*p.x; at > b.Lo {
			b.Lo, floor = at, p
		}
	}
	for _, p := range between.ceiling {
		if at := p.sum - m*p.x; at < b.Hi {
			b.Hi, ceiling = at, p
		}
	}
	return b, floor, ceiling
}

// steepest is the greatest slope of the lines, from most down to -most; sign is -1 for those of the mirrored corridor.
// As long as the line of a slope is too steep for a floor with a ceiling further along, the pair for which it is so by
// most gives the next slope. That is Newton's method for a ratio (Dinkelbach, Management Science 13, 1967), and takes a
// few rounds. ok is false where a pair comes up that no lesser slope puts right.
func (between corridor) steepest(sign, most int64) (m int64, ok bool) {
	for m = most; m >= -most; {
		b, floor, ceiling := between.biases(sign * m)
		if b.Lo <= b.Hi {
			return m, true
		}
		run := sign * (ceiling.x - floor.x)
		if run <= 0 {
			return 0, false
		}
		rise := ceiling.sum - floor.sum
		if m = rise / run; rise%run < 0 {
			m-- // down, not toward 0
		}
	}
	return 0, false
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
