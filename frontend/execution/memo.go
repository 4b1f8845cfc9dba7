package execution

import (
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// Functions of elements take the same values again and again, because a tensor has few different codes. A runner
// remembers values of its function; they always equal those that an evaluation would give.

// varying returns the only variable of the runner's function that depends on data, or -1. The others must be single
// numbers, or vectors along one axis; along tells which axis and is nil without vectors. Variable 0 may be a sum of
// products.
func (r *runner) varying() (variable int, along *graph.ElementIndexMap) {
	variable = -1
	for v, slot := range r.elem.Args {
		pick := &r.elem.Index[v]
		constant := !(v == 0 && r.product != nil) && r.prog.Known[r.reads[slot]].Const != nil
		switch {
		case constant && pick.ReadsSingleElement():
		case constant && pick.Count > 0 && (along == nil || along.HasSameRuns(pick)):
			along = pick
		case variable >= 0:
			return -1, nil
		default:
			variable = v
		}
	}
	return variable, along
}

// A memo caches values of a function of one variable in a hash table, in which a new value replaces one with the same
// hash.
type memo struct {
	variable int // the variable; -1 to cache nothing
	last     []remembered
}

type remembered struct {
	x  float64
	y  real.Interval
	ok bool
}

const (
	memoBits = 12
	memoFrom = 256 // the number of elements from which caching pays
)

// at returns the entry of the table for the value of the function at x.
func (m *memo) at(x float64) *remembered {
	if m.last == nil {
		m.last = make([]remembered, 1<<memoBits)
	}
	return &m.last[math.Float64bits(x)*0x9e3779b97f4a7c15>>(64-memoBits)]
}

// A stairs caches values of a function that rounds its only variable. It has a cache for each element of the constant
// vectors in the function.
type stairs struct {
	variable int
	along    graph.ElementIndexMap // the map to the vectors' elements; one run of all elements if there are no vectors
	of       []real.RoundingPlateauCache
}

// stairsFrom is the number of elements per real.RoundingPlateauCache from which caching pays.
const stairsFrom = 64

func (s *stairs) fork() *stairs {
	if s == nil {
		return nil
	}
	return &stairs{s.variable, s.along, make([]real.RoundingPlateauCache, len(s.of))}
}

// remember chooses how the runner caches values of its function: in a memo, as stairs, or not at all.
func (r *runner) remember() {
	r.memo, r.stairs = memo{variable: -1}, nil
	v, along := r.varying()
	n := graph.ElementCount(r.step.Shape)
	if v < 0 || n < memoFrom {
		return
	}
	s := &stairs{variable: v, along: graph.ElementIndexMap{Run: n, Count: 1}}
	if along != nil {
		s.along = *along
	}
	switch {
	case r.elem.Offset == nil && n >= stairsFrom*s.along.Count && r.f.IsOnlyRoundedIn(v):
		s.of = make([]real.RoundingPlateauCache, s.along.Count)
		r.stairs = s
	case along == nil:
		r.memo.variable = v
	}
}
