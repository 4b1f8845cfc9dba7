package steps

import (
	"slices"

	"hlsgen/internal/num"
)

// Forms are checked often, for many functions with many breakpoints. So values are checked nearly in increasing
// order, and each lookup starts where the one before ended.

// A FormDifference is a function and a value for which a form yields a wrong code.
type FormDifference struct {
	Function int
	Value    int64
}

// FindDifference returns a function and a value for which the form yields another code than the function, or nil if
// there is none. It considers all values of the type; for a ScaledForm only those that occur. It tries only breakpoints
// and borders of table rows, and both ends of constant pieces, because nothing else can differ.
func (f *StepFunctions) FindDifference(form StepFunctionHardware) *FormDifference {
	f.bind()
	return f.differs(form)
}

func (f *StepFunctions) differs(form StepFunctionHardware) *FormDifference {
	root := f.root()
	root.share.mutex.Lock()
	defer root.share.mutex.Unlock()
	proofs := root.share.proofs(form, f.of, len(root.compare.At))
	for n := range f.list {
		if proofs != nil && f.origin[n] >= 0 && proofs[f.origin[n]] {
			continue
		}
		all := f.of.Range()
		if _, ok := form.(*ScaledForm); ok {
			all = f.in[min(n, len(f.in)-1)]
		}
		if v, differs := otherThan(&f.list[n], all, form, n); differs {
			return &FormDifference{n, v}
		}
		if proofs != nil && f.origin[n] >= 0 {
			proofs[f.origin[n]] = true
		}
	}
	return nil
}

// otherThan returns a value in the range all for which function n of the form yields another code than s does. differs
// is false if there is none.
func otherThan(s *num.StepFunction, all num.Range, form StepFunctionHardware, n int) (at int64, differs bool) {
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

// follow returns a function that returns the form's ComputeCode for function n. It is fast if values come nearly in
// order.
func follow(form StepFunctionHardware, n int) func(v int64) int64 {
	switch form := form.(type) {
	case *searching:
		if slices.IsSorted(form.f.compare.At[n]) {
			return form.follow(n)
		}
	case *segment:
		return form.follow(n)
	}
	return func(v int64) int64 { return form.ComputeCode(n, v) }
}

// follow does what the function follow does. It counts exceeded thresholds, which must be in order; then the search
// finds the same count. If thresholds have deltas, it also keeps their sum.
func (s *searching) follow(n int) func(v int64) int64 {
	exceeded, k := finger{list: s.f.compare.At[n]}, &s.f.compare
	if k.Delta == nil {
		return func(v int64) int64 { return s.code(n, exceeded.upTo(v)) }
	}
	delta, added, code := k.Delta[n], 0, s.code(n, 0)
	return func(v int64) int64 {
		below := min(exceeded.upTo(v), k.ThresholdsPerChannel())
		for ; added < below; added++ {
			code += delta[added]
		}
		for ; added > below; added-- {
			code -= delta[added-1]
		}
		return code
	}
}

// follow does what the function follow does. It keeps the record of a segment until a value lies in another one.
func (s *segment) follow(n int) func(v int64) int64 {
	above := finger{list: s.f.list[n].At}
	var over, delta [4]int64
	var r record
	known, of := false, int64(0) // whether r is valid, and the first value of its segment
	return func(v int64) int64 {
		v = s.kept(v)
		if first := s.begin(v); !known || first != of {
			known, of = true, first
			r = s.recordAt(n, first, above.upTo(first), over[:], delta[:])
		}
		return s.code(&r, v)
	}
}

// A finger is a position in a sorted list, from which the next search starts.
type finger struct {
	list []int64
	at   int
}

// upTo returns the number of elements that are at most v.
func (p *finger) upTo(v int64) int {
	for p.at > 0 && p.list[p.at-1] > v {
		p.at--
	}
	for p.at < len(p.list) && p.list[p.at] <= v {
		p.at++
	}
	return p.at
}
