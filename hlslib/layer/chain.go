package layer

import (
	"cmp"
	"slices"

	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A Chain is the point in an iteration that a word has reached. Operations are added to it, and take their place in
// pipeline stages of the target's clock. The layer's latency is that of its chain.
type Chain struct {
	delay.PipelineCursor
	start delay.PipelineCursor // the start of the iteration, when counters are known
}

// NewIterationChain returns the chain at the start of an iteration, after the stage that decides what the iteration
// does.
func NewIterationChain(t dataflow.Target) Chain {
	p := t.Delays().BodyPipe()
	return Chain{p, p}
}

// NewBodyChain returns a chain at the start of the first stage, without a stage that decides what an iteration does. It
// times values that one iteration hands to another.
func NewBodyChain(t dataflow.Target) Chain {
	p := t.Delays().Pipe()
	return Chain{p, p}
}

// NewFromStart returns another chain at the start of the same iteration.
func (c *Chain) NewFromStart() Chain { return Chain{c.start, c.start} }

// Join moves c to the point of another chain of the iteration if that is further on: what follows needs both results.
func (c *Chain) Join(o Chain) { c.PipelineCursor.Join(o.PipelineCursor) }

// Read adds the reading of a word from a stream.
func (c *Chain) Read() { c.DoOp(delay.OpRead, 1) }

// ReadWhere adds the reading of a word from a stream under a condition on counters.
func (c *Chain) ReadWhere() {
	c.DoCounterCompare()
	c.Read()
}

// DoCounterCompare adds the comparison of a counter with a constant.
func (c *Chain) DoCounterCompare() { c.DoOp(delay.OpCompare, counter) }

// counter is the width in bits for which the comparison of a counter is timed.
const counter = 16

// DoCounterLookup waits until a row of a memory with the given rows has been read, whose address counters give. A
// memory with at most one row takes no time.
func (c *Chain) DoCounterLookup(rows, width int, m dataflow.Memory) {
	row := c.NewFromStart()
	row.Lookup(rows, width, m)
	c.Join(row)
}

// Lookup adds the reading of a row of a memory, whose address the chain has computed. NoMemory stands for the memory
// that fits the size. A memory with at most one row takes no time.
func (c *Chain) Lookup(rows, width int, m dataflow.Memory) {
	if rows <= 1 {
		return
	}
	if m == dataflow.NoMemory {
		m = dataflow.ChooseMemory(rows, width)
	}
	switch m {
	case dataflow.BRAM:
		c.DoUnit(delay.UnitBlockRAM)
	case dataflow.URAM:
		c.DoUnit(delay.UnitUltraRAM)
	default:
		c.DoUnit(delay.UnitLUTMemory)
	}
}

// Choose adds the selection of one of two words of the given width by a condition.
func (c *Chain) Choose(bits int) { c.DoOp(delay.OpSelect, bits) }

// Write adds the writing of a word to a stream. It returns the chain's latency: the clocks from the start of the
// iteration until the word can be read.
func (c *Chain) Write() int {
	c.DoOp(delay.OpWrite, 1)
	return c.Clocks()
}

// Comparators adds a step function, built from comparators, of a value of the given width. Its tables lie in m, and a
// row holds pe channels' thresholds, or those that all channels share.
func (c *Chain) Comparators(k num.ThresholdTable, bits, pe int, m dataflow.Memory) {
	n := k.Steps()
	if n == 0 {
		return
	}
	rows := 1
	if k.Shared() {
		pe = 1
	} else {
		rows = len(k.At) / pe
	}
	c.DoCounterLookup(rows, pe*n*bits, m)
	c.DoOp(delay.OpCompare, bits)
	if k.Delta != nil {
		c.Choose(bits)
		c.Tree(n+1, bits, delay.OpAdd) // one more for the base
		return
	}
	c.DoPopCount(n)
	if base, ok := k.Constant(); !ok || base != 0 || !IsShift(k.Unit) {
		c.DoOp(delay.OpAdd, bits)
	}
}

// Steps adds step functions in the given form of a value of the given width; a nil form adds nothing. If the form
// consists of comparators, they are k, with pe channels per row of a table in m.
func (c *Chain) Steps(form steps.BuiltSteps, k num.ThresholdTable, bits, pe int, m dataflow.Memory) {
	switch scaled, ok := form.(*steps.ScaledForm); {
	case form == nil:
	case ok:
		c.scale(scaled)
	case form.TablesPerLane():
		c.lookUp(form, bits)
	default:
		c.Comparators(k, bits, pe, m)
	}
}

// scale adds a form that multiplies by a sum of powers of two.
func (c *Chain) scale(form *steps.ScaledForm) {
	for _, s := range form.Storage() {
		c.DoCounterLookup(s.Rows, s.Width, s.In)
	}
	n, bits := form.Terms()
	c.Tree(n, bits, delay.OpAdd)
	if form.Rounds() {
		c.DoOp(delay.OpAdd, bits)
	}
	if form.Clips() {
		c.Clip(bits)
	}
}

// lookUp adds a form whose tables are addressed by the value of the given width. The first clock reads a row; each
// further clock compares the value with thresholds of a row.
func (c *Chain) lookUp(form steps.BuiltSteps, bits int) {
	largest := slices.MaxFunc(form.Storage(), func(a, b dataflow.Storage) int { return cmp.Compare(a.Rows, b.Rows) })
	compared := form.Clocks()
	if largest.Rows > 1 { // otherwise the thresholds are the same for all values
		c.Lookup(largest.Rows, largest.Width, largest.In)
		compared--
	}
	for range compared {
		c.Next()
		c.DoOp(delay.OpCompare, bits)
	}
}

// Requant adds the multiplication of a value of the given width, in a DSP slice if dsp is true, with rounding and
// clipping.
func (c *Chain) Requant(q num.Requant, bits int, dsp bool) {
	if q.Multiplier < 0 || !IsShift(q.Multiplier) {
		more := num.NarrowestInt(num.SingleValue(q.Multiplier)).Width
		c.Product(bits, more, dsp)
		bits += more
	}
	if q.Shift > 0 && q.Mode != num.Floor {
		c.DoOp(delay.OpAdd, bits)
	}
	c.Clip(bits)
}

// Clip adds the comparison of a value of the given width with a limit, and the choice between them.
func (c *Chain) Clip(bits int) {
	c.DoOp(delay.OpCompare, bits)
	c.Choose(bits)
}

// Chain adds the step functions of the fold to c.
func (s *ActivationTail) Chain(c *Chain, f dataflow.Fold) {
	c.Steps(s.StepsImplementation(f), s.compare, s.of.Width, f.PE, f.Memory)
}

// Chain returns the operations that combine two values.
func (p Pooling) Chain() []delay.DelayOp {
	if p == SumPooling {
		return []delay.DelayOp{delay.OpAdd}
	}
	return []delay.DelayOp{delay.OpCompare, delay.OpSelect}
}
