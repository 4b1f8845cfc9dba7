package graph

import (
	"math"

	"hlsgen/frontend/real"
)

// Quantised tensors repeat few values, and an elementwise function of one variable gives the same for the same. A memo
// is what it gave last for a value; one that hashes alike takes its place.
type memo struct {
	variable int // the one that varies; -1 where several do
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

// newMemo finds the variable of e that is not one constant; the first may be a sum of products.
func (p *Program) newMemo(s *Step, e *Elem) memo {
	m := memo{variable: -1}
	for v, slot := range e.Args {
		if !(v == 0 && s.Dot != nil) && e.Index[v].One() && p.Known[s.Node.Inputs[slot]].Const != nil {
			continue
		}
		if m.variable >= 0 {
			return memo{variable: -1}
		}
		m.variable = v
	}
	if Size(s.Shape) < memoFrom {
		m.variable = -1
	}
	return m
}

// at is the place of a value.
func (m *memo) at(x float64) *remembered {
	if m.last == nil {
		m.last = make([]remembered, 1<<memoBits)
	}
	return &m.last[math.Float64bits(x)*0x9e3779b97f4a7c15>>(64-memoBits)]
}
