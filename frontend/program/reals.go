package program

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// A Reals is a tensor of real values that may be known only as intervals: element i lies in [Lo[i], Hi[i]]. Lo and Hi
// are the same slice if every element is exact. Truth, if not nil, returns exact values that are not float64s.
type Reals struct {
	Shape  []int
	Lo, Hi []float64
	Truth  func(i int) *big.Rat

	Refiner ElementRefiner // computes elements more precisely; nil if nothing does
	Result  int            // the number of the refiner's output
}

// An ElementRefiner computes elements of its outputs as precisely as asked. A loop that has run is one.
type ElementRefiner interface {
	// Element returns element i of output number result, exactly or as an interval computed with prec bits of
	// precision.
	Element(result, i int, prec uint) (real.Num, error)
}

// NewZeroReals returns a value of the given shape whose elements are all 0, to be overwritten. Lo and Hi are two
// slices.
func NewZeroReals(shape []int) *Reals {
	n := graph.ElementCount(shape)
	return &Reals{Shape: shape, Lo: make([]float64, n), Hi: make([]float64, n)}
}

// CloneBoundsOnly returns a value with copies of v's bounds and with its shape, but without Truth and Refiner. Lo and
// Hi are always two slices.
func (v *Reals) CloneBoundsOnly() *Reals {
	return &Reals{Shape: v.Shape, Lo: slices.Clone(v.Lo), Hi: slices.Clone(v.Hi)}
}

// NewExactReals returns the exact value with the given shape and elements. It keeps the slice data.
func NewExactReals(shape []int, data []float64) *Reals {
	return &Reals{Shape: shape, Lo: data, Hi: data}
}

// RealsOfConstant returns the value of a constant tensor, which may share the constant's elements. Integers that no
// float64 holds become intervals, with their exact values in Truth.
func RealsOfConstant(t *graph.ConstantTensor) *Reals {
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
			y := graph.FloatIntervalOfRational(v.Truth(i))
			v.Lo[i], v.Hi[i] = y.Lo, y.Hi
		}
	}
	return v
}

// CachedRealsOfConstant returns the value of a constant of the program. It converts each constant only once, for all
// runs. The caller must not change the value.
func (p *Program) CachedRealsOfConstant(t *graph.ConstantTensor) *Reals {
	if t.F != nil {
		return RealsOfConstant(t)
	}
	v, known := p.laidOut.Load(t)
	if !known {
		v, _ = p.laidOut.LoadOrStore(t, RealsOfConstant(t))
	}
	return v.(*Reals)
}

// IsExactInFloat64 reports whether every element is known as a single float64, not as an interval.
func (v *Reals) IsExactInFloat64() bool {
	return len(v.Lo) == 0 || &v.Lo[0] == &v.Hi[0] || slices.Equal(v.Lo, v.Hi)
}

// IntervalAt returns the interval that encloses element i; both its ends are the element if that is exact.
func (v *Reals) IntervalAt(i int) real.Interval { return real.Interval{Lo: v.Lo[i], Hi: v.Hi[i]} }

// ElementAtPrecision returns element i, exactly or as an interval computed with prec bits of precision. known is false
// if v does not determine the element. An error comes from the Refiner.
func (v *Reals) ElementAtPrecision(i int, prec uint) (n real.Num, known bool, err error) {
	switch {
	case v.Lo[i] == v.Hi[i]:
		return real.NumberOfFloat(v.Lo[i]), true, nil
	case v.Truth != nil:
		return real.NumberOfRational(v.Truth(i)), true, nil
	case v.Refiner != nil:
		n, err = v.Refiner.Element(v.Result, i, prec)
		return n, true, err
	}
	return n, false, nil
}

// ToConstantTensor returns v, which must be exact, as a constant of type dt. A constant of a real type shares v's
// elements. It returns an error if dt is an integer type that does not hold one of the elements.
func (v *Reals) ToConstantTensor(dt graph.DType) (*graph.ConstantTensor, error) {
	t := &graph.ConstantTensor{DType: dt, Shape: v.Shape}
	if dt.IsReal() {
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

// ShareSliceIfBoundsEqual makes Lo and Hi one slice if they are equal, so that v counts as exact. It returns v.
func (v *Reals) ShareSliceIfBoundsEqual() *Reals {
	if v.IsExactInFloat64() {
		v.Hi = v.Lo
	}
	return v
}
