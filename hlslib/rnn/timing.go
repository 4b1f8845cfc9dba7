package rnn

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A timing is the clocks of a fold.
type timing struct {
	head    int // in which states arrive
	rest    int // that the first step waits for them
	phases  []span
	step    int // of a time step
	latency int // from the start of an iteration to the arrival of what it writes
}

// A span is a phase's part of a step.
type span struct {
	start, nf, sf int
	turn          int // clocks of a turn: nf*sf
	idle          int // after the last turn
	latency       int // to the memory, or out
}

// timing lets every phase begin as soon as all words that it looks at are there when they are read, and every step as
// soon as its first phase may.
func (o *op) timing(f dataflow.Fold) timing {
	var t timing
	for _, p := range o.phases {
		s := span{nf: p.units / f.PE, sf: 1}
		if len(p.dots) > 0 {
			s.sf = p.length / f.SIMD
		}
		s.turn = s.nf * s.sf
		t.phases = append(t.phases, s)
	}
	for i := range o.phases {
		t.phases[i].latency = o.latency(i, f)
		t.latency = max(t.latency, t.phases[i].latency)
	}
	end := 0
	for q := range t.phases {
		t.phases[q].start = end
		for i := range o.stores {
			if s := &o.stores[i]; s.state < 0 {
				t.await(o, s, f, q, 0, &t.phases[q].start)
			}
		}
		if q > 0 {
			t.phases[q-1].idle = t.phases[q].start - end
		}
		end = t.phases[q].start + o.turns*t.phases[q].turn
	}
	t.step = end
	for i := range o.stores {
		if s := &o.stores[i]; s.state >= 0 {
			for q := range t.phases {
				t.await(o, s, f, q, t.phases[q].start, &t.step)
			}
		}
	}
	t.phases[len(t.phases)-1].idle = t.step - end
	t.awaitStarts(o, f)
	return t
}

// await puts off a clock, such that what phase q reads of a store at so many clocks from there has arrived.
func (t *timing) await(o *op, s *store, f dataflow.Fold, q, after int, clock *int) {
	for _, reader := range s.reads {
		if reader == q {
			p := t.phases[s.writer.Phase]
			*clock = max(*clock, p.start+p.latency+1-after-t.slack(o, s, f, q))
		}
	}
}

// slack is the least number of iterations from where a word of a store is written to where phase q reads it first, if
// both phases began in the same one. Turns and words come at even distances, so that it is that of a first or a last.
func (t *timing) slack(o *op, s *store, f dataflow.Fold, q int) int {
	p, r, word := t.phases[s.writer.Phase], t.phases[q], s.word(f)
	least := 0
	for n, turn := range []int{0, o.turns - 1} {
		for m, w := range []int{0, o.elements(s)/word - 1} {
			written := turn*p.turn + (w+1)*word/f.PE*p.sf - 1
			if d := turn*r.turn + s.read(w, word, r.sf, f) - written; n+m == 0 || d < least {
				least = d
			}
		}
	}
	return least
}

// read is the clock of a turn in which a phase of sf clocks per word reads word w of a store first.
func (s *store) read(w, word, sf int, f dataflow.Fold) int {
	if s.vector {
		return w * word / f.SIMD
	}
	return (w+1)*sf - 1
}

// awaitStarts makes room for the states that arrive, PE units of each in a clock, before the first step.
func (t *timing) awaitStarts(o *op, f dataflow.Fold) {
	for _, s := range o.P.Starts {
		t.head = max(t.head, o.turns*o.cell.units(s)/f.PE)
	}
	for i := range o.stores {
		if s := &o.stores[i]; o.arrives(s) {
			for _, q := range s.reads {
				t.rest = max(t.rest, t.phases[s.writer.Phase].latency+1-t.headSlack(o, s, f, q))
			}
		}
	}
}

// headSlack is the least number of iterations from where a word of a state arrives to where phase q of the first step
// reads it, if no clock lies between.
func (t *timing) headSlack(o *op, s *store, f dataflow.Fold, q int) int {
	r, word, units := t.phases[q], s.word(f), o.elements(s)
	least := 0
	for n, turn := range []int{0, o.turns - 1} {
		for m, w := range []int{0, units/word - 1} {
			arrives := (turn*units+(w+1)*word)/f.PE - 1
			if d := t.head + r.start + turn*r.turn + s.read(w, word, r.sf, f) - arrives; n+m == 0 || d < least {
				least = d
			}
		}
	}
	return least
}

// arrives reports whether a store holds a state that starts with an input.
func (g *program) arrives(s *store) bool {
	for _, state := range g.params.Starts {
		if state == s.state {
			return true
		}
	}
	return false
}

// distance is the least number of iterations from where a word of a store is written to where it is read: more than its
// latency.
func (t *timing) distance(o *op, s *store, f dataflow.Fold) int {
	least := 0
	for n, q := range s.reads {
		d := t.phases[q].start - t.phases[s.writer.Phase].start + t.slack(o, s, f, q)
		if s.state >= 0 {
			d += t.step
		}
		if o.arrives(s) {
			d = min(d, t.rest+t.headSlack(o, s, f, q))
		}
		if n == 0 || d < least {
			least = d
		}
	}
	return least
}

// iterations is those of a frame: where the state goes on from frame to frame, the last step waits as all others do.
func iterations(o *op, t timing) int {
	n := t.head + t.rest + o.length*t.step
	if !o.P.Keeps {
		n -= t.phases[len(t.phases)-1].idle
	}
	return n
}

// latency is L of the package's comment for a phase: the clocks from the start of a unit's last products to the arrival
// of what is kept or goes out.
func (g *program) latency(i int, f dataflow.Fold) int {
	p := &g.phases[i]
	ready := make([]int, len(p.values))
	for k := range p.values {
		if v := &p.values[k]; v.built() {
			ready[k] = g.ready(i, v, ready, f)
		}
	}
	last := 1
	for _, s := range g.stores {
		if s.writer.Phase == i {
			last = max(last, ready[s.writer.Value])
		}
	}
	for _, out := range g.params.Outputs {
		if out.Phase == i {
			last = max(last, ready[out.Value])
		}
	}
	return last + 1
}

// ready is when a value of phase i is there, of those before it: the table of operations in the package's comment.
func (g *program) ready(i int, v *value, ready []int, f dataflow.Fold) (clock int) {
	for _, a := range v.Of {
		clock = max(clock, ready[a])
	}
	switch v.Op {
	case Input, OfState, Earlier:
		return 1
	case Sum:
		return g.unit.SumLatency(f.SIMD)
	case Linear:
		clock = 0
		for _, a := range g.terms(i, v) {
			at := ready[v.Of[a]]
			if v.factors[a].multiplies {
				at++
			}
			clock = max(clock, at)
		}
		if g.adds(i, v) {
			clock++
		}
		return clock
	case Product:
		return clock + 1
	case Steps:
		return clock + v.steps.clocks(f.PE)
	case Requant:
		if of := &g.phases[i].values[v.Of[0]]; of.Op != Linear || !g.adds(i, of) {
			clock++
		}
		if multiplies(v.requant) {
			clock++
		}
	}
	return clock
}

// adds reports whether a linear value is more than another value as it is.
func (g *program) adds(i int, v *value) bool {
	terms := g.terms(i, v)
	return len(terms) != 1 || !v.bias.is(0) || !v.factors[terms[0]].is(1)
}

// multiplies reports whether a requantiser of a list is more than a shift.
func multiplies(list []num.Requant) bool {
	for _, q := range list {
		if q.Multiplier < 0 || !layer.Shifts(q.Multiplier) {
			return true
		}
	}
	return false
}
