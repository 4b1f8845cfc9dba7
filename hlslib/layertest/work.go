package layertest

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
)

// work is the bits of what an iteration of the C++ computes at most, and how many operations and products these are;
// probe.hpp says which.
type work struct{ products, sums, comparisons, operations, multiplications int }

// bits is the structural count: those of all products, sums and comparisons, each of which takes about a LUT.
func (w work) bits() int { return w.products + w.sums + w.comparisons }

// max is the most of each kind.
func (w work) max(o work) work {
	return work{
		max(w.products, o.products), max(w.sums, o.sums), max(w.comparisons, o.comparisons),
		max(w.operations, o.operations), max(w.multiplications, o.multiplications),
	}
}

// The band around the structural count. Formulas stay well within it: of all layers' samples the dearest is a width
// converter whose words do not divide, with 6.9 LUTs a bit, and a LabelSelect with 1.5 flip-flops a bit.
const (
	mostLUT   = 10  // LUTs of a bit
	mostFF    = 4   // flip-flops of a bit
	control   = 100 // bits for what drives any kernel
	dspLUT    = 400 // LUTs that a DSP slice may stand for
	leastPart = 20  // of what a larger fold computes more, one in so many bits costs a LUT
)

// What an iteration does beside its operations.
const (
	stages    = 3 // decide, read, write
	registers = 3 // of a DSP slice, or of the slowest memory
)

// checkWork holds latency and cost of a fold against what its C++ computes in an iteration.
func (p program) checkWork(w work) error {
	// Every clock has something to do: a word is read or written, a counter decides, a register of a memory or of a
	// slice is passed, or something is computed.
	most := stages + w.operations
	for _, s := range p.op.Emit(p.fold, p.target()).Storage {
		if s.Rows > 1 {
			most += registers
		}
	}
	if p.fold.Compute == dataflow.DSP {
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

// means is the parts of a cost that compute one kind of thing, by their names, and how many bits of it an iteration
// has. Other parts compute several, or what the layer alone has a name for: the sum of all holds them. That wide sums
// do not count (probe.hpp) leaves no more than a lower bound.
var means = []struct {
	parts   []string
	weights bool // what it takes depends on the weights where these are constants
	bits    func(work) int
}{
	{[]string{"multipliers"}, true, func(w work) int { return w.products }},
	{[]string{"adders", "adder tree"}, true, func(w work) int { return w.sums }},
	{[]string{"comparators"}, false, func(w work) int { return w.comparisons }},
	{nil, true, work.bits}, // all parts but memories
}

// checkGrowth holds two folds of a case against each other: where the C++ of one computes more in an iteration, its
// cost is higher, and so is the part that is there for it. What drives the loop costs the same in both, and memories
// are checked elsewhere. A product in a DSP slice is a product, whatever its bits: each more takes a slice or a LUT.
// Where all weights are constants of the larger fold's logic, its products and their sums may take less than those of a
// memory's rows: what grows then are the comparisons.
func checkGrowth(small, large program, least, most work) error {
	constants := large.constant() && !small.constant()
	inDSP := large.fold.Compute == dataflow.DSP
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
		if more := m.bits(most) - m.bits(least); some && more > 0 && (after-before)*leastPart < more {
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

// constant reports whether no rows of a memory are multiplied.
func (p program) constant() bool {
	return !slices.ContainsFunc(p.op.Emit(p.fold, p.target()).Storage, func(s dataflow.Storage) bool {
		return s.Part == multiplied && s.Rows > 1
	})
}

// logic is the LUTs of the parts of a fold's cost, among them DSP slices at so many LUTs each, and whether there are
// such parts; of all outside of memories where none is named.
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

// checkGrowths compares every two folds of a case of which one has more of PE and SIMD, and computes with the same
// means out of the same tables and memory: others are another form of the layer.
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

// sameTables reports whether two folds read the same tables, of the same types of elements.
func sameTables(a, b program) bool {
	return slices.EqualFunc(a.op.Emit(a.fold, a.target()).Tables, b.op.Emit(b.fold, b.target()).Tables,
		func(s, t dataflow.Table) bool { return s.Name == t.Name && s.Elem == t.Elem })
}
