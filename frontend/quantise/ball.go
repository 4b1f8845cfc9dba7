package quantise

import (
	"math"
	"slices"
)

// A ball is what the integer weights of an output channel may be, so that its sums fit an accumulator whatever the
// inputs: those lie in [lo, hi].
type ball struct {
	bits   int
	lo, hi float64
}

// radius is the largest l1 norm of weights with the sum 0, in units of the weights: the zero-centred bound of A2Q+
// (arXiv 2401.10432, equation 11): (2^P - 2) / (2^N - 1), where the inputs have 2^N codes. Weights rounded towards zero
// no longer have the sum 0: where inputs may be negative, the norm times the largest of them has to fit then.
func (b ball) radius() float64 {
	room := math.Exp2(float64(b.bits)-1) - 1
	if b.lo < 0 {
		return room / max(-b.lo, b.hi)
	}
	return 2 * room / max(b.hi, 1)
}

// holds reports whether sums of whole weights fit, whatever the inputs.
func (b ball) holds(weights []float64) bool {
	least, most := 0.0, 0.0
	for _, w := range weights {
		least, most = least+min(w*b.lo, w*b.hi), most+max(w*b.lo, w*b.hi)
	}
	return -math.Exp2(float64(b.bits)-1) <= least && most < math.Exp2(float64(b.bits)-1)
}

// onto is weights on the ball, in units of their step: they are centred, projected in the sense of Euclid, and rounded
// towards zero. Either sign has half of the norm, without which a sum would not be balanced.
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

// shrink projects onto the l1 ball of a radius the elements that size makes above 0 (J. Duchi and others, Efficient
// projections onto the l1-ball for learning in high dimensions, 2008): all get smaller by one threshold, down to 0.
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
