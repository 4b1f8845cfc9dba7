package requant

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/num"
)

// FindParamsForStepFunctions finds parameters with which the layer equals step functions exactly: channel c must equal
// steps[c] on inputs in x[c]. Either list may have one element for all channels. ok is false if there are no such
// parameters within 63 bits: the layer computes a line, rounded and clipped, and not every step function is one.
//
// Mode is the first rounding that has parameters, unless another rounding has parameters that need no multiplier and a
// smaller shift. Shift is the least for which all channels have parameters. All channels share a multiplier if one
// serves all, and a bias likewise; among several values FindParamsForStepFunctions chooses those nearest to 0. The
// result is proved at every breakpoint.
//
// Lo and Hi are the least and greatest values over all channels. num.LineFitTarget finds the lines that equal a step
// function.
func FindParamsForStepFunctions(steps []num.StepFunction, x []num.Range) (p Params, ok bool) {
	stairs, valid := num.NewLineFitTargets(steps, x)
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

// roundings are the roundings that FindParamsForStepFunctions tries. The others equal rounding down with another bias.
// If a rounding sends ties toward or away from 0, a slightly flatter or steeper line has no ties and can round down;
// but that line may need a multiplier in place of a shift.
var roundings = []num.Rounding{num.RoundingFloor, num.RoundingHalfEven, num.RoundingHalfTowardZero,
	num.RoundingHalfAwayFromZero,
	num.RoundingTowardZero,
	num.RoundingAwayFromZero}

// fit finds parameters as FindParamsForStepFunctions does, for one rounding. ok is false if there are none.
func fit(stairs []num.LineFitTarget, mode num.Rounding) (p Params, ok bool) {
	p = Params{Mode: mode, Lo: stairs[0].Limits.Lo, Hi: stairs[0].Limits.Hi}
	for _, s := range stairs { // a shift that works works one larger, too, with multiplier and bias doubled
		for !s.HasMatchingLine(mode, p.Shift) {
			if p.Shift++; p.Shift > maxShiftBits {
				return Params{}, false
			}
		}
	}
	multipliers, biases := make([]num.Range, len(stairs)), make([]num.Range, len(stairs))
	for c, s := range stairs {
		if multipliers[c], ok = s.MatchingSlopes(mode, p.Shift); !ok {
			return Params{}, false
		}
	}
	p.Multiplier = choose(multipliers)
	for c, s := range stairs {
		biases[c] = s.MatchingBiases(mode, p.Shift, layer.ElementForChannel(p.Multiplier, c))
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

// passes reports whether every staircase equals a line that is rounded by the mode after a shift by the given number of
// bits.
func passes(stairs []num.LineFitTarget, mode num.Rounding, shift int) bool {
	for _, s := range stairs {
		if !s.HasMatchingLine(mode, shift) {
			return false
		}
	}
	return true
}

// choose returns the value nearest to 0 that lies in all ranges, as a list of one. If there is none, it returns the
// nearest for each range.
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

// proves reports whether channel c of a layer with parameters p equals the step function s on all inputs. It compares
// both ends of every plateau, which suffices because the layer is monotonic.
func proves(s num.LineFitTarget, p Params, c int) bool {
	for i, v := range s.F.Value {
		for _, x := range s.PlateauInputs(i) {
			if p.apply(c, x) != v {
				return false
			}
		}
	}
	return true
}
