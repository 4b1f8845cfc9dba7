package program

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
)

// An Infinities is the set of the infinities, Above and Below, that a tensor may hold. Masks and limits in models may
// be infinite.
type Infinities uint8

// The signs of infinities.
const (
	Below Infinities = 1 << iota
	Above
)

// Negated returns the infinities of the tensor with all signs changed.
func (e Infinities) Negated() Infinities { return e>>1&Below | e<<1&Above }

// InfinitiesIn returns the infinities that occur in a constant.
func InfinitiesIn(t *graph.Tensor) (e Infinities) {
	if t.IsCertainlyFinite() || !t.DType.Float() {
		return 0
	}
	if t.FirstElementWhere(func(v float64) bool { return math.IsInf(v, -1) }) >= 0 {
		e |= Below
	}
	if t.FirstElementWhere(func(v float64) bool { return math.IsInf(v, 1) }) >= 0 {
		e |= Above
	}
	return e
}

// MayBeInfinite reports whether a tensor of p may hold infinities.
func MayBeInfinite(p *Program, tensor string) bool { return p.Infinities(tensor) != 0 }

// ReadsInfinities reports whether an input of a step of p may hold infinities.
func ReadsInfinities(p *Program, step *Step) bool {
	return slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return MayBeInfinite(p, in) })
}
