package rnn

import (
	"slices"

	"hlsgen/hlslib/delay"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A timing is the clocks of a fold.
type timing struct {
	head    int // in which states arrive
	rest    int // that the first step waits for them
	phases  []span
	waits   []int // by store: least iterations from where a word is written to where it is read
	step    int   // of a time step
	latency int   // from the start of an iteration to the arrival of what it writes
}

// deciding is the clocks of an iteration before what phases hand on: every iteration has them.
const deciding = 1

// A span is a phase's part of a step.
type span struct {
	start, nf, sf int
	turn          int // clocks of a turn: nf*sf
	idle          int // after the last turn
}

// timing is that of a target: as chains of operations have it, or as the circuit does.
func (o *op) timing(f dataflow.Fold, target dataflow.Target) timing {
	if target.Stalls == dataflow.Credit {
		return wired(o, f, target)
	}
	latencies, most := make([]int, len(o.phases)), 0
	for i := range o.phases {
		latencies[i] = latency(o, i, f, target)
		most = max(most, deciding+latencies[i])
	}
	waits := make([]int, len(o.stores))
	for i, s := range o.stores {
		waits[i] = latencies[s.writer.Phase] + 1
	}
	return schedule(o, f, waits, most)
}

// schedule lets every phase begin as soon as all words that it looks at are there when they are read, and every step as
// soon as its first phase may.
func schedule(o *op, f dataflow.Fold, waits []int, latency int) timing {
	t := timing{waits: waits, latency: latency}
	for _, p := range o.phases {
		s := span{nf: p.units / f.PE, sf: 1}
		if len(p.dots) > 0 {
			s.sf = p.length / f.SIMD
		}
		s.turn = s.nf * s.sf
		t.phases = append(t.phases, s)
	}
	end := 0
	for q := range t.phases {
		t.phases[q].start = end
		for i := range o.stores {
			if o.stores[i].state < 0 {
				t.await(o, i, f, q, 0, &t.phases[q].start)
			}
		}
		if q > 0 {
			t.phases[q-1].idle = t.phases[q].start - end
		}
		end = t.phases[q].start + o.turns*t.phases[q].turn
	}
	t.step = end
	for i := range o.stores {
		if o.stores[i].state >= 0 {
			for q := range t.phases {
				t.await(o, i, f, q, t.phases[q].start, &t.step)
			}
		}
	}
	t.phases[len(t.phases)-1].idle = t.step - end
	t.awaitStarts(o, f)
	return t
}

// await puts off a clock, such that what phase q reads of a store at so many clocks from there has arrived.
func (t *timing) await(o *op, store int, f dataflow.Fold, q, after int, clock *int) {
	s := &o.stores[store]
	if slices.Contains(s.reads, q) {
		*clock = max(*clock, t.phases[s.writer.Phase].start+t.waits[store]-after-t.slack(o, s, f, q))
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
				t.rest = max(t.rest, t.waits[i]-t.headSlack(o, s, f, q))
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
func latency(o *op, i int, f dataflow.Fold, t dataflow.Target) int {
	at := chains(o, i, f, t)
	last := 1
	written := func(c layer.Chain) { last = max(last, c.Write()) }
	for _, s := range o.stores {
		if s.writer.Phase == i {
			written(at[s.writer.Value])
		}
	}
	for _, out := range o.P.Outputs {
		if out.Phase == i {
			written(at[out.Value])
		}
	}
	return last
}

// chains is when the values of a phase are there.
func chains(o *op, i int, f dataflow.Fold, t dataflow.Target) []layer.Chain {
	p, start := &o.phases[i], layer.Body(t)
	at := make([]layer.Chain, len(p.values))
	for k := range p.values {
		at[k] = start // of what is always the same
		if v := &p.values[k]; v.built() {
			at[k] = ready(o, i, v, at, start, f, t)
		}
	}
	return at
}

// ready is the chain of a value of phase i, behind those before it: operations take what hlslib/delay says.
func ready(o *op, i int, v *value, before []layer.Chain, c layer.Chain, f dataflow.Fold, t dataflow.Target,
) layer.Chain {
	values, dsp := o.phases[i].values, f.Compute == dataflow.DSP
	of := func(a int) (layer.Chain, int) { return before[v.Of[a]], values[v.Of[a]].elem.Width }
	switch v.Op {
	case Input:
		c.Read()
	case OfState, Earlier:
		c.Fetch(2, f.PE*v.elem.Width, dataflow.LUTRAM)
	case Sum:
		c.Fetch(2, f.SIMD*o.vector.Width, dataflow.LUTRAM) // the vector
		o.unit.Sum(&c, f, packing(o, f, t), o.rows(f))
		c.Carried(v.elem.Width, delay.Select, delay.Add)
	case Linear:
		terms := o.terms(i, v)
		for _, a := range terms {
			term, width := of(a)
			if p := &v.factors[a]; p.multiplies {
				term.Product(width, p.elem.Width, dsp)
			}
			c.Join(term)
		}
		if o.adds(i, v) {
			c.Tree(len(terms)+1, v.elem.Width, delay.Add) // with the bias
		}
	case Product:
		a, wide := of(0)
		b, other := of(1)
		c.Join(a)
		c.Join(b)
		c.Product(wide, other, dsp)
	case Steps:
		a, width := of(0)
		c.Join(a)
		c.Steps(v.steps.form(f.PE), v.steps.compare, width, v.steps.beside(f.PE), dataflow.NoMemory)
	case Requant:
		a, width := of(0)
		c.Join(a)
		c.Requant(slowest(v.requant), width, dsp)
	}
	return c
}

// slowest is the one of a list that takes longest: it multiplies, if one does, and rounds otherwise than down.
func slowest(list []num.Requant) num.Requant {
	q := list[0]
	for _, other := range list[1:] {
		if multiplies([]num.Requant{other}) && !multiplies([]num.Requant{q}) {
			q.Multiplier = other.Multiplier
		}
		if other.Shift > 0 && other.Mode != num.Floor {
			q.Shift, q.Mode = other.Shift, other.Mode
		}
	}
	return q
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
