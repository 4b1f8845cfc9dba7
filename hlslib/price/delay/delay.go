// Package delay computes how many stages a pipeline has. It knows the time in ns of operations on a family of devices,
// and packs a chain of operations into stages of a clock, as synthesis from C++ (HLS) does.
//
// A stage lasts the clock's period minus its uncertainty. Operations share a stage as long as they fit; the next one
// begins a new stage. Memories and DSP slices have registers of their own, so there are several clocks between
// their inputs and outputs. A layer describes its chain with a NewCursor, and gets its latency from it:
//
//	p := clock.NewCursor()
//	p.DoOp(delay.OpStreamRead, 8)  // a word arrives
//	p.DoOp(delay.OpCompare, 8)     // each operation by its bits
//	p.DoOp(delay.OpStreamWrite, 1) // the word leaves
//	latency := p.LatencyClocks()
//
// Each entry has a source: measured (a report of synthesis), a data sheet, or a guess. Until a user's own reports
// replace the entries (DelayCalibration), their results are a range: with the smallest and with the largest error that
// entries of their kind may have.
//
// In come a family, a clock and reports' figures; out come clocks.
//
//	delay.go        StageDelayModel and NewCursor: chains of operations become stages
//	table.go        the entries
//	curve.go        entries by width, in the form in which they are looked up
//	calibration.go  a user's reports in place of the tables
package delay

import "math"

// A DelayFamily names devices with the same delays, by the type of their DSP slices as in board files.
type DelayFamily string

// The families: 7 series; UltraScale and UltraScale+; Versal. An unknown family counts as UltraScale+.
const (
	FamilySeries7    DelayFamily = "DSP48E1"
	FamilyUltraScale DelayFamily = "DSP48E2"
	FamilyVersal     DelayFamily = "DSP58"
)

// A PipelineOp is an operation between registers. Its bits are those of its operands; those of a product are the bits
// of both factors together.
type PipelineOp int

// The operations that have a delay.
const (
	OpStreamRead  PipelineOp = iota // a word of a stream
	OpStreamWrite                   // a word to a stream
	OpAdd                           // or a subtraction
	OpCompare                       // a comparison of two numbers
	OpSelect                        // a selection of one of two
	// the multiplexer before a register that keeps its value from iteration to iteration
	OpHoldMux
	OpLogicGate      // a gate
	OpMultiplyInLUTs // in LUTs
	ops              = iota
)

func (o PipelineOp) String() string {
	return [...]string{"read", "write", "add", "compare", "select", "keep", "logic", "multiply"}[o]
}

// A RegisteredUnit is a component with registers of its own, such as a DSP slice or a memory.
type RegisteredUnit int

// The units. Tables in LUTs are read through a register, as HLS builds them. A UnitRegisterSlice is that of an
// AXI4-Stream: it holds two words, and passes one in every clock.
const (
	UnitDSP RegisteredUnit = iota
	UnitLUTMemory
	UnitBlockRAM
	UnitUltraRAM
	UnitRegisterSlice
	units = iota
)

func (u RegisteredUnit) String() string {
	return [...]string{"DSP slice", "table in LUTs", "block RAM", "UltraRAM", "register slice"}[u]
}

// A DelayRangeEnd selects the least, the expected or the largest delays of the range in which they may be. Zero is the
// expected ones.
type DelayRangeEnd int8

// The ends of the range of delays, and its expected value.
const (
	DelayRangeMin      DelayRangeEnd = -1
	DelayRangeExpected DelayRangeEnd = 0
	DelayRangeMax      DelayRangeEnd = 1
)

const (
	// ClockUncertaintyFraction is the share of a clock's period that HLS leaves to placement and routing (UG1399).
	ClockUncertaintyFraction = 0.27
	// defaultMHz is the clock if none is given: the tool's own period is 10 ns (UG1399).
	defaultMHz = 100
	// unforeseen is the number of stages added to chains for the largest delays: reports in the tests exceed the tables
	// by at most as many.
	unforeseen = 1
)

// A StageDelayModel holds the time that a pipeline stage has at a clock, and the delays of operations on a device.
type StageDelayModel struct {
	budget float64 // ns
	at     *delays
	stages float64 // the stages that HLS makes of one of hlsgen's
	more   int     // further stages that a chain may have
}

// NewStageDelayModel returns the clock of mhz for a family, with delays at the end b of their range. If mhz is not
// positive, it is 100. c may be nil. If c is of the family, delays and uncertainty come from c, and b has no effect;
// Verify must have accepted c.
func NewStageDelayModel(f DelayFamily, mhz float64, c *DelayCalibration, b DelayRangeEnd) StageDelayModel {
	if !(mhz > 0) {
		mhz = defaultMHz
	}
	k := StageDelayModel{budget: 1000 / mhz * (1 - ClockUncertaintyFraction), at: tables(f, b), stages: 1}
	if b == DelayRangeMax {
		k.more = unforeseen
	}
	if c.IsForFamily(f) {
		k.at, k.stages, k.more = c.compiled, c.Stages, 0
		k.budget = 1000 / mhz * (1 - c.Uncertainty)
	}
	return k
}

// OpDelayNS returns the delay in ns of an operation on operands of the given bits.
func (c StageDelayModel) OpDelayNS(op PipelineOp, bits int) float64 { return c.at.ops[op].at(bits) }

// StageBudgetNS returns the ns of a clock period that the operations of a stage may take.
func (c StageDelayModel) StageBudgetNS() float64 { return c.budget }

// LUTTableDelayNS returns the delay in ns from a register through a table in LUTs. The LUTs lie in the given number of
// levels, one behind the other; there must be at least one.
func (c StageDelayModel) LUTTableDelayNS(levels int) float64 {
	return c.at.units[UnitLUTMemory].in + float64(levels-1)*c.OpDelayNS(OpLogicGate, 1)
}

// A PipelineCursor is the point that a value has reached on its way through pipeline stages. The zero value has no
// clock and cannot be used.
type PipelineCursor struct {
	c     StageDelayModel
	stage int     // the present stage, from 0
	ns    float64 // ns used of the stage
}

// NewCursor returns a cursor at the beginning of the first stage.
func (c StageDelayModel) NewCursor() PipelineCursor { return PipelineCursor{c: c} }

// NewCursorAfterLoopControl returns a cursor behind the stage that decides what an iteration of a process does. In
// every known report, the rest begins in a stage of its own.
func (c StageDelayModel) NewCursorAfterLoopControl() PipelineCursor {
	p := c.NewCursor()
	p.BeginNextStage()
	return p
}

// IOLatencyClocks returns the clocks that the two ends of a network in C++ add to a frame (hlslib/core/axis.hpp). Each
// has a process between a FIFO and an AXI4-Stream with a register slice. in is how long a word of the host takes to
// show in the first FIFO. out is how long a word takes from the last FIFO to the host.
func (c StageDelayModel) IOLatencyClocks() (in, out int) {
	const fifo = 1 // the last of a pipe's clocks: from the stage that writes a word until it can be read
	p := c.NewCursorAfterLoopControl()
	p.DoOp(OpStreamRead, 1)
	p.DoOp(OpStreamWrite, 1)
	process, slice := p.LatencyClocks(), c.at.units[UnitRegisterSlice].clocks
	return slice + process, process - fifo + slice
}

// DoOp adds an operation on the given bits. A multiplication longer than a stage is divided among stages; any other
// operation stays in one stage, even if it is longer.
func (p *PipelineCursor) DoOp(op PipelineOp, bits int) {
	ns := p.c.OpDelayNS(op, bits)
	p.spend(ns)
	if over := ns / p.c.budget; op == OpMultiplyInLUTs && over > 1 {
		more := math.Ceil(over) - 1
		p.stage, p.ns = p.stage+int(more), ns-more*p.c.budget
	}
}

func (p *PipelineCursor) spend(ns float64) {
	// Sums of the same entries in another order must not differ by a stage.
	const rounding = 1e-9
	if p.ns > 0 && p.ns+ns > p.c.budget+rounding {
		p.BeginNextStage()
	}
	p.ns += ns
}

// BeginNextStage moves to the beginning of the next stage.
func (p *PipelineCursor) BeginNextStage() { p.stage, p.ns = p.stage+1, 0 }

// DoInOneStage adds operations on the given bits that compute the next iteration's state. They stay in one stage, even
// if they are longer, because otherwise the next iteration would have to wait.
func (p *PipelineCursor) DoInOneStage(bits int, chain ...PipelineOp) {
	ns := 0.0
	for _, op := range chain {
		ns += p.c.OpDelayNS(op, bits)
	}
	p.spend(ns)
}

// DoUnit adds a unit with registers. Its operands enter it at this point, and its result leaves it after the unit's
// clocks.
func (p *PipelineCursor) DoUnit(u RegisteredUnit) {
	x := &p.c.at.units[u]
	p.spend(x.in)
	p.stage, p.ns = p.stage+x.clocks, x.out
}

// DoReductionTree adds a tree that reduces n values of the given bits to one, in pairs. Each level does the given
// operations; each OpAdd among them makes the values a bit wider.
func (p *PipelineCursor) DoReductionTree(n, bits int, level ...PipelineOp) {
	for ; n > 1; n = (n + 1) / 2 {
		for _, op := range level {
			if op == OpAdd {
				bits++
			}
			p.DoOp(op, bits)
		}
	}
}

// DoPopCount adds a tree of adders that counts how many of n bits are set.
func (p *PipelineCursor) DoPopCount(n int) { p.DoReductionTree(n, 1, OpAdd) }

// DoProduct adds a product of numbers of a and b bits, in a DSP slice if dsp is true, else in LUTs.
func (p *PipelineCursor) DoProduct(a, b int, dsp bool) {
	if dsp {
		p.DoUnit(UnitDSP)
		return
	}
	p.DoOp(OpMultiplyInLUTs, a+b)
}

// WaitForCursor moves p to the point of q if q is further on: what follows needs the values of both.
func (p *PipelineCursor) WaitForCursor(q PipelineCursor) {
	if q.stage > p.stage || q.stage == p.stage && q.ns > p.ns {
		p.stage, p.ns = q.stage, q.ns
	}
}

// LatencyClocks returns the number of clocks from the first stage's begin until a word that is written in the present
// stage can be read.
func (p *PipelineCursor) LatencyClocks() int {
	n := p.stage + 1
	if p.c.stages != 1 {
		n = max(1, int(math.Round(float64(n)*p.c.stages)))
	}
	return n + p.c.more
}
