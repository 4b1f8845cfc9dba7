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
// Lo and Hi are the least and greatest values of all channels. num.Stair says which lines equal a step function.
func Fit(steps []num.Step, x []num.Range) (p Params, ok bool) {
	stairs, valid := num.Stairs(steps, x)
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
func fit(stairs []num.Stair, mode num.Rounding) (p Params, ok bool) {
	p = Params{Mode: mode, Lo: stairs[0].Limits.Lo, Hi: stairs[0].Limits.Hi}
	for _, s := range stairs { // what one shift serves, the next serves with twice the multiplier and the bias
		for !s.Passes(mode, p.Shift) {
			if p.Shift++; p.Shift > MaxShift {
				return Params{}, false
			}
		}
	}
	multipliers, biases := make([]num.Range, len(stairs)), make([]num.Range, len(stairs))
	for c, s := range stairs {
		if multipliers[c], ok = s.Multipliers(mode, p.Shift); !ok {
			return Params{}, false
		}
	}
	p.Multiplier = choose(multipliers)
	for c, s := range stairs {
		biases[c] = s.Biases(mode, p.Shift, layer.Of(p.Multiplier, c))
	}
	p.Bias = choose(biases)
	if _, err := p.sums(len(stairs), func(c int) num.Range { return stairs[c].X }); err != nil {
		return Params{}, false
	}
	for c, s := range stairs {
		if !proves(s, p, c) {
			return Params{}, false
		}
	}
	return p, true
}

// passes reports whether all stairs have multipliers.
func passes(stairs []num.Stair, mode num.Rounding, shift int) bool {
	for _, s := range stairs {
		if !s.Passes(mode, shift) {
			return false
		}
	}
	return true
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
func proves(s num.Stair, p Params, c int) bool {
	for i, v := range s.F.Value {
		for _, x := range s.Plateau(i) {
			if p.apply(c, x) != v {
				return false
			}
		}
	}
	return true
}
