package layer

import (
	"cmp"
	"slices"

	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A PipelineChain is the point in an iteration that a word has reached. Operations are added to it, and take their
// place in pipeline stages of the target's clock. The layer's latency is that of its chain.
type PipelineChain struct {
	delay.PipelineCursor
	start delay.PipelineCursor // the start of the iteration, when counters are known
}

// NewIterationChain returns the chain at the start of an iteration, after the stage that decides what the iteration
// does.
func NewIterationChain(t dataflow.Target) PipelineChain {
	p := t.OperationDelays().NewCursorAfterLoopControl()
	return PipelineChain{p, p}
}

// NewCarriedChain returns a chain at the start of the first stage, without a stage that decides what an iteration does.
// It times values that one iteration hands to another.
func NewCarriedChain(t dataflow.Target) PipelineChain {
	p := t.OperationDelays().NewCursor()
	return PipelineChain{p, p}
}

// newFromStart returns another chain at the start of the same iteration.
func (c *PipelineChain) newFromStart() PipelineChain { return PipelineChain{c.start, c.start} }

// WaitForChain moves c to the point of another chain o of the iteration if o is further on, because what follows needs
// both results.
func (c *PipelineChain) WaitForChain(o PipelineChain) {
	c.PipelineCursor.WaitForCursor(o.PipelineCursor)
}

// DoStreamRead adds the reading of a word from a stream.
func (c *PipelineChain) DoStreamRead() { c.DoOp(delay.OpStreamRead, 1) }

// DoConditionalStreamRead adds the reading of a word from a stream under a condition on counters.
func (c *PipelineChain) DoConditionalStreamRead() {
	c.DoCounterCompare()
	c.DoStreamRead()
}

// DoCounterCompare adds the comparison of a counter with a constant.
func (c *PipelineChain) DoCounterCompare() { c.DoOp(delay.OpCompare, counter) }

// counter is the width in bits that is assumed for a counter when its comparison is timed.
const counter = 16

// DoCounterLookup waits until a row of a memory with the given rows has been read, whose address counters give. A
// memory with at most one row takes no time.
func (c *PipelineChain) DoCounterLookup(rows, width int, m dataflow.Memory) {
	row := c.newFromStart()
	row.DoMemoryRead(rows, width, m)
	c.WaitForChain(row)
}

// DoMemoryRead adds the reading of a row of a memory, whose address the chain has computed. NoMemory stands for the
// memory that fits the size. A memory with at most one row takes no time.
func (c *PipelineChain) DoMemoryRead(rows, width int, m dataflow.Memory) {
	if rows <= 1 {
		return
	}
	if m == dataflow.NoMemory {
		m = dataflow.ChooseMemory(rows, width)
	}
	switch m {
	case dataflow.MemoryBRAM:
		c.DoUnit(delay.UnitBlockRAM)
	case dataflow.MemoryURAM:
		c.DoUnit(delay.UnitUltraRAM)
	default:
		c.DoUnit(delay.UnitLUTMemory)
	}
}

// DoSelect adds the selection of one of two words of the given width by a condition.
func (c *PipelineChain) DoSelect(bits int) { c.DoOp(delay.OpSelect, bits) }

// DoStreamWrite adds the writing of a word to a stream. It returns the chain's latency: the clocks from the start of
// the iteration until the word can be read.
func (c *PipelineChain) DoStreamWrite() int {
	c.DoOp(delay.OpStreamWrite, 1)
	return c.LatencyClocks()
}

// doComparators adds a step function, built from comparators, of a value of the given width. Its tables lie in m, and a
// row holds pe channels' thresholds, or those that all channels share.
func (c *PipelineChain) doComparators(k num.ThresholdTable, bits, pe int, m dataflow.Memory) {
	n := k.ThresholdsPerChannel()
	if n == 0 {
		return
	}
	rows := 1
	if k.HasSharedRow() {
		pe = 1
	} else {
		rows = len(k.At) / pe
	}
	c.DoCounterLookup(rows, pe*n*bits, m)
	c.DoOp(delay.OpCompare, bits)
	if k.Delta != nil {
		c.DoSelect(bits)
		c.DoReductionTree(n+1, bits, delay.OpAdd) // one more for the base
		return
	}
	c.DoPopCount(n)
	if base, ok := k.ConstantBase(); !ok || base != 0 || !IsShiftFactor(k.Unit) {
		c.DoOp(delay.OpAdd, bits)
	}
}

// DoStepFunctions adds step functions in the given form of a value of the given width; a nil form adds nothing. If the
// form consists of comparators, they are k, with pe channels per row of a table in m.
func (c *PipelineChain) DoStepFunctions(form steps.StepFunctionHardware, k num.ThresholdTable, bits, pe int,
	m dataflow.Memory) {
	switch scaled, ok := form.(*steps.ScaledForm); {
	case form == nil:
	case ok:
		c.scale(scaled)
	case form.HasTablesPerLane():
		c.lookUp(form, bits)
	default:
		c.doComparators(k, bits, pe, m)
	}
}

// scale adds to the chain a form of step functions that multiplies by a sum of powers of two.
func (c *PipelineChain) scale(form *steps.ScaledForm) {
	for _, s := range form.Storage() {
		c.DoCounterLookup(s.Rows, s.Width, s.In)
	}
	n, bits := form.AddendCountAndSumBits()
	c.DoReductionTree(n, bits, delay.OpAdd)
	if form.HasNonFloorRounding() {
		c.DoOp(delay.OpAdd, bits)
	}
	if form.HasClipping() {
		c.DoClip(bits)
	}
}

// lookUp adds a form whose tables are addressed by the value of the given width. The first clock reads a row; each
// further clock compares the value with thresholds of a row.
func (c *PipelineChain) lookUp(form steps.StepFunctionHardware, bits int) {
	largest := slices.MaxFunc(form.Storage(), func(a, b dataflow.Storage) int { return cmp.Compare(a.Rows, b.Rows) })
	compared := form.LatencyClocks()
	if largest.Rows > 1 { // otherwise the thresholds are the same for all values
		c.DoMemoryRead(largest.Rows, largest.Width, largest.In)
		compared--
	}
	for range compared {
		c.BeginNextStage()
		c.DoOp(delay.OpCompare, bits)
	}
}

// DoRequant adds the requantiser q of a value of the given width: multiplication, in a DSP slice if dsp is true,
// rounding and clipping. A multiplier that is 0 or a power of two adds no multiplication. Without a shift, and for
// rounding down, it adds no rounding.
func (c *PipelineChain) DoRequant(q num.Requant, bits int, dsp bool) {
	if q.Multiplier < 0 || !IsShiftFactor(q.Multiplier) {
		more := num.NarrowestIntTypeFor(num.SingleValueRange(q.Multiplier)).Width
		c.DoProduct(bits, more, dsp)
		bits += more
	}
	if q.Shift > 0 && q.Mode != num.RoundingFloor {
		c.DoOp(delay.OpAdd, bits)
	}
	c.DoClip(bits)
}

// DoClip adds the comparison of a value of the given width with a limit, and the choice between them.
func (c *PipelineChain) DoClip(bits int) {
	c.DoOp(delay.OpCompare, bits)
	c.DoSelect(bits)
}

// AppendToChain adds the step functions of the fold to c.
func (s *ActivationTail) AppendToChain(c *PipelineChain, f dataflow.Fold) {
	c.DoStepFunctions(s.hardwareFormFor(f), s.compare, s.of.Width, f.PE, f.Memory)
}

// PipelineOps returns the operations that combine two values.
func (p Pooling) PipelineOps() []delay.PipelineOp {
	if p == PoolingSum {
		return []delay.PipelineOp{delay.OpAdd}
	}
	return []delay.PipelineOp{delay.OpCompare, delay.OpSelect}
}
