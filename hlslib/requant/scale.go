package requant

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// FindParamsForQuantisers finds parameters with which the layer equals the quantisers, one per channel, on inputs in x.
// Unlike FindParamsForStepFunctions it does not look at single steps, so codes may be many. ok is false if it finds
// none.
func FindParamsForQuantisers(quantisers []num.ExactQuantiser, x []num.Range) (p Params, ok bool) {
	list, ok := scalings(quantisers, x)
	if !ok {
		return Params{}, false
	}
	p.Mode = list[0].Mode
	for _, s := range list {
		p.Shift = max(p.Shift, s.Shift)
	}
	values := make([]num.Range, len(list))
	for c, s := range list {
		if s = s.WithShiftAtLeast(p.Shift); !s.FitsIn63Bits(x[c]) {
			return Params{}, false
		}
		p.Multiplier, p.Bias = append(p.Multiplier, s.Multiplier), append(p.Bias, s.Bias)
		q := quantisers[c]
		ends := num.Range{Lo: q.CodeAt(x[c].Lo), Hi: q.CodeAt(x[c].Hi)}
		values[c] = num.Range{Lo: min(ends.Lo, ends.Hi), Hi: max(ends.Lo, ends.Hi)}
	}
	limits := values[0]
	for _, v := range values {
		limits = limits.Union(v)
	}
	p.Lo, p.Hi = limits.Lo, limits.Hi
	for c, v := range values { // all channels share one pair of limits
		ends := num.Range{Lo: p.apply(c, x[c].Lo), Hi: p.apply(c, x[c].Hi)}
		if min(ends.Lo, ends.Hi) != v.Lo || max(ends.Lo, ends.Hi) != v.Hi {
			return Params{}, false
		}
	}
	return p, true
}

// scalings returns each quantiser as a scaling on its inputs, whose ranges are in x; all have one rounding. The second
// result is false if that is not possible.
func scalings(quantisers []num.ExactQuantiser, x []num.Range) ([]num.UnclippedScaling, bool) {
	list, shift, alike := make([]num.UnclippedScaling, len(quantisers)), 0, true
	for range 2 { // in the second round with the largest shift: quantisers of one scale then share a multiplier
		for c, q := range quantisers {
			s, ok := q.FindScalingOver(x[c], shift)
			if !ok {
				return nil, false
			}
			list[c] = s
			alike = alike && s.Mode == list[0].Mode
		}
		for _, s := range list {
			shift = max(shift, s.Shift)
		}
	}
	if alike {
		return list, true
	}
	for c, q := range quantisers {
		var ok bool
		if list[c], ok = q.DyadicAsScaling(); !ok || q.Mode != quantisers[0].Mode {
			return nil, false
		}
	}
	return list, true
}

// IsIdentityForStreamType reports whether the layer multiplies every value of a stream of type t by 1 and leaves it
// unchanged. It returns false if a multiplier is not 2^Shift, or a bias is not 0 with a rounding other than down.
func (p Params) IsIdentityForStreamType(t dataflow.StreamType) bool {
	if len(p.Low) > 0 {
		return false // a line with few bits would have been found
	}
	for c := range max(len(p.Multiplier), len(p.Bias)) {
		m, b, x := layer.ElementForChannel(p.Multiplier, c), layer.ElementForChannel(p.Bias, c), t.ChannelRange(c)
		// All values of a channel move by the same amount, which is zero if neither end moves.
		if m != 1<<p.Shift || b != 0 && p.mode() != num.RoundingFloor || p.apply(c, x.Lo) != x.Lo || p.apply(c,
			x.Hi) != x.Hi {
			return false
		}
	}
	return true
}
