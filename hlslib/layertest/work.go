package layertest

import (
	"fmt"

	"hlsgen/internal/dataflow"
)

// work is the bits of what an iteration of the C++ computes at most; probe.hpp says what they are.
type work struct{ products, sums, comparisons, operations int }

// bits is the structural count: those of all products, sums and comparisons, each of which takes about a LUT.
func (w work) bits() int { return w.products + w.sums + w.comparisons }

// max is the most of each kind.
func (w work) max(o work) work {
	return work{max(w.products, o.products), max(w.sums, o.sums), max(w.comparisons, o.comparisons), max(w.operations, o.operations)}
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

// checkWork holds latency and cost of a fold against what its C++ computes in an iteration.
func (p program) checkWork(w work) error {
	// Every clock but the last, in which a word arrives, has something to do.
	if l := p.op.Loop(p.fold, target).Latency; l > 1+w.operations {
		return failed(checkLatency, "a latency of %d clocks, an iteration has %d operations", l, w.operations)
	}
	bits := w.bits() + control
	in, out := p.op.Ports(p.fold)
	for _, port := range append(in, out...) {
		bits += port.Width()
	}
	for _, s := range p.op.Emit(p.fold, target).Storage {
		bits += s.Rows * s.Width
	}
	if c := p.op.Cost(p.fold, target).Total(); c.LUT > mostLUT*bits || c.FF > mostFF*bits {
		return failed(checkBand, "%d LUTs and %d flip-flops for %d bits that are computed, moved or kept", c.LUT, c.FF, bits)
	}
	return nil
}

// checkGrowth holds two folds of a case against each other: where the C++ of one computes more in an iteration, its cost
// is higher. What drives the loop costs the same in both, and memories are checked elsewhere.
func checkGrowth(small, large program, more int) error {
	if grown := large.logic() - small.logic(); grown*leastPart < more {
		return failed(checkBand, "fold %+v computes %d bits more than %+v, its logic grows by %d LUTs", large.fold, more, small.fold, grown)
	}
	return nil
}

// logic is the LUTs of a fold outside of memories, DSP slices among them.
func (p program) logic() int {
	memory := map[string]bool{}
	for _, s := range p.op.Emit(p.fold, target).Storage {
		memory[s.Part] = true
	}
	var r dataflow.Resources
	for _, part := range p.op.Cost(p.fold, target) {
		if !memory[part.Name] {
			r = r.Plus(part.Resources)
		}
	}
	return r.LUT + dspLUT*r.DSP
}

// checkGrowths compares every two folds of a case of which one has more of PE and SIMD, and computes with the same means
// out of the same memory: another one is another form of the layer.
func checkGrowths(programs []program, done []work) error {
	for i, large := range programs {
		for j, small := range programs {
			more := done[i].bits() - done[j].bits()
			f, g := small.fold, large.fold
			if small.bound != large.bound || f.PE > g.PE || f.SIMD > g.SIMD || more <= 0 ||
				f.Memory != g.Memory || f.Compute != g.Compute {
				continue
			}
			if err := checkGrowth(small, large, more); err != nil {
				return fmt.Errorf("%q: %w", small.Name, err)
			}
		}
	}
	return nil
}
