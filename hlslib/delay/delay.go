// Package delay says how many stages a pipeline has: what operations take on a family of devices, in ns, and how a
// chain of them is packed into stages of a clock, as synthesis from C++ (HLS) does it.
//
// A stage has the clock's period less its uncertainty. Operations follow each other in a stage as long as they fit;
// what does not fit begins the next one. Memories and DSP slices have registers of their own: so many clocks lie
// between what goes in and what comes out. A layer says its chain with a Pipe, and has its latency of it:
//
//	p := clock.Pipe()
//	p.Do(delay.Read, 8)        // a word arrives
//	p.Do(delay.Compare, 8)     // each operation by its bits
//	p.Do(delay.Write, 1)       // and leaves
//	latency := p.Clocks()
//
// Entries say where they come from: measured (a report of synthesis), a data sheet, or a guess. Until a user's own
// reports replace them (Calibration), what follows from them is a range: at the least and at the most that an entry of
// its kind may be off.
//
// In come a family, a clock and reports' figures; out come clocks. It sees nothing of this module.
//
//	delay.go        Clock and Pipe: chains of operations become stages
//	table.go        the entries
//	curve.go        entries by width, as they are looked up
//	calibration.go  what a user's reports say instead
package delay

import "math"

// A Family is devices with the same delays, told by their DSP slices, as boards have them.
type Family string

// The families: 7 series, UltraScale and UltraScale+, Versal. What is not told is taken for UltraScale+.
const (
	Series7    Family = "DSP48E1"
	UltraScale Family = "DSP48E2"
	Versal     Family = "DSP58"
)

// An Op is an operation of a chain. Its bits are those of its operands, of a product those of both factors.
type Op int

// The operations.
const (
	Read     Op = iota // a word of a stream
	Write              // a word to a stream
	Add                // or subtract
	Compare            // two numbers
	Select             // one of two
	Keep               // the multiplexer before a register that is kept from iteration to iteration
	Logic              // a gate
	Multiply           // in LUTs
	ops      = iota
)

func (o Op) String() string {
	return [...]string{"read", "write", "add", "compare", "select", "keep", "logic", "multiply"}[o]
}

// A Unit has registers of its own.
type Unit int

// The units. Tables in LUTs are read through a register, as HLS makes them. A RegisterSlice is that of an AXI4-Stream:
// it holds two words, and passes one in every clock.
const (
	DSP Unit = iota
	LUTMemory
	BlockMemory
	UltraMemory
	RegisterSlice
	units = iota
)

func (u Unit) String() string {
	return [...]string{"DSP slice", "table in LUTs", "block RAM", "UltraRAM", "register slice"}[u]
}

// A Bound says which end of the range is asked for; zero is what is expected.
type Bound int8

// The ends of the range.
const (
	Least    Bound = -1
	Expected Bound = 0
	Most     Bound = 1
)

const (
	// Uncertainty is the share of a clock's period that HLS leaves to placement and routing (UG1399).
	Uncertainty = 0.27
	// defaultMHz is the clock where none is given: the tool's own period is 10 ns (UG1399).
	defaultMHz = 100
	// unforeseen is how many stages more than by their chains the reports of the tests have at the most, with the
	// delays at the most that they may be.
	unforeseen = 1
)

// A Clock is what a stage holds, and what operations take.
type Clock struct {
	budget float64 // ns
	at     *delays
	stages float64 // that HLS makes of one of ours
	more   int     // stages that may be in a chain beside
}

// At is a clock of a family, by the tables or by what is in c's reports; c may be nil. Without a frequency it is the
// tool's own period.
func At(f Family, mhz float64, c *Calibration, b Bound) Clock {
	if !(mhz > 0) {
		mhz = defaultMHz
	}
	k := Clock{budget: 1000 / mhz * (1 - Uncertainty), at: tables(f, b), stages: 1}
	if b == Most {
		k.more = unforeseen
	}
	if c.Of(f) {
		k.at, k.stages, k.more = c.compiled, c.Stages, 0
		k.budget = 1000 / mhz * (1 - c.Uncertainty)
	}
	return k
}

// NS is what an operation on so many bits takes.
func (c Clock) NS(op Op, bits int) float64 { return c.at.ops[op].at(bits) }

// Budget is the ns of a stage.
func (c Clock) Budget() float64 { return c.budget }

// LUTs returns the ns that so many levels of a table in LUTs take, one after the other.
func (c Clock) LUTs(levels int) float64 {
	return c.at.units[LUTMemory].in + float64(levels-1)*c.NS(Logic, 1)
}

// A Pipe is where a value is on its way through the stages. The zero value has no clock.
type Pipe struct {
	c     Clock
	stage int     // from 0
	ns    float64 // that are spent of it
}

// Pipe is at the beginning of the first stage.
func (c Clock) Pipe() Pipe { return Pipe{c: c} }

// Begin is behind the stage that decides what an iteration of a process does: in every report at hand the rest begins
// in a stage of its own.
func (c Clock) Begin() Pipe {
	p := c.Pipe()
	p.Next()
	return p
}

// Ends is the clocks that the ends of a network add to a frame. Each is a process that moves words between an
// AXI4-Stream, with its register slice, and a FIFO (hlslib/core/axis.hpp): in is from the clock in which the host gives
// a word to the one in which it is visible in the first FIFO, out from the one in which it is visible in the last FIFO
// to the one in which the host can take it.
func (c Clock) Ends() (in, out int) {
	const fifo = 1 // the last of a pipe's clocks: from the stage that writes to where the word can be read
	p := c.Begin()
	p.Do(Read, 1)
	p.Do(Write, 1)
	process, slice := p.Clocks(), c.at.units[RegisterSlice].clocks
	return slice + process, process - fifo + slice
}

// Do is an operation. A multiplication that is longer than a stage is cut; nothing else is, and misses the clock.
func (p *Pipe) Do(op Op, bits int) {
	ns := p.c.NS(op, bits)
	p.spend(ns)
	if over := ns / p.c.budget; op == Multiply && over > 1 {
		more := math.Ceil(over) - 1
		p.stage, p.ns = p.stage+int(more), ns-more*p.c.budget
	}
}

func (p *Pipe) spend(ns float64) {
	// Sums of the same entries in another order are not to differ by a stage.
	const rounding = 1e-9
	if p.ns > 0 && p.ns+ns > p.c.budget+rounding {
		p.Next()
	}
	p.ns += ns
}

// Next begins another stage.
func (p *Pipe) Next() { p.stage, p.ns = p.stage+1, 0 }

// Carried is operations that one iteration hands on to the next: they stay in one stage, or the next iteration would
// have to wait.
func (p *Pipe) Carried(bits int, chain ...Op) {
	ns := 0.0
	for _, op := range chain {
		ns += p.c.NS(op, bits)
	}
	p.spend(ns)
}

// Through is a unit with registers: operands come into it, and the result leaves it so many clocks later.
func (p *Pipe) Through(u Unit) {
	x := &p.c.at.units[u]
	p.spend(x.in)
	p.stage, p.ns = p.stage+x.clocks, x.out
}

// Tree is n values of so many bits that become one, two by two: each level does the operations, and is a bit wider than
// the one before where it adds.
func (p *Pipe) Tree(n, bits int, level ...Op) {
	for ; n > 1; n = (n + 1) / 2 {
		for _, op := range level {
			if op == Add {
				bits++
			}
			p.Do(op, bits)
		}
	}
}

// Count is how many of n bits are set.
func (p *Pipe) Count(n int) { p.Tree(n, 1, Add) }

// Comparators is a value of so many bits compared with n thresholds at once, and the count of those that it exceeds.
func (p *Pipe) Comparators(n, bits int) {
	if n > 0 {
		p.Do(Compare, bits)
		p.Count(n)
	}
}

// Product is a product of words of a and b bits.
func (p *Pipe) Product(a, b int, dsp bool) {
	if dsp {
		p.Through(DSP)
		return
	}
	p.Do(Multiply, a+b)
}

// Join waits for another value.
func (p *Pipe) Join(q Pipe) {
	if q.stage > p.stage || q.stage == p.stage && q.ns > p.ns {
		p.stage, p.ns = q.stage, q.ns
	}
}

// Clocks is the stages so far: what is written in the last of them can be read so many clocks after the first began.
func (p *Pipe) Clocks() int {
	n := p.stage + 1
	if p.c.stages != 1 {
		n = max(1, int(math.Round(float64(n)*p.c.stages)))
	}
	return n + p.c.more
}
