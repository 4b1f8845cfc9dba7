package frontend

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
)

// No list of executors holds every order in which a float32 program may add and multiply. So a near tie is looked for
// in the other direction, too: at every element that float32 may round to several codes, within the bounds of its slice
// given the codes in front of it, one of them is taken such that the given outputs come out. Whatever is found is
// within the bounds at every quantiser, and at the outputs.

// decideWork bounds the work of a search, decideRuns does where runs of the whole part take more, and decideMost its
// trials.
const (
	decideWork = 2_000_000_000
	decideRuns = 24
	decideMost = 20_000
)

type element struct {
	tensor string
	i      int
}

// A trial is a run with some codes.
type trial struct {
	*graph.Decided
	miss float64 // by how much outputs are beyond their bounds, together
}

// decided finds codes with which the given outputs come out, and returns the first tensor where these are not the exact
// ones; it is empty where none were found.
func (c *Comparer) decided(part *graph.Part, in []*graph.Reals, given []dataflow.RealTensor,
	exact map[string]*graph.Reals) string {
	if hull, _ := part.Bounds32(in, nil); !c.holds(hull, given) {
		return "" // no codes give these outputs
	}
	s := &decider{c, given, exact, map[element]float64{}, max(decideWork, decideRuns*part.Work()), decideMost}
	found, ok := s.from(s.judged(part.Decide(in, s.choose)), nil)
	if !ok {
		return ""
	}
	first := ""
	found.Open(func(tensor string, i int, _, _ float64) {
		if first == "" && found.All[tensor].Lo[i] != exact[tensor].Lo[i] {
			first = tensor
		}
	})
	return first
}

// holds reports whether outputs are within bounds.
func (c *Comparer) holds(bounds map[string]*graph.Reals, given []dataflow.RealTensor) bool {
	_, _, ok := c.within(bounds, given)
	return ok
}

type decider struct {
	*Comparer
	given []dataflow.RealTensor
	exact map[string]*graph.Reals
	taken map[element]float64 // codes that were chosen
	work  int                 // that is left, as Decided counts it
	runs  int                 // that are left
}

// choose takes the code that was chosen for an element; else that of the exact value, given the codes in front of it.
func (s *decider) choose(tensor string, i int, lo, hi, near float64) float64 {
	if v, ok := s.taken[element{tensor, i}]; ok {
		near = v
	} else if math.IsNaN(near) {
		near = s.exact[tensor].Lo[i]
	}
	return max(lo, min(hi, near))
}

// left reports whether there is work left to do.
func (s *decider) left() bool { return s.work > 0 && s.runs > 0 }

func (s *decider) judged(d *graph.Decided) (t trial) {
	s.work, s.runs = s.work-d.Work, s.runs-1
	t.Decided = d
	for k, name := range s.outs {
		for i, v := range s.given[k].Data {
			t.miss += max(0, d.All[name].Lo[i]-v, v-d.All[name].Hi[i])
		}
	}
	return t
}

// with runs a trial again with the codes of some changes besides, which are taken for good where keep says so. It
// gives up, and misses by more than anything does, where what comes out was met.
func (s *decider) with(t *trial, changes []change, met *graph.Met, keep func(trial) bool) trial {
	was := s.taken
	s.taken = maps.Clone(was)
	next := *t
	for _, c := range changes {
		for k, i := range c.of {
			s.taken[element{c.tensor, i}] = c.codes[k]
		}
		again := next.Again(c.tensor, c.of, s.choose, met)
		if again == nil {
			s.runs--
			s.taken = was
			return trial{miss: math.Inf(1)}
		}
		next = s.judged(again)
	}
	if !keep(next) {
		s.taken = was
	}
	return next
}

// A child is a trial that is nearer than another one, by some changes.
type child struct {
	changes []change
	miss    float64
}

// from looks for a trial that gives the outputs, from one that does not, and the other codes that it takes are then
// those of s. A change that brings outputs much nearer is gone on from at once. Of the others each is tried: a code
// far in front changes everything behind it, and what helps a little mostly helps by chance. The best are gone on from,
// with those that bring outputs as much nearer behind it as they do alone, as codes of different outputs do. tried has
// what did not help in front of this.
func (s *decider) from(t trial, tried map[element]bool) (trial, bool) {
	if t.miss == 0 {
		return t, true
	}
	changes := s.changes(&t, tried)
	after := maps.Clone(tried)
	if after == nil {
		after = map[element]bool{}
	}
	var nearer, aside []child
	met := new(graph.Met)
	look := func(changes ...change) (found trial, ok bool) {
		was, with := s.taken, met
		if len(changes) > 1 {
			with = nil
		}
		u := s.with(&t, changes, with, func(u trial) bool { return u.miss < t.miss*muchNearer })
		if u.miss < t.miss*muchNearer {
			if found, ok = s.from(u, after); ok {
				return found, true
			}
			s.taken = was
		} else if u.miss < t.miss {
			nearer = append(nearer, child{changes, u.miss})
		} else if u.miss < 4*t.miss {
			aside = append(aside, child{changes, u.miss})
		}
		for _, c := range changes {
			after[element{c.tensor, c.of[0]}] = true
		}
		return trial{}, false
	}
	for _, c := range changes {
		if found, ok := look(c); ok || !s.left() {
			return found, ok
		}
	}
	if found, ok := s.behind(t, nearer, after); ok || !s.left() {
		return found, ok
	}
	if found, ok := s.beside(t, aside, changes, after); ok || !s.left() {
		return found, ok
	}
	changes = slices.DeleteFunc(changes, func(c change) bool { return len(c.of) > 1 })
	for _, n := range several {
		for combined := range combinations(changes[:min(n.of, len(changes))], n.size) {
			if found, ok := look(combined...); ok || !s.left() {
				return found, ok
			}
		}
	}
	return trial{}, false
}

const (
	muchNearer = 0.6 // of what outputs miss, what is gone on from at once misses
	children   = 3   // how many that are a little nearer are gone on from
	besides    = 12  // how many that are no nearer are looked at, and at how many codes that only these may have
)

// several says how many changes are tried at a time, of how many, where none alone helps.
var several = []struct{ size, of int }{{2, 24}, {3, 12}}

// behind goes on from the best of what is a little nearer than a trial.
func (s *decider) behind(t trial, nearer []child, tried map[element]bool) (found trial, ok bool) {
	slices.SortStableFunc(nearer, func(a, b child) int { return cmp.Compare(a.miss, b.miss) })
	for i, c := range nearer[:min(children, len(nearer))] {
		was := s.taken
		now := s.with(&t, c.changes, nil, func(trial) bool { return true })
		for k, other := range nearer {
			if k == i || now.miss == 0 || !s.left() {
				continue
			}
			gain := (t.miss - other.miss) * (1 - 0x1p-20)
			as := func(u trial) bool { return now.miss-u.miss >= gain }
			if u := s.with(&now, other.changes, nil, as); as(u) {
				now = u
			}
		}
		if found, ok = s.from(now, tried); ok || !s.left() {
			return found, ok
		}
		s.taken = was
	}
	return trial{}, false
}

// beside tries, behind changes that bring outputs no nearer, what may be changed there alone: a code that lies at a
// boundary only then.
func (s *decider) beside(t trial, aside []child, changes []change, tried map[element]bool) (found trial, ok bool) {
	open := map[element]bool{}
	for _, c := range changes {
		open[element{c.tensor, c.of[0]}] = true
	}
	slices.SortStableFunc(aside, func(a, b child) int { // those that changed something first
		return cmp.Or(cmp.Compare(one(a.miss == t.miss), one(b.miss == t.miss)), cmp.Compare(a.miss, b.miss))
	})
	for _, c := range aside[:min(besides, len(aside))] {
		was := s.taken
		now := s.with(&t, c.changes, nil, func(trial) bool { return true })
		there := slices.DeleteFunc(s.changes(&now, nil), func(c change) bool {
			return len(c.of) > 1 || open[element{c.tensor, c.of[0]}]
		})
		for _, c := range there[:min(besides, len(there))] {
			before := s.taken
			nearer := func(u trial) bool { return u.miss < t.miss }
			if u := s.with(&now, []change{c}, nil, nearer); nearer(u) {
				if found, ok = s.from(u, tried); ok {
					return found, true
				}
			}
			if s.taken = before; !s.left() {
				return trial{}, false
			}
		}
		s.taken = was
	}
	return trial{}, false
}

// one returns 1 for true, 0 for false.
func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
