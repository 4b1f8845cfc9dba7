package execution

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// maxTogether is the largest number of functions of elements that are joined to one.
const maxTogether = 16

// WithJoinedElementFunctions returns a part for callers that need only its outputs. It joins each chain of functions of
// elements that ends in a rounding to one function. Run of that part does not return the values in between.
func (p *ProgramPart) WithJoinedElementFunctions() *ProgramPart {
	q := p.Fork()
	readers := map[string]int{}
	for _, name := range p.to {
		readers[name]++
	}
	for _, r := range q.runners {
		for _, name := range r.reads {
			readers[name]++
		}
	}
	by := map[string]int{} // the runner that computes each tensor
	for i, r := range q.runners {
		by[r.step.Output] = i
		for n := 1; n < maxTogether && r.stairs != nil; n++ {
			name := r.reads[r.elem.Args[r.stairs.variable]]
			k, computed := by[name]
			if !computed || readers[name] > 1 || r.product != nil {
				break
			}
			joined := q.runners[k].join(r)
			if joined == nil {
				break
			}
			q.runners[k], q.runners[i], r = nil, joined, joined
		}
	}
	q.runners = slices.DeleteFunc(q.runners, func(r *runner) bool { return r == nil })
	return q
}

// join returns a runner that computes r and then next, which rounds the output of r. It returns nil if the joint
// function has more than one variable that is not constant, or r itself rounds.
func (r *runner) join(next *runner) *runner {
	a, b := r.elem, next.elem
	switch {
	case r.product != nil && a == nil:
		a = &program.Elem{Expr: real.Var(0), Args: []int{0}, Index: make([]graph.ElementIndexMap, 1)}
	case a == nil || r.f.HasDiscreteOps() || a.Offset != nil:
		return nil
	}
	x := next.stairs.variable
	if graph.ElementCount(r.step.Shape) != graph.ElementCount(next.step.Shape) || !b.Index[x].IsIdentity() {
		return nil
	}
	e := &program.Elem{Args: slices.Clone(a.Args), Index: slices.Clone(a.Index)}
	j := *r
	j.step, j.elem, j.reads = next.step, e, slices.Clone(r.reads)
	with := make([]*real.Expr, len(b.Args)) // by variable of next
	for v, slot := range b.Args {
		if v == x {
			with[v] = a.Expr
			continue
		}
		with[v] = real.Var(len(e.Args))
		e.Args, e.Index = append(e.Args, len(j.reads)), append(e.Index, b.Index[v])
		j.reads = append(j.reads, next.reads[slot])
	}
	e.Expr = b.Expr.SubstituteVariables(with)
	if j.ready(); j.stairs == nil {
		return nil
	}
	return &j
}
