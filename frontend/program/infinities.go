package program

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
)

// An InfinitySigns is the set of the infinities that a tensor may hold: InfinitySignPositive, InfinitySignNegative,
// both or neither. Masks and limits in models may be infinite.
type InfinitySigns uint8

// The signs of infinities.
const (
	InfinitySignNegative InfinitySigns = 1 << iota
	InfinitySignPositive
)

// Negated returns the infinities that a tensor may hold after all signs are changed.
func (e InfinitySigns) Negated() InfinitySigns {
	return e>>1&InfinitySignNegative | e<<1&InfinitySignPositive
}

// InfinitySignsOfConstant returns the infinities that occur in a constant.
func InfinitySignsOfConstant(t *graph.ConstantTensor) (e InfinitySigns) {
	if t.IsCertainlyFinite() || !t.DType.IsReal() {
		return 0
	}
	if t.IndexOfFirstWhere(func(v float64) bool { return math.IsInf(v, -1) }) >= 0 {
		e |= InfinitySignNegative
	}
	if t.IndexOfFirstWhere(func(v float64) bool { return math.IsInf(v, 1) }) >= 0 {
		e |= InfinitySignPositive
	}
	return e
}

// TensorMayHoldInfinities reports whether a tensor of p may hold infinities.
func TensorMayHoldInfinities(p *Program, tensor string) bool { return p.InfinitySignsOf(tensor) != 0 }

// StepMayReadInfinities reports whether an input of a step of p may hold infinities.
func StepMayReadInfinities(p *Program, step *Step) bool {
	return slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return TensorMayHoldInfinities(p, in) })
}
