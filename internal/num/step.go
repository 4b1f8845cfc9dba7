package num

import (
	"fmt"
	"sort"
)

// A Step is a function from integers to integers that is constant between breakpoints: the exact form of everything
// that lies between an accumulator and a quantiser's code. At is strictly increasing and len(Value) == len(At)+1;
// x maps to Value[i] where At[i-1] <= x < At[i].
type Step struct {
	At    []int64 `json:"at"`
	Value []int64 `json:"value"`
}

// Apply is the step's value at x.
func (s Step) Apply(x int64) int64 {
	return s.Value[sort.Search(len(s.At), func(i int) bool { return s.At[i] > x })]
}

// Verify checks the form.
func (s Step) Verify() error {
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

// Over restricts s to the values of r: breakpoints that r never crosses go, as do those between equal values.
func (s Step) Over(r Range) Step {
	out := Step{Value: []int64{s.Apply(r.Lo)}}
	for i, at := range s.At {
		if r.Lo < at && at <= r.Hi && s.Value[i+1] != out.Value[len(out.Value)-1] {
			out.At = append(out.At, at)
			out.Value = append(out.Value, s.Value[i+1])
		}
	}
	return out
}

// Reach is the range of s over r.
func (s Step) Reach(r Range) Range {
	o := s.Over(r)
	v := Point(o.Value[0])
	for _, x := range o.Value {
		v = v.Union(Point(x))
	}
	return v
}

// NonDecreasing reports whether no breakpoint goes down.
func (s Step) NonDecreasing() bool {
	for i := range s.At {
		if s.Value[i+1] < s.Value[i] {
			return false
		}
	}
	return true
}

// Mirror is x -> s(-x): what an accumulator of negated weights needs.
func (s Step) Mirror() Step {
	n := len(s.At)
	m := Step{At: make([]int64, n), Value: make([]int64, n+1)}
	for i, at := range s.At {
		m.At[n-1-i] = 1 - at // -x < at  <=>  x >= 1-at
	}
	for i, v := range s.Value {
		m.Value[n-i] = v
	}
	return m
}

// Comparators is how a table of step functions is built: out = Base + sum of Delta[i] over the thresholds that
// x exceeds (x > Over[i]: strict, so that a threshold that is never reached is the input type's own maximum and no
// comparison needs an extra bit). Unit steps need no deltas: a jump by n is n equal thresholds.
type Comparators struct {
	Base  []int64   // per channel; one for all where every channel has the same
	Over  [][]int64 // per channel, padded to one length
	Delta [][]int64 // per channel; nil where every delta is 1
}

// Compare builds the comparators of steps (one for all channels, or one per channel) over inputs of the given ranges
// (likewise) held in t. Where a step goes down, or maxUnit is exceeded by writing jumps as unit steps, deltas are used.
func Compare(steps []Step, in []Range, t Type, maxUnit int) Comparators {
	n := max(len(steps), 1)
	if len(steps) == 1 && len(in) > 1 {
		u := in[0]
		for _, r := range in {
			u = u.Union(r)
		}
		in = []Range{u}
	}
	live := make([]Step, n)
	unit := true
	for c, s := range steps {
		r := in[0]
		if len(in) > 1 {
			r = in[c]
		}
		live[c] = s.Over(r)
		last := len(live[c].Value) - 1
		unit = unit && live[c].NonDecreasing() && uint64(live[c].Value[last])-uint64(live[c].Value[0]) <= uint64(maxUnit)
	}
	var k Comparators
	width := 0
	for _, s := range live {
		var over, delta []int64
		for i, at := range s.At {
			d := s.Value[i+1] - s.Value[i]
			times := int64(1)
			if unit {
				times, d = d, 1
			}
			for range times {
				over, delta = append(over, at-1), append(delta, d)
			}
		}
		k.Base, k.Over, k.Delta = append(k.Base, s.Value[0]), append(k.Over, over), append(k.Delta, delta)
		width = max(width, len(over))
	}
	for c := range k.Over {
		for len(k.Over[c]) < width {
			k.Over[c], k.Delta[c] = append(k.Over[c], t.Range().Hi), append(k.Delta[c], 1)
		}
	}
	if unit {
		k.Delta = nil
	}
	same := true
	for _, b := range k.Base {
		same = same && b == k.Base[0]
	}
	if same {
		k.Base = k.Base[:1]
	}
	return k
}
