package program

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// Reals is a tensor of real values that may be known only as intervals: element i lies in [Lo[i], Hi[i]]. Lo and Hi are
// the same slice if every element is exact. Truth, if not nil, returns exact values that are not float64s.
type Reals struct {
	Shape  []int
	Lo, Hi []float64
	Truth  func(i int) *big.Rat

	Refiner Refiner // computes elements more precisely; nil if nothing does
	Result  int     // the number of the refiner's output
}

// A Refiner computes elements of its outputs as precisely as asked. A loop that was run is one.
type Refiner interface {
	// Element returns element i of output number result, exactly or enclosed at prec bits.
	Element(result, i int, prec uint) (real.Num, error)
}

// ZeroReals returns exact zeros of the given shape, to be filled in.
func ZeroReals(shape []int) *Reals {
	n := graph.Size(shape)
	return &Reals{Shape: shape, Lo: make([]float64, n), Hi: make([]float64, n)}
}

// Clone returns a copy of v with its own elements.
func (v *Reals) Clone() *Reals {
	return &Reals{Shape: v.Shape, Lo: slices.Clone(v.Lo), Hi: slices.Clone(v.Hi)}
}

// NewExactReals returns the exact value with the given shape and elements. It keeps data.
func NewExactReals(shape []int, data []float64) *Reals {
	return &Reals{Shape: shape, Lo: data, Hi: data}
}

// RealsOf returns the value of a constant tensor.
func RealsOf(t *graph.Tensor) *Reals {
	if t.I == nil {
		return NewExactReals(t.Shape, t.Floats())
	}
	f := make([]float64, len(t.I))
	v := NewExactReals(t.Shape, f)
	for i, n := range t.I {
		f[i] = float64(n)
		if n > 1<<53 || n < -1<<53 {
			v.Truth = func(i int) *big.Rat { return new(big.Rat).SetInt64(t.I[i]) }
		}
	}
	if v.Truth != nil {
		v.Lo, v.Hi = make([]float64, len(f)), make([]float64, len(f))
		for i := range f {
			y := graph.EnclosingInterval(v.Truth(i))
			v.Lo[i], v.Hi[i] = y.Lo, y.Hi
		}
	}
	return v
}

// ConstantReals returns the value of a constant of the program. It converts each constant once for all runs.
func (p *Program) ConstantReals(t *graph.Tensor) *Reals {
	if t.F != nil {
		return RealsOf(t)
	}
	v, known := p.laidOut.Load(t)
	if !known {
		v, _ = p.laidOut.LoadOrStore(t, RealsOf(t))
	}
	return v.(*Reals)
}

// Exact reports whether every element is one float64.
func (v *Reals) Exact() bool {
	return len(v.Lo) == 0 || &v.Lo[0] == &v.Hi[0] || slices.Equal(v.Lo, v.Hi)
}

// At returns the interval that encloses element i; both its ends are the element if that is exact.
func (v *Reals) At(i int) real.Interval { return real.Interval{Lo: v.Lo[i], Hi: v.Hi[i]} }

// Element returns element i, exactly or enclosed at prec bits. known is false if v does not determine it.
func (v *Reals) Element(i int, prec uint) (n real.Num, known bool, err error) {
	switch {
	case v.Lo[i] == v.Hi[i]:
		return real.Of(v.Lo[i]), true, nil
	case v.Truth != nil:
		return real.Exactly(v.Truth(i)), true, nil
	case v.Refiner != nil:
		n, err = v.Refiner.Element(v.Result, i, prec)
		return n, true, err
	}
	return n, false, nil
}

// ToTensor returns v, which must be exact, as a constant of type dt. It returns an error if dt is an integer type that
// does not hold an element.
func (v *Reals) ToTensor(dt graph.DType) (*graph.Tensor, error) {
	t := &graph.Tensor{DType: dt, Shape: v.Shape}
	if dt.Float() {
		t.F = v.Lo
		return t, nil
	}
	lo, hi, _ := dt.IntegerLimits()
	t.I = make([]int64, len(v.Lo))
	for i, f := range v.Lo {
		if !(lo <= f && f <= hi) || f != math.Trunc(f) {
			return nil, fmt.Errorf("element %d of the constant result is %v, which %s does not hold", i, f, dt)
		}
		t.I[i] = int64(f)
	}
	return t, nil
}

// SetInterval sets the interval of element i. Lo and Hi stay one slice as long as all elements are exact.
func (v *Reals) SetInterval(i int, y real.Interval) {
	if y.Lo != y.Hi && &v.Lo[0] == &v.Hi[0] {
		v.Hi = slices.Clone(v.Lo)
	}
	v.Hi[i] = y.Hi
	v.Lo[i] = y.Lo
}

// ShareBounds makes Lo and Hi one slice if they are equal, so that v counts as exact. It returns v.
func (v *Reals) ShareBounds() *Reals {
	if v.Exact() {
		v.Hi = v.Lo
	}
	return v
}
