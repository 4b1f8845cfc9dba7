package rnn

import (
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A timing holds the schedule of a fold in clocks: when the phases of a time step begin, and how long they wait.
type timing struct {
	head    int // clocks for the arrival of states
	rest    int // clocks from their arrival to the first step
	phases  []span
	waits   []int // by store: least iterations from a write of a word to a read of it
	step    int   // clocks of a time step
	latency int   // from the start of an iteration to the arrival of the words that it writes
}

// deciding is the clock in which an iteration decides whether it takes place. It precedes the operations of all
// phases.
const deciding = 1

// A span is the schedule of a phase within a time step.
type span struct {
	start, nf, sf int
	turn          int // clocks of a turn: nf*sf
	idle          int // clocks between its last turn and the next phase or step
}

// timing returns the schedule of a fold. It comes from the circuit or from chains of operations, as the target's
// back end says.
func (o *op) timing(f dataflow.Fold, target dataflow.Target) timing {
	if target.Backend.Rate == dataflow.RateFromCircuit {
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

// schedule returns the schedule in which every phase, and every step, begins as soon as all words that it reads will
// have arrived. waits are the phases' least waits, and latency that of the circuit, or 0.
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

// await raises *clock by as much as phase q must wait for the words of a store. after is the number of clocks by which
// the phase begins later.
func (t *timing) await(o *op, store int, f dataflow.Fold, q, after int, clock *int) {
	s := &o.stores[store]
	if slices.Contains(s.reads, q) {
		*clock = max(*clock, t.phases[s.writer.Phase].start+t.waits[store]-after-t.slack(o, s, f, q))
	}
}

// slack returns the least number of iterations between the write of a word of s and its first read by phase q. Both
// phases begin together. Turns and words come at even distances, so the first or the last of them has the least.
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

// read returns the clock of a turn at which a phase with sf clocks per word first reads word w of a store.
func (s *store) read(w, word, sf int, f dataflow.Fold) int {
	if s.vector {
		return w * word / f.SIMD
	}
	return (w+1)*sf - 1
}

// awaitStarts sets how many clocks lie before the first step: states arrive with PE units each per clock.
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

// headSlack returns the least number of iterations between the arrival of a state's word and its read by phase q of the
// first step. No idle clocks lie between.
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

// arrives reports whether the store holds a state whose initial value an input of the layer brings.
func (g *program) arrives(s *store) bool {
	for _, state := range g.params.Starts {
		if state == s.state {
			return true
		}
	}
	return false
}

// distance returns the least number of iterations between the write of a store's word and a read of it. It
// exceeds the store's latency.
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

// iterations returns the number of iterations of a frame. If the state is kept, the last step waits as all others do.
func iterations(o *op, t timing) int {
	n := t.head + t.rest + o.length*t.step
	if !o.P.Keeps {
		n -= t.phases[len(t.phases)-1].idle
	}
	return n
}

// latency returns the clocks from the start of a unit's last products in phase i until the values have arrived that are
// stored or written.
func latency(o *op, i int, f dataflow.Fold, t dataflow.Target) int {
	at := chains(o, i, f, t)
	last := 1
	written := func(c layer.PipelineChain) { last = max(last, c.DoStreamWrite()) }
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

// chains returns, by value of phase i, the chain of operations up to it, which says when the value is available.
func chains(o *op, i int, f dataflow.Fold, t dataflow.Target) []layer.PipelineChain {
	p, start := &o.phases[i], layer.NewCarriedChain(t)
	at := make([]layer.PipelineChain, len(p.values))
	for k := range p.values {
		at[k] = start // for constants
		if v := &p.values[k]; v.built() {
			at[k] = ready(o, i, v, at, start, f, t)
		}
	}
	return at
}

// ready returns the chain of operations up to the value v of phase i, behind those of its arguments in before.
// hlslib/price/delay times the operations.
func ready(o *op, i int, v *value, before []layer.PipelineChain, c layer.PipelineChain, f dataflow.Fold,
	t dataflow.Target,
) layer.PipelineChain {
	values, dsp := o.phases[i].values, f.Compute == dataflow.MultiplierInDSPs
	of := func(a int) (layer.PipelineChain, int) { return before[v.Of[a]], values[v.Of[a]].elem.Width }
	switch v.Op {
	case OpInput:
		c.DoStreamRead()
	case OpState, OpEarlierPhaseValue:
		c.DoCounterLookup(2, f.PE*v.elem.Width, dataflow.MemoryLUTRAM)
	case OpDot:
		c.DoCounterLookup(2, f.SIMD*o.vector.Width, dataflow.MemoryLUTRAM) // the vector
		o.unit.AppendDotProductToChain(&c, f, packing(o, f, t), o.rows(f))
		c.DoInOneStage(v.elem.Width, delay.OpSelect, delay.OpAdd)
	case OpLinear:
		terms := o.terms(i, v)
		for _, a := range terms {
			term, width := of(a)
			if p := &v.factors[a]; p.multiplies {
				term.DoProduct(width, p.elem.Width, dsp)
			}
			c.WaitForChain(term)
		}
		if o.adds(i, v) {
			c.DoReductionTree(len(terms)+1, v.elem.Width, delay.OpAdd) // with the bias
		}
	case OpProduct:
		a, wide := of(0)
		b, other := of(1)
		c.WaitForChain(a)
		c.WaitForChain(b)
		c.DoProduct(wide, other, dsp)
	case OpStepFunction:
		a, width := of(0)
		c.WaitForChain(a)
		c.DoStepFunctions(v.steps.form(f.PE), v.steps.compare, width, v.steps.beside(f.PE), dataflow.NoMemory)
	case OpRequant:
		a, width := of(0)
		c.WaitForChain(a)
		c.DoRequant(slowest(v.requant), width, dsp)
	}
	return c
}

// slowest returns a requantiser that takes as long as the slowest of the list in each respect. It multiplies if any of
// them does, and rounds if any does otherwise than down.
func slowest(list []num.Requant) num.Requant {
	q := list[0]
	for _, other := range list[1:] {
		if multiplies([]num.Requant{other}) && !multiplies([]num.Requant{q}) {
			q.Multiplier = other.Multiplier
		}
		if other.Shift > 0 && other.Mode != num.RoundingFloor {
			q.Shift, q.Mode = other.Shift, other.Mode
		}
	}
	return q
}

// adds reports whether the linear value v needs an adder, a factor or a bias, rather than passing on one value.
func (g *program) adds(i int, v *value) bool {
	terms := g.terms(i, v)
	return len(terms) != 1 || !v.bias.is(0) || !v.factors[terms[0]].is(1)
}

// multiplies reports whether any requantiser of the list needs a multiplier, and not only a shift.
func multiplies(list []num.Requant) bool {
	for _, q := range list {
		if q.Multiplier < 0 || !layer.IsShiftFactor(q.Multiplier) {
			return true
		}
	}
	return false
}
