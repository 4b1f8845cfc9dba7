package steps

import (
	"slices"

	"hlsgen/internal/num"
)

// Forms are proved again and again, of many functions with many breakpoints. Values are looked at in their order, or
// nearly so, and what is found of one leads to the next.

// A Difference is where a form is wrong.
type Difference struct {
	Function int
	Value    int64
}

// Differs is a value for which a form gives another code than a function, and that function; nil where it gives the
// same for all values, or, where it multiplies, for all that occur. Between two breakpoints, and two borders of what
// tables have rows for, nothing changes, and a line that is the same at both ends is so between them. A row without a
// breakpoint has nothing but the function's code of its first value.
func (f *Functions) Differs(form Form) *Difference {
	f.bind()
	return f.differs(form)
}

func (f *Functions) differs(form Form) *Difference {
	root := f.root()
	root.share.mutex.Lock()
	defer root.share.mutex.Unlock()
	proofs := root.share.proofs(form, f.of, len(root.compare.At))
	for n := range f.list {
		if proofs != nil && f.origin[n] >= 0 && proofs[f.origin[n]] {
			continue
		}
		all := f.of.Range()
		if _, ok := form.(*Scaled); ok {
			all = f.in[min(n, len(f.in)-1)]
		}
		if v, differs := otherThan(&f.list[n], all, form, n); differs {
			return &Difference{n, v}
		}
		if proofs != nil && f.origin[n] >= 0 {
			proofs[f.origin[n]] = true
		}
	}
	return nil
}

// otherThan is a value, of some, for which a form of function n gives another code than a step function.
func otherThan(s *num.Step, all num.Range, form Form, n int) (at int64, differs bool) {
	apply := follow(form, n)
	where := finger{list: s.At}
	look := func(v int64) {
		if !differs && all.Contains(v) && apply(v) != s.Value[where.upTo(v)] {
			at, differs = v, true
		}
	}
	g, cut := form.(*segment)
	look(all.Lo)
	if cut {
		look(g.cut().Lo - 1)
		look(g.cut().Lo)
	}
	for _, b := range s.At {
		if look(b - 1); cut && g.cut().Contains(b) {
			first := g.begin(b)
			look(first)
			look(b)
			look(first + g.grain() - 1)
		} else {
			look(b)
		}
	}
	if cut {
		look(g.cut().Hi)
		look(g.cut().Hi + 1)
	}
	look(all.Hi)
	return at, differs
}

// follow is a form's Apply of function n, for values that come in order, or nearly so.
func follow(form Form, n int) func(v int64) int64 {
	switch form := form.(type) {
	case *searching:
		if slices.IsSorted(form.f.compare.At[n]) {
			return form.follow(n)
		}
	case *segment:
		return form.follow(n)
	}
	return func(v int64) int64 { return form.Apply(n, v) }
}

// follow counts thresholds that are exceeded: a search finds just these, where they are in order. Of deltas it keeps
// the sum.
func (s *searching) follow(n int) func(v int64) int64 {
	exceeded, k := finger{list: s.f.compare.At[n]}, &s.f.compare
	if k.Delta == nil {
		return func(v int64) int64 { return s.code(n, exceeded.upTo(v)) }
	}
	delta, added, code := k.Delta[n], 0, s.code(n, 0)
	return func(v int64) int64 {
		below := min(exceeded.upTo(v), k.Steps())
		for ; added < below; added++ {
			code += delta[added]
		}
		for ; added > below; added-- {
			code -= delta[added-1]
		}
		return code
	}
}

// follow keeps the record of a segment until a value lies in another one.
func (s *segment) follow(n int) func(v int64) int64 {
	above := finger{list: s.f.list[n].At}
	var over, delta [4]int64
	var r record
	known, of := false, int64(0) // which record
	return func(v int64) int64 {
		v = s.kept(v)
		if first := s.begin(v); !known || first != of {
			known, of = true, first
			r = s.recordAt(n, first, above.upTo(first), over[:], delta[:])
		}
		return s.code(&r, v)
	}
}

// A finger is somewhere in a list that is in order.
type finger struct {
	list []int64
	at   int
}

// upTo is how many are no more than v.
func (p *finger) upTo(v int64) int {
	for p.at > 0 && p.list[p.at-1] > v {
		p.at--
	}
	for p.at < len(p.list) && p.list[p.at] <= v {
		p.at++
	}
	return p.at
}
