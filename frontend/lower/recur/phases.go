package recur

import (
	"fmt"
	"slices"

	"hlsgen/frontend/lower/unmapped"
	"hlsgen/hlslib/rnn"
)

// A phase computes the sums over one vector, and the codes that can be computed as soon as these are known.
type phase struct {
	vector *vector
	class  *class
	sums   []*value // none if the phase reads no vector
	others []*value // other values of the class, in order
}

// A schedule is the list of phases in order, with the positions of values.
type schedule struct {
	*network
	classes []*class
	of      map[*value]*class
	phases  []*phase
	lanes   []*value
	at      map[*value]int // phase of each value; states are in none
}

// schedule orders the needed values in phases, of which only the first reads the input. The error is the reason why
// that is impossible.
func (b *network) schedule() (*schedule, error) {
	b.order = b.needed()
	s := &schedule{network: b, classes: b.classes(), of: map[*value]*class{}, at: map[*value]int{}}
	var waiting []*phase
	for _, c := range s.classes {
		first := len(waiting)
		for _, v := range c.values {
			s.of[v] = c
			switch v.kind {
			case sum:
				k := slices.IndexFunc(waiting[first:], func(p *phase) bool { return p.vector == v.vector })
				if k < 0 {
					k = len(waiting) - first
					waiting = append(waiting, &phase{vector: v.vector, class: c})
				}
				waiting[first+k].sums = append(waiting[first+k].sums, v)
			case lane:
				s.lanes = append(s.lanes, v)
			}
		}
		if len(waiting) == first || s.reads(c) && !slices.ContainsFunc(waiting[first:], overState) {
			waiting = append(waiting, &phase{vector: &vector{}, class: c})
		}
	}
	for _, v := range s.lanes {
		if s.of[v] != s.of[s.lanes[0]] {
			return nil, unmapped.NewReason(fmt.Sprintf("its body has no layer: products of the input meet "+
				"values of %d "+
				"elements in one place, and of %d in another", s.lanes[0].units, v.units),
				"one loop reads its input in one place: compute one of these products outside of the loop")
		}
	}
	for len(waiting) > 0 {
		k := slices.IndexFunc(waiting, func(p *phase) bool {
			return (len(s.phases) > 0 || len(s.lanes) == 0 || p.class == s.of[s.lanes[0]]) && s.ready(p)
		})
		if k < 0 {
			return nil, newUnsupported("its %d products wait for each other", len(waiting))
		}
		s.add(waiting[k])
		waiting = slices.Delete(waiting, k, k+1)
	}
	return s, nil
}

// needed returns the values on which outputs and states depend, in order. It drops states that nothing needs.
func (b *network) needed() []*value {
	need := map[*value]bool{}
	var visit func(v *value)
	visit = func(v *value) {
		if v == nil || need[v] {
			return
		}
		need[v] = true
		for _, a := range v.args {
			visit(a)
		}
		switch {
		case v.kind == state:
			visit(b.states[v.state].value)
		case v.kind == sum && v.vector.of != nil:
			visit(v.vector.of)
		case v.kind == sum:
			visit(b.states[v.vector.state].value)
			visit(b.states[v.vector.state].found)
		}
	}
	for _, o := range b.outputs {
		if o != nil {
			visit(o.value)
		}
	}
	for k := range b.states {
		if st := &b.states[k]; !need[st.value] && !need[st.found] {
			st.value = nil
		}
	}
	return slices.DeleteFunc(slices.Clone(b.order), func(v *value) bool { return !need[v] })
}

func overState(p *phase) bool { return p.vector.of == nil }

// reads reports whether a class reads the input.
func (s *schedule) reads(c *class) bool {
	return slices.ContainsFunc(c.values, func(v *value) bool { return v.kind == lane })
}

// ready reports whether the earlier phases compute the vector over which a phase sums.
func (s *schedule) ready(p *phase) bool {
	if p.vector.of == nil {
		return true
	}
	_, ok := s.at[p.vector.of]
	return ok
}

// add appends a phase, with everything that can be computed as soon as its sums are known.
func (s *schedule) add(p *phase) {
	n := len(s.phases)
	s.phases = append(s.phases, p)
	if n == 0 {
		for _, v := range s.lanes {
			s.at[v] = 0
		}
	}
	for _, v := range p.sums {
		s.at[v] = n
	}
	for _, v := range p.class.values {
		if _, done := s.at[v]; done || v.kind == lane || v.kind == sum {
			continue
		}
		if !slices.ContainsFunc(v.args, func(a *value) bool {
			_, known := s.at[a]
			return !known && a.kind != state
		}) {
			s.at[v] = n
			p.others = append(p.others, v)
		}
	}
}

// cell simplifies the network, finds its integers and writes it as a program. The error is the reason why no layer runs
// it, such as that outputs do not depend on earlier time steps.
func (b *network) cell() (*CellProgram, error) {
	b.bounds()
	b.removeDead()
	b.fuse()
	b.order = b.needed()
	if !slices.ContainsFunc(b.states, func(s stateOf) bool { return s.value != nil }) {
		return nil, newUnsupported("nothing that goes out depends on the step before: compute it outside of the loop")
	}
	b.widen()
	order := b.order
	b.order = nil
	for _, v := range order {
		if v.kind == code {
			more, reject := b.settle(v)
			if reject != nil {
				return nil, reject
			}
			b.order = append(b.order, more...)
		}
		b.order = append(b.order, v)
	}
	s, reject := b.schedule()
	if reject != nil {
		return nil, reject
	}
	w := &writer{schedule: s, cell: &CellProgram{}, refs: map[*value]rnn.ValueRef{}}
	if reject := w.write(); reject != nil {
		return nil, reject
	}
	if err := (rnn.Params{Cells: []rnn.Cell{w.cell.Program}, Outputs: []rnn.ValueRef{{}}}).Verify(); err != nil {
		panic(fmt.Sprintf("recur: a cell that is none: %v", err))
	}
	return w.cell, nil
}
