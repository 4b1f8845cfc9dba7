package frontend

import (
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
)

// No list of executors holds every order in which a float32 program may add and multiply. So a near tie is looked for
// in the other direction, too: at every element that float32 may round to several codes, within the bounds of its slice
// given the codes in front of it, one of them is taken such that the given outputs come out. Whatever is found is
// within the bounds at every quantiser, and at the outputs.

// decideWork bounds the products that a search may add up, and decideMost its runs.
const (
	decideWork = 1_500_000_000
	decideMost = 2000
)

// A decision is an element of a quantiser that float32 may round to codes from lo to hi.
type decision struct {
	at     element
	lo, hi float64
}

type element struct {
	tensor string
	i      int
}

// A trial is a run with some codes.
type trial struct {
	open []decision // in the order of the run
	miss float64    // by how much outputs are beyond their bounds, together
}

// decided finds codes with which the given outputs come out, and returns the first tensor where these are not the exact
// ones; it is empty where none were found. Codes are changed one at a time, or two where no single change brings the
// outputs nearer.
func (c *Comparer) decided(part *graph.Part, in []*graph.Reals, given []dataflow.RealTensor,
	exact map[string]*graph.Reals) string {
	if hull, _ := part.Bounds32(in, nil); !c.holds(hull, given) {
		return "" // no codes give these outputs
	}
	s := &decider{c, part, in, given, exact, map[element]float64{}, trial{},
		min(decideMost, max(8, decideWork/max(1, part.Work())))}
	s.now = s.run()
	for s.now.miss > 0 && (s.changeBest() || s.change(2, s.now.open) || s.change(3, s.now.open)) {
	}
	if !(s.now.miss == 0) {
		return ""
	}
	for _, d := range s.now.open {
		if s.code(d.at) != exact[d.at.tensor].Lo[d.at.i] {
			return d.at.tensor
		}
	}
	return ""
}

// holds reports whether outputs are within bounds.
func (c *Comparer) holds(bounds map[string]*graph.Reals, given []dataflow.RealTensor) bool {
	_, _, ok := c.within(bounds, given)
	return ok
}

type decider struct {
	*Comparer
	part  *graph.Part
	in    []*graph.Reals
	given []dataflow.RealTensor
	exact map[string]*graph.Reals
	taken map[element]float64 // codes that are not the exact ones
	now   trial
	left  int // runs
}

// code is the code that is to be taken at an element.
func (s *decider) code(at element) float64 {
	if v, ok := s.taken[at]; ok {
		return v
	}
	return s.exact[at.tensor].Lo[at.i]
}

func (s *decider) run() (t trial) {
	s.left--
	all := s.part.Decide(s.in, func(tensor string, i int, lo, hi float64) float64 {
		at := element{tensor, i}
		t.open = append(t.open, decision{at, lo, hi})
		return max(lo, min(hi, s.code(at)))
	})
	for k, name := range s.outs {
		for i, v := range s.given[k].Data {
			t.miss += max(0, all[name].Lo[i]-v, v-all[name].Hi[i])
		}
	}
	return t
}

// changeBest tries the other codes of every open element, one at a time, takes the one that brings outputs nearest, and
// reports whether any brought them nearer. A code far in front changes everything behind it: the first one that helps a
// little mostly helps by chance.
func (s *decider) changeBest() bool {
	best, now := s.now, s.now
	var at element
	var code float64
	for _, d := range now.open {
		was, had := s.taken[d.at]
		for v := d.lo; v <= d.hi && s.left > 0 && best.miss > 0; v++ {
			if v == s.code(d.at) {
				continue
			}
			s.taken[d.at] = v
			if t := s.run(); t.miss < best.miss {
				best, at, code = t, d.at, v
			}
			if delete(s.taken, d.at); had {
				s.taken[d.at] = was
			}
		}
	}
	if best.miss == now.miss {
		return false
	}
	s.taken[at], s.now = code, best
	return true
}

// change tries other codes at so many open elements together, and reports whether outputs came nearer. What is
// open depends on the codes in front of it.
func (s *decider) change(several int, open []decision) bool {
	for _, d := range open {
		was, had := s.taken[d.at]
		now := s.code(d.at)
		for v := d.lo; v <= d.hi && s.left > 0; v++ {
			if v == now {
				continue
			}
			s.taken[d.at] = v
			t := s.run()
			if t.miss < s.now.miss {
				s.now = t
				return true
			}
			if several > 1 && s.change(several-1, t.open) {
				return true
			}
		}
		if s.taken[d.at] = was; !had {
			delete(s.taken, d.at)
		}
	}
	return false
}
