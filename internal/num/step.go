package num

import (
	"fmt"
	"math"
	"slices"
)

// A StepFunction is a function from integers to integers that is constant between breakpoints. It exactly describes
// everything that lies between an accumulator and a quantiser's code. At is strictly increasing, and len(Value) ==
// len(At)+1. It maps x to Value[i] where At[i-1] <= x < At[i].
type StepFunction struct {
	At    []int64 `json:"at"`
	Value []int64 `json:"value"`
}

// Apply returns the step function's value at x.
func (s StepFunction) Apply(x int64) int64 {
	return s.Value[s.FirstBreakpointIndexAbove(x)]
}

// fewSteps is the number of breakpoints up to which counting is faster than searching, since it needs no branch
// prediction.
const fewSteps = 16

// FirstBreakpointIndexAbove returns the index of the first breakpoint above x, or len(At) if there is none.
func (s StepFunction) FirstBreakpointIndexAbove(x int64) int {
	if len(s.At) <= fewSteps {
		n := 0
		for _, at := range s.At {
			if at <= x {
				n++
			}
		}
		return n
	}
	low, high := 0, len(s.At)
	for low < high {
		if middle := (low + high) / 2; s.At[middle] > x {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// Verify returns an error if breakpoints do not rise, or if there is not one value more than breakpoints.
func (s StepFunction) Verify() error {
	if len(s.Value) != len(s.At)+1 {
		return fmt.Errorf("step function has %d breakpoints and %d values", len(s.At), len(s.Value))
	}
	for i := 1; i < len(s.At); i++ {
		if s.At[i-1] >= s.At[i] {
			return fmt.Errorf("step function's breakpoints %d, %d do not increase", s.At[i-1], s.At[i])
		}
	}
	return nil
}

// RestrictedTo returns s for inputs in r, without breakpoints that r never crosses and those between equal values. If
// nothing is left out, the result shares the lists of s.
func (s StepFunction) RestrictedTo(r Range) StepFunction {
	if s.within(r) {
		return StepFunction{slices.Clip(s.At), slices.Clip(s.Value)}
	}
	out := StepFunction{Value: append(make([]int64, 0, len(s.Value)), s.Apply(r.Lo))}
	for i, at := range s.At {
		if r.Lo < at && at <= r.Hi && s.Value[i+1] != out.Value[len(out.Value)-1] {
			if out.At == nil {
				out.At = make([]int64, 0, len(s.At)-i)
			}
			out.At = append(out.At, at)
			out.Value = append(out.Value, s.Value[i+1])
		}
	}
	return out
}

// within reports whether RestrictedTo would remove nothing: r crosses all breakpoints and each changes the value. It
// returns false if there are no breakpoints.
func (s StepFunction) within(r Range) bool {
	n := len(s.At)
	if n == 0 || s.At[0] <= r.Lo || s.At[n-1] > r.Hi {
		return false
	}
	for i := range s.At {
		if s.Value[i] == s.Value[i+1] {
			return false
		}
	}
	return true
}

// ValueRangeOver returns the range of values of s over r.
func (s StepFunction) ValueRangeOver(r Range) Range {
	o := s.RestrictedTo(r)
	v := SingleValueRange(o.Value[0])
	for _, x := range o.Value {
		v = v.Union(SingleValueRange(x))
	}
	return v
}

// IsNonDecreasing reports whether the values never fall from one breakpoint to the next.
func (s StepFunction) IsNonDecreasing() bool {
	for i := range s.At {
		if s.Value[i+1] < s.Value[i] {
			return false
		}
	}
	return true
}

// WithNegatedInput returns the function s(-x), with lists of its own, for all x such that -x is an int64. It serves an
// accumulator of negated weights.
func (s StepFunction) WithNegatedInput() StepFunction {
	s = s.RestrictedTo(Range{-1<<63 + 1, 1<<63 - 1}) // all x with a -x; without this, 1-at below could overflow
	n := len(s.At)
	m := StepFunction{At: make([]int64, n), Value: make([]int64, n+1)}
	for i, at := range s.At {
		m.At[n-1-i] = 1 - at // -x < at  <=>  x >= 1-at
	}
	for i, v := range s.Value {
		m.Value[n-i] = v
	}
	return m
}

// ShareStepValues changes the functions in list so that they share one list of values, without changing what they
// compute. It leaves out functions whose values do not rise by the same unit. It does nothing if separate lists are
// shorter.
func ShareStepValues(list []StepFunction) {
	unit, all, held := int64(0), Range{}, 0
	for _, s := range list {
		u := s.unit()
		if u == 0 || unit != 0 && (u != unit || (s.Value[0]-all.Lo)%unit != 0) {
			continue
		}
		if unit == 0 {
			unit, all = u, SingleValueRange(s.Value[0])
		}
		all, held = all.Union(Range{s.Value[0], s.Value[len(s.At)]}), held+len(s.Value)
	}
	if unit == 0 || uint64(all.Hi)-uint64(all.Lo) >= uint64(held)*uint64(unit) {
		return // separate lists are shorter
	}
	values := make([]int64, 0, (all.Hi-all.Lo)/unit+1)
	for v := all.Lo; v < all.Hi; v += unit {
		values = append(values, v)
	}
	values = append(values, all.Hi)
	for i := range list {
		s := &list[i]
		if s.unit() == unit && (s.Value[0]-all.Lo)%unit == 0 {
			n := int((s.Value[0] - all.Lo) / unit)
			s.Value = values[n : n+len(s.Value) : n+len(s.Value)]
		}
	}
}

// unit returns the constant amount by which successive values rise. It returns 0 if they do not rise, the amount
// varies, a value does not fit into 32 bits, or there are no breakpoints.
func (s StepFunction) unit() int64 {
	small := Range{math.MinInt32, math.MaxInt32}
	if len(s.At) == 0 || !small.Contains(s.Value[0]) {
		return 0
	}
	u := s.Value[1] - s.Value[0]
	for i := range s.At {
		if !small.Contains(s.Value[i+1]) || s.Value[i+1]-s.Value[i] != u {
			return 0
		}
	}
	return max(u, 0)
}

// Equal reports whether two step functions have the same breakpoints and values.
func (s StepFunction) Equal(o StepFunction) bool {
	return slices.Equal(s.At, o.At) && slices.Equal(s.Value, o.Value)
}
