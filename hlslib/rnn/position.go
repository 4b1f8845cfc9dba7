package rnn

import (
	"fmt"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A position says where in its frame an iteration of the circuit stands. All its values are available at stage
// 0.
type position struct {
	arriving circuit.Value   // initial states arrive
	arrived  []circuit.Value // by start: a word of that state arrives
	count    circuit.Value   // number of the words that have arrived before
	phases   []stand
	first    circuit.Value // the step is the first: its states are the initial ones
	last     circuit.Value // the step is the last one of the frame
	half     circuit.Value // the half that is read, of memories with two halves
}

// A stand says where in a phase an iteration stands. If the iteration is not in the phase, only its field in has a
// meaning.
type stand struct {
	in, ends circuit.Value // the iteration is in the phase; it completes a word
	begins   circuit.Value // the iteration begins a word
	over     circuit.Value // the iteration completes the phase
	turn     circuit.Value
	cell     circuit.Value
	at, word circuit.Value // number of the word in the phase, and in the cells' tables
	row      circuit.Value // row of the phase's weights
	part     circuit.Value // which SIMD elements of the vector's word are read
	from     circuit.Value // number of that word
	full     circuit.Value // the units complete a word of a vector
	to       circuit.Value // number of that word
}

// A course is the sequence of parts that make up a frame, as a circuit. A register holds the number of the current
// part.
type course struct {
	b        *circuit.Builder
	all      num.Range // range of the parts' numbers
	register circuit.Register
	now      circuit.Value
	last     []circuit.Value // by part: the iteration is the part's last
}

// newCourse returns a course with the given number of parts.
func newCourse(b *circuit.Builder, parts int) *course {
	c := &course{b: b, all: num.Range{Hi: int64(parts - 1)}, now: b.ConstantNumber(0)}
	if parts > 1 {
		c.register = b.AddRegister("part", 0, c.all).WithResetValue(0)
		c.now = c.register.ValueBefore()
	}
	return c
}

// part returns a condition of the circuit: the iteration is in the part that is added next.
func (c *course) part() circuit.Value {
	return circuit.IsEqual(c.now, c.b.ConstantNumber(int64(len(c.last))))
}

// ends adds a part to the course. The condition last holds in the part's last iteration.
func (c *course) ends(last circuit.Value) { c.last = append(c.last, last) }

// clocks adds a part of n iterations to the course. in holds if the iteration is in the part, and count is its number
// there.
func (c *course) clocks(name string, n int) (in, count circuit.Value) {
	in = c.part()
	counter := c.b.AddCounter(name, n, in)
	c.ends(circuit.AllHold(in, counter.Last))
	return in, counter.Index
}

// follow sets the register to the next part or, where the condition back holds, to the part numbered to.
func (c *course) follow(back, to circuit.Value) {
	if len(c.last) > 1 {
		next := circuit.MuxByCondition(back, to, circuit.SumOfTwo(c.now, c.b.ConstantNumber(1)))
		c.register.SetNext(circuit.AssumeRange(next, c.all), circuit.AnyHolds(c.last...))
	}
}

// waits reports whether idle iterations follow the phase with this number in every step.
func (w *wiring) waits(phase int) bool {
	return w.t.phases[phase].idle > 0 && (phase < len(w.t.phases)-1 || w.o.sequence || w.o.length > 1 || w.o.P.Keeps)
}

// locate adds the counters of a frame's parts, and returns the position that they tell. The parts are the arrival of
// states and the idle iterations behind it. Then come, in every step, the work of each phase and the wait behind it.
func (w *wiring) locate() (at position) {
	b, t, o := w.b, &w.t, w.o
	parts := min(1, t.head) + min(1, t.rest) + len(t.phases)
	for i := range t.phases {
		if w.waits(i) {
			parts++
		}
	}
	c := newCourse(b, parts)
	at.arriving = b.ConstantNumber(0)
	if t.head > 0 {
		at.arriving, at.count = c.clocks("arriving", t.head)
		for _, s := range o.P.Starts {
			words := b.ConstantNumber(int64(o.turns * o.cell.units(s) / w.f.PE))
			at.arrived = append(at.arrived, circuit.AllHold(at.arriving, circuit.IsGreater(words, at.count)))
		}
	}
	if t.rest > 0 {
		c.clocks("resting", t.rest)
	}
	step := b.ConstantNumber(int64(len(c.last)))
	for i := range t.phases {
		s := w.stand(i, c.part())
		at.phases = append(at.phases, s)
		c.ends(s.over)
		if w.waits(i) {
			c.clocks(fmt.Sprintf("waiting_%d", i), t.phases[i].idle)
		}
	}
	steps := w.steps
	if o.sequence {
		steps = w.told
	}
	stepped := steps(&at, at.phases[len(t.phases)-1].over, c.last[len(c.last)-1])
	c.follow(stepped, circuit.MuxByCondition(at.last, b.ConstantNumber(0), step))
	return at
}

// steps adds the counter of time steps, and returns the condition that the iteration completes one: the wait behind its
// last phase is over. A frame's last step is complete when its work is done, unless the state is kept.
func (w *wiring) steps(at *position, done, over circuit.Value) (stepped circuit.Value) {
	b, n := w.b, int64(w.o.length)
	index := b.ConstantNumber(0)
	var register circuit.Register
	if n > 1 {
		register = b.AddRegister("time_step", 0, num.Range{Hi: n - 1}).WithResetValue(0)
		index = register.ValueBefore()
	}
	at.last = circuit.IsEqual(index, b.ConstantNumber(n-1))
	if stepped = over; !w.o.P.Keeps {
		stepped = circuit.MuxByCondition(at.last, done, over)
	}
	if n > 1 {
		next := circuit.MuxByCondition(at.last, b.ConstantNumber(0), circuit.SumOfTwo(index, b.ConstantNumber(1)))
		register.SetNext(circuit.AssumeRange(next, num.Range{Hi: n - 1}), stepped)
	}
	at.first = circuit.IsEqual(index, b.ConstantNumber(0))
	if w.o.P.Keeps { // only the first step after a reset
		fresh := b.AddRegister("fresh", 0, num.Range{Hi: 1}).WithResetValue(1)
		fresh.SetNext(b.ConstantNumber(0), stepped)
		at.first = fresh.ValueBefore()
	}
	at.half = b.AddCounter("half", 2, stepped).Index
	return stepped
}

// told does what steps does for sequences of any length: an iteration that completes a step reads whether the step is
// the last.
func (w *wiring) told(at *position, done, over circuit.Value) (stepped circuit.Value) {
	b := w.b
	at.last = circuit.AddSequenceEndInput(done)
	if stepped = over; !w.o.P.Keeps {
		stepped = circuit.AnyHolds(at.last, over)
	}
	first := b.AddRegister("first", 0, num.Range{Hi: 1}).WithResetValue(1)
	begins := at.last
	if w.o.P.Keeps {
		begins = b.ConstantNumber(0)
	}
	first.SetNext(begins, stepped)
	at.first, at.half = first.ValueBefore(), b.AddCounter("half", 2, stepped).Index
	return stepped
}

// stand adds the counters of phase i, and returns the position that they tell. in is the condition that the iteration
// is in the phase.
func (w *wiring) stand(i int, in circuit.Value) stand {
	b, o, p := w.b, w.o, w.t.phases[i]
	counter := func(name string, n int, step circuit.Value) circuit.LoopLevel {
		return b.AddCounter(fmt.Sprintf("%s_%d", name, i), n, step)
	}
	cells := len(o.P.Cells)
	word := w.f.PE / dataflow.GCD(w.f.PE, w.f.SIMD) * w.f.SIMD
	s := stand{in: in, begins: b.ConstantNumber(1), ends: in}
	if len(o.phases[i].dots) > 0 {
		part := counter("part", word/w.f.SIMD, in)
		from := counter("from", o.phases[i].length/word, circuit.AllHold(in, part.Last))
		s.part, s.from = part.Index, from.Index
		s.begins, s.ends = circuit.AllHold(part.First, from.First), circuit.AllHold(in, part.Last, from.Last)
		s.row = counter("row", cells*p.nf*p.sf, in).Index
	}
	n := counter("n", p.nf, s.ends)
	turned := circuit.AllHold(s.ends, n.Last)
	cell := counter("cell", cells, turned)
	turn, at := cell, counter("at", o.turns*p.nf, s.ends)
	s.word = at.Index
	if o.turns > cells {
		turn = counter("turn", o.turns, turned)
		s.word = counter("word", cells*p.nf, s.ends).Index
	}
	s.cell, s.turn, s.at = cell.Index, turn.Index, at.Index
	s.over = circuit.AllHold(s.ends, at.Last)
	if units := o.turns * o.phases[i].units; units%word == 0 {
		filled := counter("filled", word/w.f.PE, s.ends)
		s.full = filled.Last
		s.to = counter("to", units/word, circuit.AllHold(s.ends, filled.Last)).Index
	}
	return s
}

// byPhase returns, as a value of the circuit, what the function of returns for whichever of the phases the iteration is
// in. It is arbitrary in iterations that are in none of them.
func (w *wiring) byPhase(phases []int, of func(stand) circuit.Value) circuit.Value {
	v := of(w.at.phases[phases[0]])
	for _, q := range phases[1:] {
		v = circuit.MuxByCondition(w.at.phases[q].in, of(w.at.phases[q]), v)
	}
	return v
}
