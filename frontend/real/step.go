package real

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"hlsgen/internal/num"
)

// ErrTooManySteps says that a function has more steps than were allowed, or that it varies so wildly that they were
// not found within maxEvaluations.
var ErrTooManySteps = errors.New("too many steps")

// maxEvaluations bounds a bisection. A step takes some hundred evaluations at most, unless intervals say little of the
// function: f(x)-g(x) of two steep functions is searched integer by integer.
const maxEvaluations = 1 << 22

// StepOver evaluates f, an integer-valued expression in variable 0, at every integer of r and returns it as a step
// function, exactly. Bisection: where the interval evaluation of a run of integers gives one value, the run is
// constant; otherwise it is split, and a single integer left open is decided in exact arithmetic. Nothing is assumed of
// f, neither monotony nor form. More than limit breakpoints give ErrTooManySteps, as does a search that would not end.
func (f *Func) StepOver(r num.Range, limit int) (num.Step, error) {
	b := &bisector{f: f, limit: limit}
	if err := b.run(r.Lo, r.Hi); err != nil {
		return num.Step{}, err
	}
	return b.step, nil
}

type bisector struct {
	f     *Func
	limit int
	step  num.Step
	vars  [1]Interval
	count int // of evaluations
}

func (b *bisector) run(lo, hi int64) error {
	if b.count++; b.count > maxEvaluations {
		return ErrTooManySteps
	}
	b.vars[0] = integers(lo, hi)
	if y, _ := b.f.Interval(b.vars[:]); y.Point() && math.Abs(y.Lo) < 1<<53 && y.Lo == math.Trunc(y.Lo) {
		return b.add(lo, int64(y.Lo))
	}
	if lo == hi {
		v, err := b.exact(lo)
		if err != nil {
			return fmt.Errorf("at %d: %w", lo, err)
		}
		return b.add(lo, v)
	}
	mid := lo + int64(uint64(hi-lo)/2)
	if err := b.run(lo, mid); err != nil {
		return err
	}
	return b.run(mid+1, hi)
}

func (b *bisector) add(from, value int64) error {
	n := len(b.step.Value)
	switch {
	case n == 0:
		b.step.Value = append(b.step.Value, value)
	case b.step.Value[n-1] != value:
		if n > b.limit {
			return ErrTooManySteps
		}
		b.step.At, b.step.Value = append(b.step.At, from), append(b.step.Value, value)
	}
	return nil
}

func (b *bisector) exact(x int64) (int64, error) {
	in := []Num{Exactly(new(big.Rat).SetInt64(x))}
	for _, prec := range Precisions {
		y, err := b.f.Exact(in, prec)
		if errors.Is(err, ErrPrecision) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if y.r == nil || !y.r.IsInt() || !y.r.Num().IsInt64() {
			return 0, fmt.Errorf("value %v is no integer", y.Interval())
		}
		return y.r.Num().Int64(), nil
	}
	return 0, ErrPrecision
}

// integers is the interval around lo..hi: beyond 2^53 a float64 skips integers.
func integers(lo, hi int64) Interval {
	if -1<<53 <= lo && hi <= 1<<53 {
		return Interval{float64(lo), float64(hi)}
	}
	return Interval{around(new(big.Rat).SetInt64(lo)).Lo, around(new(big.Rat).SetInt64(hi)).Hi}
}
