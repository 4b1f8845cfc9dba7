package roll

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
)

// A recurrence is a sequence of steps that match a template, with the values that the steps compute.
type recurrence struct {
	*template
	states      []output // the outputs that the next step reads
	first, last int      // the numbers of the first and the last step
	trail       []entry  // what has been recorded, so that try can undo it
}

// An entry is a fact about a part, recorded so that it can be undone.
type entry struct {
	part *part
	at   moment
	done bool // the fact stands in part.done, otherwise in part.values
}

// follow returns the recurrence of all steps that match a template, which it changes. ok is false if no part reads the
// step before, if parts lie more than one step apart, or if steps are too few.
func follow(t *template) (r *recurrence, ok bool) {
	r = &recurrence{template: t}
	early, late := math.MaxInt, math.MinInt
	seen := map[output]bool{}
	for _, p := range t.parts {
		shifted := map[moment]int{}
		for at, v := range p.values {
			shifted[moment{at.step + p.time, at.slot}] = v
		}
		p.values = shifted
		if p.node == nil {
			continue
		}
		early, late = min(early, p.time), max(late, p.time)
		for _, o := range p.in {
			if o.part != nil && o.part.node != nil && p.delay(o) == 1 && !seen[o.output] {
				seen[o.output] = true
				r.states = append(r.states, o.output)
			}
		}
	}
	return r, len(r.states) > 0 && late-early <= 1 && r.steps(early)
}

// steps finds and records all steps before and after the step with number from. It returns false if there are too few
// for a recurrence.
func (r *recurrence) steps(from int) bool {
	r.first, r.last = from, from
	if !r.whole(from) {
		return false
	}
	for r.try(func() bool { return r.whole(r.first - 1) }) {
		r.first--
	}
	if r.try(r.begins) {
		r.first--
	}
	for r.try(func() bool { return r.next(r.last + 1) }) {
		r.last++
		if r.missing(r.last) {
			break
		}
	}
	return r.last > r.first
}

// try calls f and returns its result. If that is false, it undoes everything that f has recorded.
func (r *recurrence) try(f func() bool) bool {
	at := len(r.trail)
	if f() {
		return true
	}
	for _, e := range r.trail[at:] {
		if e.done {
			delete(e.part.done, e.at.step)
		} else {
			delete(e.part.values, e.at)
		}
	}
	r.trail = r.trail[:at]
	return false
}

// note records that output o has value v in a step. It returns false if another value is recorded already.
func (r *recurrence) note(o output, step, v int) bool {
	at := moment{step, o.slot}
	if known, ok := o.part.values[at]; ok {
		return known == v
	}
	o.part.values[at] = v
	r.trail = append(r.trail, entry{part: o.part, at: at})
	return true
}

// whole reports whether every part of a step is found, and the step computes the recorded values of all states.
func (r *recurrence) whole(step int) bool {
	for _, s := range r.states {
		v, ok := s.part.values[moment{step, s.slot}]
		if !ok || !r.computes(s, step, v) {
			return false
		}
	}
	return !r.missing(step)
}

// missing reports whether some part of a step has not been found yet.
func (r *recurrence) missing(step int) bool {
	for _, p := range r.parts {
		if p.node != nil && !p.done[step] {
			return true
		}
	}
	return false
}

// computes reports whether value v is output o of a step, computed as the template says. It records v and the values
// from which it is computed. If it returns false, some records may remain, which try undoes.
func (r *recurrence) computes(o output, step, v int) bool {
	p := o.part
	if !r.note(o, step, v) {
		return false
	}
	if p.node == nil || p.done[step] {
		return true
	}
	if v == none {
		return false
	}
	is := r.numbers.values[v]
	if is.node == nil || is.slot != o.slot || !same(is.node, p.node) {
		return false
	}
	r.doneWith(p, step)
	for slot, name := range is.node.Outputs {
		if r.depending(name) && !r.note(output{p, slot}, step, r.of[name]) {
			return false
		}
	}
	for i, in := range p.in {
		if !r.reads(p, in, step, r.number(is.node.Inputs[i])) {
			return false
		}
	}
	return true
}

func (r *recurrence) doneWith(p *part, step int) {
	p.done[step] = true
	r.trail = append(r.trail, entry{p, moment{step: step}, true})
}

// reads reports whether value v fits operand in of part p in a step. If so, it records v as that operand.
func (r *recurrence) reads(p *part, in operand, step, v int) bool {
	switch {
	case in.part == nil:
		return v == in.fixed
	case in.part.node == nil:
		return r.element(in.part, step-p.delay(in), v)
	case p.delay(in) == 0:
		return r.computes(in.output, step, v)
	}
	return v != none && r.note(in.output, step-1, v)
}

// element records v as the element of sequence p that belongs to a step. It returns false if v is constant, or has
// another shape or type than the other elements.
func (r *recurrence) element(p *part, step, v int) bool {
	return v != none && r.numbers.values[v].constant == nil && r.like(v, r.any(output{p, 0})) &&
		r.note(output{p, 0}, step, v)
}

// any returns the value of output o in one of the two steps that were compared for the template. It panics if o has
// none.
func (r *recurrence) any(o output) int {
	for _, step := range []int{o.part.time, o.part.time - 1} { // the two steps that were compared
		if v, ok := o.part.values[moment{step, o.slot}]; ok {
			return v
		}
	}
	panic("roll: a part without values")
}

// next reports whether there is a further step, with the given number. If so, it records that step. The step's states
// must come from nodes that read the states of the step before and match the template.
func (r *recurrence) next(step int) bool {
	found := false
	for _, s := range r.states {
		list := r.candidates(s, step)
		if v, ok := s.part.values[moment{step, s.slot}]; ok {
			list = []int{v}
		}
		found = slices.ContainsFunc(list, func(v int) bool {
			return r.try(func() bool { return r.computes(s, step, v) })
		}) || found
	}
	if !found {
		return false
	}
	for _, p := range r.parts { // the last step computes these values even if no node computes them in the file
		for _, in := range p.in {
			if in.part == nil || in.part.node != nil && p.delay(in) == 0 {
				continue
			}
			if _, ok := in.part.values[moment{step - p.delay(in), in.slot}]; !ok {
				return false
			}
		}
	}
	return true
}

// candidates returns the values that state s may have in a step. It finds them by following the operators from a state
// of the step before to s.
func (r *recurrence) candidates(s output, step int) []int {
	readers := r.numbers.readersOf()
	way, from := r.way(s.part)
	if way == nil {
		return nil
	}
	v, ok := from.part.values[moment{step - 1, from.slot}]
	if !ok {
		return nil
	}
	at := []int{v}
	for k, p := range way {
		next := s.slot
		if k+1 < len(way) {
			next = way[k+1].reads(p)
		}
		var list []int
		seen := map[*graph.Node]bool{}
		for _, v := range at {
			for _, n := range readers[v] {
				if !seen[n] && same(n, p.node) && !p.done[step] && r.fits(n, p) {
					seen[n] = true
					list = append(list, r.number(n.Outputs[next]))
				}
			}
		}
		at = list
	}
	return at
}

// reads returns the slot of the first output of part of that p reads in the same step. It panics if there is none.
func (p *part) reads(of *part) int {
	for _, in := range p.in {
		if in.part == of && p.delay(in) == 0 {
			return in.slot
		}
	}
	panic("roll: no way to a part")
}

// fits reports whether the inputs of node n have the values that part p shares among all steps.
func (r *recurrence) fits(n *graph.Node, p *part) bool {
	for i, in := range p.in {
		if in.part == nil && r.number(n.Inputs[i]) != in.fixed {
			return false
		}
	}
	return true
}

// way returns the parts on the shortest way, within one step, to the part to. The way begins at a part that reads a
// state of the step before; from is that state. It returns nil if there is no such way.
func (r *recurrence) way(to *part) (parts []*part, from output) {
	before := map[*part]*part{to: nil}
	list := []*part{to}
	for at := 0; at < len(list); at++ {
		p := list[at]
		for _, in := range p.in {
			if in.part == nil || in.part.node == nil {
				continue
			}
			if p.delay(in) == 1 {
				for ; p != nil; p = before[p] {
					parts = append(parts, p)
				}
				return parts, in.output
			}
			if _, seen := before[in.part]; !seen {
				before[in.part] = p
				list = append(list, in.part)
			}
		}
	}
	return nil, output{}
}
