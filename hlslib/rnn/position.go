package rnn

import (
	"fmt"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A position is where an iteration of a circuit stands in its frame: all of it is known at stage 0.
type position struct {
	arriving circuit.Value   // states arrive
	arrived  []circuit.Value // by start: a word of it arrives
	count    circuit.Value   // of these
	phases   []stand
	first    circuit.Value // the states are those that a frame starts with
	last     circuit.Value // the step is the last one of the frame
	half     circuit.Value // that is read, where memories have two
}

// A stand is where an iteration stands in a phase, if it is in it.
type stand struct {
	in, ends circuit.Value // something is done in the phase; a word of it is complete
	begins   circuit.Value // a word of it begins
	over     circuit.Value // the phase is complete
	turn     circuit.Value
	cell     circuit.Value
	at, word circuit.Value // word of the phase, and of the cells
	row      circuit.Value // of the weights of the phase
	part     circuit.Value // of the word of the vector that is read
	from     circuit.Value // that word
	full     circuit.Value // the word of units completes one of a vector
	to       circuit.Value // that word of a vector
}

// A course is the parts of a frame: iterations that follow each other. A register says in which one an iteration is.
type course struct {
	b        *circuit.Builder
	all      num.Range // of the numbers of parts
	register circuit.Register
	now      circuit.Value
	last     []circuit.Value // by part: the iteration is its last one
}

// newCourse is so many parts.
func newCourse(b *circuit.Builder, parts int) *course {
	c := &course{b: b, all: num.Range{Hi: int64(parts - 1)}, now: b.Constant(0)}
	if parts > 1 {
		c.register = b.Register("part", 0, c.all).Starts(0)
		c.now = c.register.Value()
	}
	return c
}

// part is whether an iteration is in the next part.
func (c *course) part() circuit.Value { return circuit.Same(c.now, c.b.Constant(int64(len(c.last)))) }

// ends says when that part does.
func (c *course) ends(last circuit.Value) { c.last = append(c.last, last) }

// clocks is a part of so many iterations.
func (c *course) clocks(name string, n int) (in, count circuit.Value) {
	in = c.part()
	counter := c.b.Counter(name, n, in)
	c.ends(circuit.All(in, counter.Last))
	return in, counter.Index
}

// follow goes on to the next part, or where back holds, to another one.
func (c *course) follow(back, to circuit.Value) {
	if len(c.last) > 1 {
		next := circuit.Choice(back, to, circuit.Sum(c.now, c.b.Constant(1)))
		c.register.Set(circuit.Kept(next, c.all), circuit.Any(c.last...))
	}
}

// waits reports whether there is a part behind a phase in which nothing is done.
func (w *wiring) waits(phase int) bool {
	return w.t.phases[phase].idle > 0 && (phase < len(w.t.phases)-1 || w.o.sequence || w.o.length > 1 || w.o.P.Keeps)
}

// locate makes the counters. The parts of a frame are the states' arrival and the rest, and then, in every step, the
// work of a phase and the wait behind it.
func (w *wiring) locate() (at position) {
	b, t, o := w.b, &w.t, w.o
	parts := min(1, t.head) + min(1, t.rest) + len(t.phases)
	for i := range t.phases {
		if w.waits(i) {
			parts++
		}
	}
	c := newCourse(b, parts)
	at.arriving = b.Constant(0)
	if t.head > 0 {
		at.arriving, at.count = c.clocks("arriving", t.head)
		for _, s := range o.P.Starts {
			words := b.Constant(int64(o.turns * o.cell.units(s) / w.f.PE))
			at.arrived = append(at.arrived, circuit.All(at.arriving, circuit.Exceeds(words, at.count)))
		}
	}
	if t.rest > 0 {
		c.clocks("resting", t.rest)
	}
	step := b.Constant(int64(len(c.last)))
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
	c.follow(stepped, circuit.Choice(at.last, b.Constant(0), step))
	return at
}

// steps counts the time steps, and tells that one is over: that is when the wait behind it is, but for the last one of
// a frame, which is over as soon as all is done. Where the state is kept, it waits as well.
func (w *wiring) steps(at *position, done, over circuit.Value) (stepped circuit.Value) {
	b, n := w.b, int64(w.o.length)
	index := b.Constant(0)
	var register circuit.Register
	if n > 1 {
		register = b.Register("time_step", 0, num.Range{Hi: n - 1}).Starts(0)
		index = register.Value()
	}
	at.last = circuit.Same(index, b.Constant(n-1))
	if stepped = over; !w.o.P.Keeps {
		stepped = circuit.Choice(at.last, done, over)
	}
	if n > 1 {
		next := circuit.Choice(at.last, b.Constant(0), circuit.Sum(index, b.Constant(1)))
		register.Set(circuit.Kept(next, num.Range{Hi: n - 1}), stepped)
	}
	at.first = circuit.Same(index, b.Constant(0))
	if w.o.P.Keeps { // there is one such step after a reset
		fresh := b.Register("fresh", 0, num.Range{Hi: 1}).Starts(1)
		fresh.Set(b.Constant(0), stepped)
		at.first = fresh.Value()
	}
	at.half = b.Counter("half", 2, stepped).Index
	return stepped
}

// told is steps in sequences of any length: an iteration that completes a step is told whether it is the last one.
func (w *wiring) told(at *position, done, over circuit.Value) (stepped circuit.Value) {
	b := w.b
	at.last = circuit.Ends(done)
	if stepped = over; !w.o.P.Keeps {
		stepped = circuit.Any(at.last, over)
	}
	first := b.Register("first", 0, num.Range{Hi: 1}).Starts(1)
	begins := at.last
	if w.o.P.Keeps {
		begins = b.Constant(0)
	}
	first.Set(begins, stepped)
	at.first, at.half = first.Value(), b.Counter("half", 2, stepped).Index
	return stepped
}

// stand makes the counters of a phase.
func (w *wiring) stand(i int, in circuit.Value) stand {
	b, o, p := w.b, w.o, w.t.phases[i]
	counter := func(name string, n int, step circuit.Value) circuit.Level {
		return b.Counter(fmt.Sprintf("%s_%d", name, i), n, step)
	}
	cells := len(o.P.Cells)
	word := w.f.PE / dataflow.GCD(w.f.PE, w.f.SIMD) * w.f.SIMD
	s := stand{in: in, begins: b.Constant(1), ends: in}
	if len(o.phases[i].dots) > 0 {
		part := counter("part", word/w.f.SIMD, in)
		from := counter("from", o.phases[i].length/word, circuit.All(in, part.Last))
		s.part, s.from = part.Index, from.Index
		s.begins, s.ends = circuit.All(part.First, from.First), circuit.All(in, part.Last, from.Last)
		s.row = counter("row", cells*p.nf*p.sf, in).Index
	}
	n := counter("n", p.nf, s.ends)
	turned := circuit.All(s.ends, n.Last)
	cell := counter("cell", cells, turned)
	turn, at := cell, counter("at", o.turns*p.nf, s.ends)
	s.word = at.Index
	if o.turns > cells {
		turn = counter("turn", o.turns, turned)
		s.word = counter("word", cells*p.nf, s.ends).Index
	}
	s.cell, s.turn, s.at = cell.Index, turn.Index, at.Index
	s.over = circuit.All(s.ends, at.Last)
	if units := o.turns * o.phases[i].units; units%word == 0 {
		filled := counter("filled", word/w.f.PE, s.ends)
		s.full = filled.Last
		s.to = counter("to", units/word, circuit.All(s.ends, filled.Last)).Index
	}
	return s
}

// byPhase is what those iterations have that stand in one of the phases; others have anything.
func (w *wiring) byPhase(phases []int, of func(stand) circuit.Value) circuit.Value {
	v := of(w.at.phases[phases[0]])
	for _, q := range phases[1:] {
		v = circuit.Choice(w.at.phases[q].in, of(w.at.phases[q]), v)
	}
	return v
}
