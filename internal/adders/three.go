package adders

import (
	"slices"

	"hlsgen/internal/num"
)

// An Adder computes the signal Sum. If Joined is not NoSignal, it adds three operands: the sum Joined, which Sum alone
// reads, is no signal of its own.
type Adder struct{ Sum, Joined Signal }

// Adders returns the graph's adders, operands first. Each has at most the given number of operands, 2 or 3. Adders of
// three cover every tree of sums that are read once with as few bits as possible, by dynamic programming.
func (g *Graph) Adders(operands int) []Adder {
	joins := g.joins(operands)
	joined := make([]bool, len(joins))
	list := make([]Adder, 0, len(g.Sums))
	for i := range slices.Backward(g.Sums) {
		if joined[i] {
			continue
		}
		a := Adder{Signal(len(g.Inputs) + i), joins[i]}
		if a.Joined != NoSignal {
			joined[int(a.Joined)-len(g.Inputs)] = true
		}
		list = append(list, a)
	}
	slices.Reverse(list)
	return list
}

// joins returns, for each sum, the operand of which its adder adds the operands, or NoSignal, if the sum has an adder.
func (g *Graph) joins(operands int) []Signal {
	joins := slices.Repeat([]Signal{NoSignal}, len(g.Sums))
	if operands < 3 {
		return joins
	}
	once := g.readOnce()
	own := make([]int, len(g.ranges)) // bits of the adders of a signal's tree, if the signal has an adder
	below := func(s Signal) int {     // bits of the trees of its operands
		n := int(s) - len(g.Inputs)
		if n < 0 {
			return 0
		}
		return own[g.Sums[n].A]*once[g.Sums[n].A] + own[g.Sums[n].B]*once[g.Sums[n].B]
	}
	for i, s := range g.Sums {
		at := Signal(len(g.Inputs) + i)
		own[at] = g.bitsOf(Adder{at, NoSignal}) + below(at)
		for _, part := range []Signal{s.A, s.B} {
			if once[part] == 0 || s.A == s.B {
				continue
			}
			rest := s.A + s.B - part
			if bits := g.bitsOf(Adder{at, part}) + below(part) + own[rest]*once[rest]; bits < own[at] {
				own[at], joins[i] = bits, part
			}
		}
	}
	return joins
}

// readOnce returns 1 for each sum that one other sum alone reads, once, and 0 for all other signals.
func (g *Graph) readOnce() []int {
	readers := make([]int, len(g.ranges))
	for _, s := range g.Sums {
		readers[s.A]++
		readers[s.B]++
	}
	for _, o := range g.Outputs {
		if o.Signal != NoSignal {
			readers[o.Signal] += 2
		}
	}
	for s, n := range readers {
		readers[s] = 0
		if n == 1 && s >= len(g.Inputs) {
			readers[s] = 1
		}
	}
	return readers
}

// Operands returns the two or three terms that an adder adds. The first one is a signal that is neither shifted nor
// subtracted, and no signal of them is Joined.
func (g *Graph) Operands(a Adder) []Term {
	s := g.Sums[int(a.Sum)-len(g.Inputs)]
	if a.Joined == NoSignal {
		return []Term{{Signal: s.A}, {s.B, s.Shift, s.Minus}}
	}
	p := g.Sums[int(a.Joined)-len(g.Inputs)]
	if a.Joined == s.A {
		return []Term{{Signal: p.A}, {p.B, p.Shift, p.Minus}, {s.B, s.Shift, s.Minus}}
	}
	return []Term{{Signal: s.A}, {p.A, s.Shift, s.Minus}, {p.B, s.Shift + p.Shift, s.Minus != p.Minus}}
}

// bitsOf returns the bits of an adder.
func (g *Graph) bitsOf(a Adder) int {
	s := g.Sums[int(a.Sum)-len(g.Inputs)]
	if a.Joined == NoSignal {
		return adderBits(s, g.ranges[s.A], g.ranges[s.B], g.ranges[a.Sum])
	}
	low := s.Shift
	if a.Joined == s.A {
		low = min(low, g.Sums[int(a.Joined)-len(g.Inputs)].Shift)
	}
	var operands []num.Range
	minus := 0
	for _, o := range g.Operands(a) {
		operands = append(operands, shifted(g.ranges[o.Signal], o.Shift))
		if o.Minus {
			minus++
		}
	}
	bits := commonWidth(operands...)
	if minus == 1 {
		bits++
	}
	return max(0, min(widthOf(g.ranges[a.Sum]), bits)-low)
}

// Bits returns the bits of all adders, if they have at most the given number of operands. The low bits that the first
// operand has alone pass, and count nothing.
func (g *Graph) Bits(operands int) (bits int) {
	for _, a := range g.Adders(operands) {
		bits += g.bitsOf(a)
	}
	return bits
}
