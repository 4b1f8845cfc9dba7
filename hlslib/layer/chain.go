package layer

import (
	"cmp"
	"slices"

	"hlsgen/hlslib/delay"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A Chain is the operations that a word goes through in an iteration, as they are packed into stages of the target's
// clock. A layer's latency is that of its chain.
type Chain struct {
	delay.Pipe
	start delay.Pipe // of the iteration, where counters are known
}

// Begin is the chain at the start of an iteration, behind the stage that decides what it does.
func Begin(t dataflow.Target) Chain {
	p := t.Delays().Begin()
	return Chain{p, p}
}

// Body is the chain behind that stage alone: what one iteration hands on to another.
func Body(t dataflow.Target) Chain {
	p := t.Delays().Pipe()
	return Chain{p, p}
}

// Fresh is a chain at the start of the same iteration.
func (c *Chain) Fresh() Chain { return Chain{c.start, c.start} }

// Join waits for what another chain of the iteration has made.
func (c *Chain) Join(o Chain) { c.Pipe.Join(o.Pipe) }

// Read takes a word of a stream.
func (c *Chain) Read() { c.Do(delay.Read, 1) }

// ReadWhere takes a word of a stream where counters say so.
func (c *Chain) ReadWhere() {
	c.Decide()
	c.Read()
}

// Decide compares a counter.
func (c *Chain) Decide() { c.Do(delay.Compare, counter) }

// counter is the bits of a usual one.
const counter = 16

// Fetch waits for a row of a memory that counters address. A single row, or none, is there at once.
func (c *Chain) Fetch(rows, width int, m dataflow.Memory) {
	row := c.Fresh()
	row.Look(rows, width, m)
	c.Join(row)
}

// Look reads the row of a memory that the chain has the address of. What lies nowhere lies where it fits.
func (c *Chain) Look(rows, width int, m dataflow.Memory) {
	if rows <= 1 {
		return
	}
	if m == dataflow.NoMemory {
		m = dataflow.Fit(rows, width)
	}
	switch m {
	case dataflow.BRAM:
		c.Through(delay.BlockMemory)
	case dataflow.URAM:
		c.Through(delay.UltraMemory)
	default:
		c.Through(delay.LUTMemory)
	}
}

// Choose is one of two words under a condition.
func (c *Chain) Choose(bits int) { c.Do(delay.Select, bits) }

// Write gives a word to a stream, and is the chain's latency: the clocks from the start of the iteration to where the
// word can be read.
func (c *Chain) Write() int {
	c.Do(delay.Write, 1)
	return c.Clocks()
}

// Comparators is a step function of a value of so many bits, built of comparators: pe of its channels, or one row for
// all, lie in a row of tables in m.
func (c *Chain) Comparators(k num.Comparators, bits, pe int, m dataflow.Memory) {
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
	c.Fetch(rows, pe*n*bits, m)
	c.Do(delay.Compare, bits)
	if k.Delta != nil {
		c.Choose(bits)
		c.Tree(n+1, bits, delay.Add) // and the base
		return
	}
	c.Count(n)
	if base, ok := k.Constant(); !ok || base != 0 || !Shifts(k.Unit) {
		c.Do(delay.Add, bits)
	}
}

// Steps is step functions of a value of so many bits in their form; nothing without one. Comparators are k's, of which
// pe lie in a row in m.
func (c *Chain) Steps(form steps.Form, k num.Comparators, bits, pe int, m dataflow.Memory) {
	switch scaled, ok := form.(*steps.Scaled); {
	case form == nil:
	case ok:
		c.scale(scaled)
	case form.Apart():
		c.lookUp(form, bits)
	default:
		c.Comparators(k, bits, pe, m)
	}
}

// scale is a form that multiplies by a sum of powers of two.
func (c *Chain) scale(form *steps.Scaled) {
	for _, s := range form.Storage() {
		c.Fetch(s.Rows, s.Width, s.In)
	}
	n, bits := form.Terms()
	c.Tree(n, bits, delay.Add)
	if form.Rounds() {
		c.Do(delay.Add, bits)
	}
	if form.Clips() {
		c.Clip(bits)
	}
}

// lookUp is a form whose tables a value is the address of: the first clock reads a row, and each further one compares
// with what a row has.
func (c *Chain) lookUp(form steps.Form, bits int) {
	largest := slices.MaxFunc(form.Storage(), func(a, b dataflow.Storage) int { return cmp.Compare(a.Rows, b.Rows) })
	compared := form.Clocks()
	if largest.Rows > 1 { // else thresholds are the same for all values
		c.Look(largest.Rows, largest.Width, largest.In)
		compared--
	}
	for range compared {
		c.Next()
		c.Do(delay.Compare, bits)
	}
}

// Requant multiplies a value of so many bits, rounds and clips it.
func (c *Chain) Requant(q num.Requant, bits int, dsp bool) {
	if q.Multiplier < 0 || !Shifts(q.Multiplier) {
		more := num.Smallest(num.Point(q.Multiplier)).Width
		c.Product(bits, more, dsp)
		bits += more
	}
	if q.Shift > 0 && q.Mode != num.Floor {
		c.Do(delay.Add, bits)
	}
	c.Clip(bits)
}

// Clip is the nearer of two limits where a value exceeds them.
func (c *Chain) Clip(bits int) {
	c.Do(delay.Compare, bits)
	c.Choose(bits)
}

// Chain is the tail of a layer behind what it has computed, of pe channels at a time.
func (s *Steps) Chain(c *Chain, f dataflow.Fold) {
	c.Steps(s.Form(f), s.compare, s.of.Width, f.PE, f.Memory)
}

// Chain is a value of so many bits pooled with another one.
func (p Pooling) Chain() []delay.Op {
	if p == Sum {
		return []delay.Op{delay.Add}
	}
	return []delay.Op{delay.Compare, delay.Select}
}
