package frontend

import (
	"cmp"
	"slices"

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
	decideMost = 20_000
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
	*graph.Decided
	miss float64 // by how much outputs are beyond their bounds, together
}

// open lists the elements that may have several codes, in the order of the run.
func (t *trial) open() (list []decision) {
	t.Open(func(tensor string, i int, lo, hi float64) {
		list = append(list, decision{element{tensor, i}, lo, hi})
	})
	return list
}

// decided finds codes with which the given outputs come out, and returns the first tensor where these are not the exact
// ones; it is empty where none were found. Codes are changed one at a time, or two where no single change brings the
// outputs nearer.
func (c *Comparer) decided(part *graph.Part, in []*graph.Reals, given []dataflow.RealTensor,
	exact map[string]*graph.Reals) string {
	if hull, _ := part.Bounds32(in, nil); !c.holds(hull, given) {
		return "" // no codes give these outputs
	}
	s := &decider{c, given, exact, map[element]float64{}, trial{}, max(decideWork, 8*part.Work()), decideMost}
	s.now = s.judged(part.Decide(in, s.choose))
	for s.now.miss > 0 && (s.changeBest() || s.change(2, &s.now) || s.change(3, &s.now)) {
	}
	if !(s.now.miss == 0) {
		return ""
	}
	for _, d := range s.now.open() {
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
	given []dataflow.RealTensor
	exact map[string]*graph.Reals
	taken map[element]float64 // codes that are not the exact ones
	now   trial
	work  int // that is left, as Decided counts it
	runs  int // that are left
}

// code is the code that is to be taken at an element.
func (s *decider) code(at element) float64 {
	if v, ok := s.taken[at]; ok {
		return v
	}
	return s.exact[at.tensor].Lo[at.i]
}

func (s *decider) choose(tensor string, i int, lo, hi float64) float64 {
	return max(lo, min(hi, s.code(element{tensor, i})))
}

// left reports whether there is work left to do.
func (s *decider) left() bool { return s.work > 0 && s.runs > 0 }

// run is a trial again, with another code of an element.
func (s *decider) run(t *trial, at element) trial {
	return s.judged(t.Again(at.tensor, at.i, s.choose))
}

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

// A change is another code of an element, and by how much it brings outputs nearer.
type change struct {
	at   element
	code float64
	gain float64
}

// changeBest tries the other codes of every open element, one at a time, and takes the one that brings outputs nearest.
// A code far in front changes everything behind it: the first one that helps a little mostly helps by chance. Of the
// others it takes those that bring outputs as much nearer behind the best as they do alone, as codes of different
// outputs do. It reports whether any brought them nearer.
func (s *decider) changeBest() bool {
	var nearer []change
	now := s.now
	for _, d := range now.open() {
		for v := d.lo; v <= d.hi && s.left(); v++ {
			if v == s.code(d.at) {
				continue
			}
			var t trial
			s.with(d.at, v, func() bool {
				t = s.run(&now, d.at)
				return t.miss == 0
			})
			if t.miss == 0 {
				s.now = t
				return true
			}
			if t.miss < now.miss {
				nearer = append(nearer, change{d.at, v, now.miss - t.miss})
			}
		}
	}
	slices.SortStableFunc(nearer, func(a, b change) int { return cmp.Compare(b.gain, a.gain) })
	for i, c := range nearer {
		s.with(c.at, c.code, func() bool {
			t := s.run(&s.now, c.at)
			if i > 0 && s.now.miss-t.miss < c.gain*(1-0x1p-20) {
				return false
			}
			s.now = t
			return true
		})
		if s.now.miss == 0 {
			break
		}
	}
	return len(nearer) > 0
}

// with takes another code of an element for a trial, and for good where that says so.
func (s *decider) with(at element, code float64, try func() bool) {
	was, had := s.taken[at]
	s.taken[at] = code
	if try() {
		return
	}
	if delete(s.taken, at); had {
		s.taken[at] = was
	}
}

// change tries other codes at so many open elements of a run together, and reports whether outputs came nearer. What is
// open depends on the codes in front of it.
func (s *decider) change(several int, of *trial) bool {
	for _, d := range of.open() {
		was, had := s.taken[d.at]
		now := s.code(d.at)
		for v := d.lo; v <= d.hi && s.left(); v++ {
			if v == now {
				continue
			}
			s.taken[d.at] = v
			t := s.run(of, d.at)
			if t.miss < s.now.miss {
				s.now = t
				return true
			}
			if several > 1 && s.change(several-1, &t) {
				return true
			}
		}
		if s.taken[d.at] = was; !had {
			delete(s.taken, d.at)
		}
	}
	return false
}
