package quantise

import (
	"math"
	"slices"
)

// A ball is the set of the integer weights of an output channel with which its sums fit an accumulator. Inputs may be
// any in [lo, hi].
type ball struct {
	bits   int
	lo, hi float64
}

// radius returns the largest l1 norm of weights with sum 0, in units of the weights. This is the zero-centred bound of
// A2Q+ (arXiv 2401.10432, equation 11): (2^P - 2) / (2^N - 1), if the inputs have 2^N codes. Weights rounded towards
// zero no longer have sum 0. So if inputs may be negative, the norm times the largest input magnitude has to fit.
func (b ball) radius() float64 {
	room := math.Exp2(float64(b.bits)-1) - 1
	if b.lo < 0 {
		return room / max(-b.lo, b.hi)
	}
	return 2 * room / max(b.hi, 1)
}

// holds reports whether sums with these integer weights fit the accumulator for all inputs.
func (b ball) holds(weights []float64) bool {
	least, most := 0.0, 0.0
	for _, w := range weights {
		least, most = least+min(w*b.lo, w*b.hi), most+max(w*b.lo, w*b.hi)
	}
	return -math.Exp2(float64(b.bits)-1) <= least && most < math.Exp2(float64(b.bits)-1)
}

// onto returns weights on the ball, in units of their step. They are centred, projected to the nearest point of the
// ball, and rounded towards zero. Positive and negative weights each get half of the norm, because a sum would not be
// balanced otherwise.
func (b ball) onto(weights []float64, c code) []float64 {
	mean, r := 0.0, b.radius()
	for _, w := range weights {
		mean += w
	}
	mean /= float64(len(weights))
	out := make([]float64, len(weights))
	for i, w := range weights {
		out[i] = w - mean
	}
	shrink(out, r, math.Abs)
	shrink(out, r/2, func(w float64) float64 { return max(w, 0) })
	shrink(out, r/2, func(w float64) float64 { return max(-w, 0) })
	for i, w := range out {
		out[i] = min(max(math.Trunc(w), c.lo), c.hi)
	}
	return out
}

// shrink projects, in place, the elements for which size is above 0 onto the l1 ball of a radius (J. Duchi and others,
// Efficient projections onto the l1-ball for learning in high dimensions, 2008). It reduces all of them by one
// threshold, down to 0.
func shrink(weights []float64, radius float64, size func(float64) float64) {
	var sorted []float64
	norm := 0.0
	for _, w := range weights {
		if s := size(w); s > 0 {
			sorted, norm = append(sorted, s), norm+s
		}
	}
	if norm <= radius {
		return
	}
	slices.Sort(sorted)
	slices.Reverse(sorted)
	sum, threshold := 0.0, 0.0
	for i, s := range sorted {
		sum += s
		t := (sum - radius) / float64(i+1)
		if s <= t {
			break
		}
		threshold = t
	}
	for i, w := range weights {
		if s := size(w); s > 0 {
			weights[i] = math.Copysign(max(s-threshold, 0), w)
		}
	}
}
