package roll

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
)

// A recurrence is steps that a template describes.
type recurrence struct {
	*template
	states      []output // that the next step reads
	first, last int      // steps
	trail       []entry  // what a trial has noted
}

// An entry is something that is known of a part.
type entry struct {
	part *part
	at   moment
	done bool // that of part.done, else that of part.values
}

// follow finds all steps that a template describes.
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

// steps finds the steps around one.
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

// try takes back what is noted where f fails.
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

// note notes a value; it is false where there is another one.
func (r *recurrence) note(o output, step, v int) bool {
	at := moment{step, o.slot}
	if known, ok := o.part.values[at]; ok {
		return known == v
	}
	o.part.values[at] = v
	r.trail = append(r.trail, entry{part: o.part, at: at})
	return true
}

// whole holds that a step computes the states that are read behind it.
func (r *recurrence) whole(step int) bool {
	for _, s := range r.states {
		v, ok := s.part.values[moment{step, s.slot}]
		if !ok || !r.computes(s, step, v) {
			return false
		}
	}
	return !r.missing(step)
}

// missing reports whether parts of a step are not known.
func (r *recurrence) missing(step int) bool {
	for _, p := range r.parts {
		if p.node != nil && !p.done[step] {
			return true
		}
	}
	return false
}

// computes holds that a value of a step is computed as the template says, and notes what it is computed of.
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

// reads holds that a part reads a value where the template says so.
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

// element notes an element of a sequence.
func (r *recurrence) element(p *part, step, v int) bool {
	return v != none && r.numbers.values[v].constant == nil && r.like(v, r.any(output{p, 0})) &&
		r.note(output{p, 0}, step, v)
}

// any is a value of an output.
func (r *recurrence) any(o output) int {
	for _, step := range []int{o.part.time, o.part.time - 1} { // the two that were compared
		if v, ok := o.part.values[moment{step, o.slot}]; ok {
			return v
		}
	}
	panic("roll: a part without values")
}

// next looks for the step behind the last one: something reads the states.
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
	for _, p := range r.parts { // what nobody computes in the last step is computed all the same
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

// candidates are values that may be a state's: of nodes like its own that depend on a state of the step before, on the
// way on which its own does.
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

// reads is the output of another part of the same step that a part reads first.
func (p *part) reads(of *part) int {
	for _, in := range p.in {
		if in.part == of && p.delay(in) == 0 {
			return in.slot
		}
	}
	panic("roll: no way to a part")
}

// fits compares what a node reads in every step.
func (r *recurrence) fits(n *graph.Node, p *part) bool {
	for i, in := range p.in {
		if in.part == nil && r.number(n.Inputs[i]) != in.fixed {
			return false
		}
	}
	return true
}

// way is parts from the first reader of a state to a part, of one step.
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
