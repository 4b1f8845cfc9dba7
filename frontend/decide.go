package frontend

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
)

// No list of executors covers every order in which a float32 program may add and multiply. So a near tie is also
// searched for backwards. Given the codes before it, the bounds of an element's slice may leave several codes possible
// in float32. The search chooses among these so that the given outputs result. Its result is within the bounds at every
// quantiser and at the outputs.

// decideWork bounds the work of a search, in the unit of execution.ChosenCodesRun.Work. decideRuns raises that bound to
// as many runs of the whole part. decideMost bounds the number of trials.
const (
	decideWork = 2_000_000_000
	decideRuns = 24
	decideMost = 20_000
)

type element struct {
	tensor string
	i      int
}

// A trial is a run in which some codes were chosen, and how far its outputs are from the given ones.
type trial struct {
	*execution.ChosenCodesRun
	miss float64 // the total distance of outputs from their bounds
}

// decided searches for codes that produce the given outputs. It returns the name of the first tensor in which such
// codes differ from the exact ones, or "" if it finds none.
func (c *OutputComparer) decided(part *execution.ProgramPart, in []*program.Reals, given []dataflow.RealTensor,
	exact map[string]*program.Reals) string {
	if hull, _ := part.BoundFloat32Values(in, nil); !c.holds(hull, given) {
		return "" // no choice of codes gives these outputs
	}
	s := &decider{c, given, exact, map[element]float64{}, max(decideWork, decideRuns*part.EstimatedProducts()),
		decideMost}
	found, ok := s.from(s.judged(part.RunFloat32BoundsChoosingCodes(in, s.choose)), nil)
	if !ok {
		return ""
	}
	first := ""
	found.VisitAmbiguousElements(func(tensor string, i int, _, _ float64) {
		if first == "" && found.All[tensor].Lo[i] != exact[tensor].Lo[i] {
			first = tensor
		}
	})
	return first
}

// holds reports whether the outputs are within bounds.
func (c *OutputComparer) holds(bounds map[string]*program.Reals, given []dataflow.RealTensor) bool {
	_, _, ok := c.within(bounds, given)
	return ok
}

type decider struct {
	*OutputComparer
	given []dataflow.RealTensor
	exact map[string]*program.Reals
	taken map[element]float64 // the codes chosen so far
	work  int                 // the remaining work, in the unit of execution.ChosenCodesRun.Work
	runs  int                 // the remaining trials
}

// choose returns the code chosen for an element. If none is chosen, it returns the code nearest to the exact value,
// given the codes before it.
func (s *decider) choose(tensor string, i int, lo, hi, near float64) float64 {
	if v, ok := s.taken[element{tensor, i}]; ok {
		near = v
	} else if math.IsNaN(near) {
		near = s.exact[tensor].Lo[i]
	}
	return max(lo, min(hi, near))
}

// left reports whether the search may do more work and try more runs.
func (s *decider) left() bool { return s.work > 0 && s.runs > 0 }

func (s *decider) judged(d *execution.ChosenCodesRun) (t trial) {
	s.work, s.runs = s.work-d.Work, s.runs-1
	t.ChosenCodesRun = d
	for k, name := range s.outs {
		for i, v := range s.given[k].Data {
			t.miss += max(0, d.All[name].Lo[i]-v, v-d.All[name].Hi[i])
		}
	}
	return t
}

// with repeats a trial with the codes of some changes added, and returns the result. It keeps the codes if keep returns
// true for the result. If the intermediate result was met before, it gives up and returns a trial with an infinite
// miss.
func (s *decider) with(t *trial, changes []change, met *execution.VisitedRunStates, keep func(trial) bool) trial {
	was := s.taken
	s.taken = maps.Clone(was)
	next := *t
	for _, c := range changes {
		for k, i := range c.of {
			s.taken[element{c.tensor, i}] = c.codes[k]
		}
		again := next.RerunWithCodes(c.tensor, c.of, s.choose, met)
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

// A child is a set of changes that bring a trial nearer to the given outputs.
type child struct {
	changes []change
	miss    float64
}

// from continues trial t, which misses the given outputs, until a trial produces them; s.taken then holds the chosen
// codes. A change that brings the outputs much nearer is followed at once. All other changes are tried first: an early
// code changes everything after it, and a small gain is mostly chance. The search then follows the best of them,
// together with changes whose gain is the same after it as alone, as with codes of different outputs. tried holds the
// elements that did not help before.
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
	met := new(execution.VisitedRunStates)
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
	muchNearer = 0.6 // follow a change at once if the miss falls below this share
	children   = 3   // the number of slightly nearer changes to follow
	besides    = 12  // how many changes without gain to follow, and how many new changes to try after each
)

// several lists how many changes to try together, and among how many, if no single change helps.
var several = []struct{ size, of int }{{2, 24}, {3, 12}}

// behind follows the best of the slightly nearer changes.
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

// beside follows changes without gain and tries the elements that become open only after them: their values lie at a
// rounding boundary only then.
func (s *decider) beside(t trial, aside []child, changes []change, tried map[element]bool) (found trial, ok bool) {
	open := map[element]bool{}
	for _, c := range changes {
		open[element{c.tensor, c.of[0]}] = true
	}
	slices.SortStableFunc(aside, func(a, b child) int { // first those that changed the outputs at all
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

// one returns 1 for true and 0 for false.
func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
