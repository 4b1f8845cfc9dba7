package layertest

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// work holds the largest numbers of bits that an iteration of the C++ computes, by kind, and the numbers of
// operations and multiplications. probe.hpp counts them.
type work struct{ products, sums, comparisons, operations, multiplications int }

// bits returns the structural count: the bits of all products, sums and comparisons, each of which takes about a LUT.
func (w work) bits() int { return w.products + w.sums + w.comparisons }

// max returns the larger count of each kind.
func (w work) max(o work) work {
	return work{
		max(w.products, o.products), max(w.sums, o.sums), max(w.comparisons, o.comparisons),
		max(w.operations, o.operations), max(w.multiplications, o.multiplications),
	}
}

// The limits of costs relative to the structural count. Formulas stay well within them: the dearest layers of all
// samples are a width converter whose words do not divide, with 6.9 LUTs a bit, and a LabelSelect with 1.5 flip-flops
// a bit.
const (
	mostLUT   = 10  // LUTs per bit
	mostFF    = 4   // flip-flops per bit
	control   = 100 // bits added for the control logic of any kernel
	dspLUT    = 400 // LUTs that a DSP slice may replace
	leastPart = 20  // a larger fold costs at least a LUT more for so many more bits
)

// Clocks that an iteration takes besides its operations.
const (
	stages    = 3 // decide, read, write
	registers = 3 // of a DSP slice, or of the slowest memory
)

// checkWork checks latency and cost of a fold against the work of its C++ in an iteration.
func (p program) checkWork(w work) error {
	// Every clock must have a task: a read or write of a word, a decision by a counter, a register of a memory or of
	// a DSP slice, or an operation.
	most := stages + w.operations
	for _, s := range p.op.Emit(p.fold, p.target()).Storage {
		if s.Rows > 1 {
			most += registers
		}
	}
	if p.fold.Compute == dataflow.MultiplierInDSPs {
		most += registers * w.operations
	}
	if l := p.op.Loop(p.fold, p.target()).Latency; l > most {
		return failed(checkLatency, "a latency of %d clocks, an iteration has %d operations", l, w.operations)
	}
	bits := w.bits() + control
	in, out := p.op.Ports(p.fold)
	for _, port := range append(in, out...) {
		bits += port.Width()
	}
	for _, s := range p.op.Emit(p.fold, p.target()).Storage {
		bits += s.Rows * s.Width
	}
	if c := p.op.Cost(p.fold, p.target()).Total(); c.LUT > mostLUT*bits || c.FF > mostFF*bits {
		return failed(checkBand, "%d LUTs and %d flip-flops for %d bits that are computed, moved or kept",
			c.LUT, c.FF, bits)
	}
	return nil
}

// means lists parts of costs by the kind of work that they do, and the bits of this work in an iteration. Other parts
// do several kinds, or have names that only one layer knows; the last row covers them. probe.hpp does not count wide
// sums, so the bits are a lower bound.
var means = []struct {
	parts   []string
	weights bool // the cost depends on the weights if these are constants
	bits    func(work) int
}{
	{[]string{"multipliers", "product rounding"}, true, func(w work) int { return w.products }},
	{[]string{"adders", "adder tree"}, true, func(w work) int { return w.sums }},
	{[]string{"comparators"}, false, func(w work) int { return w.comparisons }},
	{nil, true, work.bits}, // all parts except memories
}

// checkGrowth compares two folds of a case. If the C++ of the larger fold computes more in an iteration, its cost
// must be higher, and so must the cost of the part for this work. The control logic costs the same in both, and
// memories are checked elsewhere. A product in a DSP slice counts as one, whatever its bits: each further product
// takes a slice or a LUT. If all weights are constants in the larger fold only, its products and sums may cost less;
// then only comparisons must grow. Of a layer with a channel of a single value, which costs nothing, fewer than
// leastPart more bits in all may cost no LUT.
func checkGrowth(small, large program, least, most work) error {
	constants := large.constant() && !small.constant()
	inDSP := large.fold.Compute == dataflow.MultiplierInDSPs
	if inDSP {
		least.products, most.products = leastPart*least.multiplications, leastPart*most.multiplications
	}
	for _, m := range means {
		if constants && m.weights {
			continue
		}
		slice := dspLUT
		if inDSP && slices.Contains(m.parts, "multipliers") {
			slice = 1
		}
		before, _ := small.logic(m.parts, slice)
		after, some := large.logic(m.parts, slice)
		more := m.bits(most) - m.bits(least)
		owed := (more + leastPart - 1) / leastPart
		if m.parts == nil && large.hasDeadChannel() {
			owed = more / leastPart
		}
		if some && more > 0 && after-before < owed {
			what := "its logic grows"
			if m.parts != nil {
				what = strings.Join(m.parts, " and ") + " grow"
			}
			return failed(checkBand, "fold %+v computes %d bits more than %+v, %s by %d LUTs",
				large.fold, more, small.fold, what, after-before)
		}
	}
	return nil
}

// constant reports whether all weights are constants of the logic: no weight memory has several rows.
func (p program) constant() bool {
	return !slices.ContainsFunc(p.op.Emit(p.fold, p.target()).Storage, func(s dataflow.Storage) bool {
		return s.Part == multiplied && s.Rows > 1
	})
}

// hasDeadChannel reports whether a channel of an input or an output has a single value.
func (b *bound) hasDeadChannel() bool {
	return slices.ContainsFunc(slices.Concat(b.In, b.out), func(t dataflow.StreamType) bool {
		return slices.ContainsFunc(t.Range, func(r num.Range) bool { return r.Lo == r.Hi })
	})
}

// logic returns the LUTs of the named parts of a fold's cost, and whether there are parts with these names. A DSP slice
// counts as many LUTs as the argument slice says. With nil names it counts all parts outside of memories.
func (p program) logic(names []string, slice int) (luts int, some bool) {
	memory := map[string]bool{}
	for _, s := range p.op.Emit(p.fold, p.target()).Storage {
		memory[s.Part] = true
	}
	for _, part := range p.op.Cost(p.fold, p.target()) {
		if names == nil && !memory[part.Name] || slices.Contains(names, part.Name) {
			luts, some = luts+part.LUT+slice*part.DSP, true
		}
	}
	return luts, some
}

// checkGrowths compares two folds of a case if one has no less PE and SIMD, and both have the same memory, multipliers
// and tables. Folds with other tables are another form of the layer.
func checkGrowths(programs []program, done []work) error {
	for i, large := range programs {
		for j, small := range programs {
			f, g := small.fold, large.fold
			if small.bound != large.bound || i == j || f.PE > g.PE || f.SIMD > g.SIMD ||
				f.Memory != g.Memory || f.Compute != g.Compute || !sameTables(small, large) {
				continue
			}
			if err := checkGrowth(small, large, done[j], done[i]); err != nil {
				return fmt.Errorf("%q: %w", small.Name, err)
			}
		}
	}
	return nil
}

// sameTables reports whether two folds read tables of the same names and element types.
func sameTables(a, b program) bool {
	return slices.EqualFunc(a.op.Emit(a.fold, a.target()).Tables, b.op.Emit(b.fold, b.target()).Tables,
		func(s, t dataflow.Table) bool { return s.Name == t.Name && s.Elem == t.Elem })
}
