package graph

import (
	"math"

	"hlsgen/frontend/real"
)

// Functions of elements take most of their values over and over: a tensor's codes are few, and quantisers make few.
// What a runner remembers of its function is never more than what evaluating it would give.

// varying is the variable of a runner's function that varies where all others are constants: numbers, or vectors along
// one axis, of which along is the pick; -1 where several vary. The first variable may be a sum of products.
func (r *runner) varying() (variable int, along *Pick) {
	variable = -1
	for v, slot := range r.elem.Args {
		pick := &r.elem.Index[v]
		constant := !(v == 0 && r.product != nil) && r.prog.Known[r.reads[slot]].Const != nil
		switch {
		case constant && pick.One():
		case constant && pick.Count > 0 && (along == nil || along.sameRuns(pick)):
			along = pick
		case variable >= 0:
			return -1, nil
		default:
			variable = v
		}
	}
	return variable, along
}

// A memo is what a function of one variable gave last for a value; one that hashes alike takes its place.
type memo struct {
	variable int // -1 where nothing is remembered
	last     []remembered
}

type remembered struct {
	x  float64
	y  real.Interval
	ok bool
}

const (
	memoBits = 12
	memoFrom = 256 // elements from which it pays
)

// at is the place of a value.
func (m *memo) at(x float64) *remembered {
	if m.last == nil {
		m.last = make([]remembered, 1<<memoBits)
	}
	return &m.last[math.Float64bits(x)*0x9e3779b97f4a7c15>>(64-memoBits)]
}

// stairs are what is known of a function that rounds one variable: per element of the vectors that stand beside it.
type stairs struct {
	variable int
	along    Pick // of these vectors; nothing where there are none
	of       []real.Stairs
}

// stairsFrom is the elements that share their stairs from which these pay.
const stairsFrom = 64

func (s *stairs) fork() *stairs {
	if s == nil {
		return nil
	}
	return &stairs{s.variable, s.along, make([]real.Stairs, len(s.of))}
}

// remember has a runner remember what pays.
func (r *runner) remember() {
	r.memo, r.steep = memo{variable: -1}, nil
	v, along := r.varying()
	n := Size(r.step.Shape)
	if v < 0 || n < memoFrom {
		return
	}
	s := &stairs{variable: v, along: Pick{Run: n, Count: 1}}
	if along != nil {
		s.along = *along
	}
	switch {
	case r.elem.Offset == nil && n >= stairsFrom*s.along.Count && r.f.RoundsOnce(v):
		s.of = make([]real.Stairs, s.along.Count)
		r.steep = s
	case along == nil:
		r.memo.variable = v
	}
}
