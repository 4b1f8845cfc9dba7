package graph

import (
	"math/big"

	"hlsgen/frontend/real"
)

// Reals is a tensor of reals as far as they are known: element i lies in [Lo[i], Hi[i]]. Lo and Hi are one slice
// where every element is exact. Truth, if set, gives elements exactly, for values that are no float64.
type Reals struct {
	Shape  []int
	Lo, Hi []float64
	Truth  func(i int) *big.Rat
}

// Exactly is the value whose elements are the given float64s.
func Exactly(shape []int, data []float64) *Reals { return &Reals{Shape: shape, Lo: data, Hi: data} }

// constant is the value of a constant tensor.
func constant(t *Tensor) *Reals {
	if t.DType.Float() {
		return Exactly(t.Shape, t.F)
	}
	f := make([]float64, len(t.I))
	for i, v := range t.I {
		f[i] = float64(v)
	}
	return Exactly(t.Shape, f)
}

// Exact reports whether every element is one float64.
func (v *Reals) Exact() bool {
	if len(v.Lo) == 0 || &v.Lo[0] == &v.Hi[0] {
		return true
	}
	for i := range v.Lo {
		if v.Lo[i] != v.Hi[i] {
			return false
		}
	}
	return true
}

// At is element i.
func (v *Reals) At(i int) real.Interval { return real.Interval{Lo: v.Lo[i], Hi: v.Hi[i]} }

// tensor makes a constant of an exact value.
func (v *Reals) tensor(dt DType) *Tensor {
	t := &Tensor{DType: dt, Shape: v.Shape}
	if dt.Float() {
		t.F = v.Lo
		return t
	}
	t.I = make([]int64, len(v.Lo))
	for i, f := range v.Lo {
		t.I[i] = int64(f)
	}
	return t
}

// share makes Lo and Hi one slice where they are equal.
func (v *Reals) share() *Reals {
	if v.Exact() {
		v.Hi = v.Lo
	}
	return v
}

// Around is the smallest interval of float64 that holds a rational.
func Around(r *big.Rat) real.Interval { return real.Exactly(r).Interval() }
