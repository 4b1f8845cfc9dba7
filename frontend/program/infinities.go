package program

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
)

// Infinities holds the signs of the infinities that a tensor may hold. Masks and limits in models may be infinite.
type Infinities uint8

// The signs of infinities.
const (
	Below Infinities = 1 << iota
	Above
)

// Negated returns the infinities of the negated tensor.
func (e Infinities) Negated() Infinities { return e>>1&Below | e<<1&Above }

// InfinitiesIn returns the infinities in a constant.
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

// MayBeInfinite reports whether a tensor may hold infinities.
func MayBeInfinite(p *Program, tensor string) bool { return p.Infinities(tensor) != 0 }

// ReadsInfinities reports whether a step may read infinities.
func ReadsInfinities(p *Program, step *Step) bool {
	return slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return MayBeInfinite(p, in) })
}
