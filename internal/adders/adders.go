// Package adders multiplies vectors by constant matrices with adders alone. It makes a graph of a matrix, in which
// outputs share sums.
//
// Weights are canonical signed digits, so that every output is a sum of shifted inputs, added or subtracted. Two-term
// sharing (R. Hartley, IEEE Transactions on Circuits and Systems II 43(10), 1996) finds the pair of terms that saves
// most, computes it once, and goes on until no pair occurs twice. Before that, a spanning tree over the outputs may
// replace outputs by their differences from others (the two steps of da4ml, arXiv 2507.04535). Several graphs are made
// so, and the cheapest is kept.
//
// In come a matrix and the ranges of its inputs; out comes a Graph.
//
//	adders.go   Graph, its signals and what they cost
//	build.go    building a graph: signals with their exact ranges and levels
//	share.go    pairs of terms that occur several times
//	tree.go     outputs as differences from others
//	three.go    adders of three operands
//	best.go     the cheapest of several graphs
package adders

import (
	"slices"

	"hlsgen/internal/num"
)

// A Signal is a number in a graph: an input if it is less than the number of inputs, and else a sum.
type Signal int32

// NoSignal is the signal of a term that is always 0.
const NoSignal Signal = -1

// A Term is a signal times 2^Shift, or the negative of this.
type Term struct {
	Signal Signal
	Shift  int
	Minus  bool
}

// A Sum is an adder: A + B*2^Shift, or A - B*2^Shift if Minus holds. Shift is not negative.
type Sum struct {
	A, B  Signal
	Shift int
	Minus bool
}

// A Graph computes the products of a constant matrix and a vector.
type Graph struct {
	Inputs  []num.Range
	Sums    []Sum  // operands come before the sums that read them
	Outputs []Term // by row of the matrix

	ranges []num.Range // of each signal: exact, because inputs are independent
	levels []int       // of each signal: the number of adders on the longest path to it
}

// RangeOf returns the exact range of a signal.
func (g *Graph) RangeOf(s Signal) num.Range { return g.ranges[s] }

// Levels returns the number of adders on the longest path from an input to an output.
func (g *Graph) Levels() (most int) {
	for _, o := range g.Outputs {
		if o.Signal != NoSignal {
			most = max(most, g.levels[o.Signal])
		}
	}
	return most
}

// adderBits returns the bits of the adder of s. The operands and the result have the given ranges.
func adderBits(s Sum, a, b, sum num.Range) int {
	if !s.Minus && a.Lo >= 0 && a.Hi>>s.Shift == 0 {
		return 0 // the operands have no bit in common
	}
	return max(0, min(widthOf(sum), commonWidth(a, shifted(b, s.Shift)))-s.Shift)
}

// commonWidth returns the bits above which all operands are 0, so that an adder only passes its carry on there. There
// are none if an operand may be negative.
func commonWidth(operands ...num.Range) (width int) {
	for _, r := range operands {
		if r.Lo < 0 {
			return num.MaxTypeBits
		}
		width = max(width, widthOf(r))
	}
	return width
}

// shifted returns the range of 2^n times a number.
func shifted(r num.Range, n int) num.Range { return num.Range{Lo: r.Lo << n, Hi: r.Hi << n} }

// widthOf returns the bits that store a number of the range.
func widthOf(r num.Range) int {
	if r.Lo == 0 && r.Hi == 0 {
		return 0
	}
	return num.NarrowestIntTypeFor(r).Width
}

// Values returns the outputs for the given inputs.
func (g *Graph) Values(inputs []int64) []int64 {
	v := g.signals(inputs)
	out := make([]int64, len(g.Outputs))
	for i, o := range g.Outputs {
		if o.Signal == NoSignal {
			continue
		}
		if out[i] = v[o.Signal] << o.Shift; o.Minus {
			out[i] = -out[i]
		}
	}
	return out
}

// signals returns the values of all signals for the given inputs.
func (g *Graph) signals(inputs []int64) []int64 {
	v := slices.Grow(slices.Clone(inputs), len(g.Sums))
	for _, s := range g.Sums {
		b := v[s.B] << s.Shift
		if s.Minus {
			b = -b
		}
		v = append(v, v[s.A]+b)
	}
	return v
}
