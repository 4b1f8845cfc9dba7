package num

import (
	"math"
	"slices"
)

// A ThresholdTable holds step functions as hardware computes them: the output is Base plus Unit for each threshold that
// x exceeds. If Delta is not nil, threshold i adds Delta[i] instead. All channels have as many thresholds; those beyond
// the end of a row of At are never exceeded. Hardware compares strictly: x > At[i]-1.
type ThresholdTable struct {
	Base  []int64   // per channel; one element if all channels have the same base
	At    [][]int64 // per channel, non-decreasing: the least input that exceeds each threshold
	Count int       // number of thresholds of a channel, at least 1
	Unit  int64     // amount that each threshold adds; a jump by n units is n equal thresholds
	Delta [][]int64 // per channel and threshold: amount that it adds; nil if all add Unit
}

// maxUnit is the largest Unit, so that it fits the int of C++.
const maxUnit = 1<<31 - 1

// NewThresholdTable returns the table for steps, one for all channels or one per channel. The inputs have the ranges
// in, again one or one per channel, and the type t. It uses deltas if a step function decreases, or if a channel would
// need more than most thresholds to express its jumps in units. The table may share the lists of steps.
func NewThresholdTable(steps []StepFunction, in []Range, t Type, most int) ThresholdTable {
	live := liveSteps(steps, in)
	unit, ok := commonUnit(live, most)
	k := ThresholdTable{Unit: unit, Base: make([]int64, len(live))}
	width := 1 // at least 1: a table cannot be empty
	for c, s := range live {
		n := len(s.At)
		if ok {
			n = int((uint64(s.Value[n]) - uint64(s.Value[0])) / uint64(unit))
		}
		k.Base[c], width = s.Value[0], max(width, n)
	}
	k.At, k.Count = make([][]int64, len(live)), width
	if !ok {
		k.Delta = blank(len(live), width)
	}
	for c, s := range live {
		for i := range s.At {
			if !ok {
				k.Delta[c][i] = s.Value[i+1] - s.Value[i]
			}
		}
		k.At[c] = thresholds(s, t, unit, ok)
	}
	for _, b := range k.Base {
		if b != k.Base[0] {
			return k
		}
	}
	k.Base = k.Base[:1]
	return k
}

// thresholds returns the thresholds of a step function for inputs of type t: one per breakpoint or, if units is true,
// one per unit of each jump. If they equal the breakpoints, the result is the function's own list.
func thresholds(s StepFunction, t Type, unit int64, units bool) []int64 {
	n := len(s.At)
	if units {
		n = int((uint64(s.Value[n]) - uint64(s.Value[0])) / uint64(unit))
	}
	if n == len(s.At) && t.Kind != KindBipolar {
		return slices.Clip(s.At)
	}
	list := make([]int64, 0, n)
	for i, at := range s.At {
		if t.Kind == KindBipolar {
			at = 0 // both breakpoints, 0 and 1, separate -1 from +1; only -1 can be a threshold
		}
		times := int64(1)
		if units {
			times = int64(uint64(s.Value[i+1]-s.Value[i]) / uint64(unit))
		}
		for range times {
			list = append(list, at)
		}
	}
	return list
}

// blank returns rows rows of width zeros each.
func blank(rows, width int) [][]int64 {
	list, all := make([][]int64, rows), make([]int64, rows*width)
	for i := range list {
		list[i] = all[i*width : (i+1)*width : (i+1)*width]
	}
	return list
}

// Apply returns the output of channel c for input x.
func (k ThresholdTable) Apply(c int, x int64) int64 {
	out := k.Base[0]
	if len(k.Base) > 1 {
		out = k.Base[c]
	}
	exceeded := StepFunction{At: k.At[c]}.FirstBreakpointIndexAbove(x)
	if k.Delta == nil {
		return out + int64(exceeded)*k.Unit
	}
	for _, d := range k.Delta[c][:exceeded] {
		out += d
	}
	return out
}

// StepFunctionOf returns the thresholds of channel c, for inputs of type t, as a step function. If all thresholds
// differ, its breakpoints are the same list.
func (k ThresholdTable) StepFunctionOf(c int, t Type) StepFunction {
	n, v := len(k.At[c]), k.Base[min(c, len(k.Base)-1)]
	s := StepFunction{At: k.At[c][:0:0], Value: append(make([]int64, 0, n+1), k.Apply(c, t.Range().Lo))}
	own := k.strict(c)
	if own {
		s.At = slices.Clip(k.At[c])
	}
	for i, at := range k.At[c] {
		if v += k.Unit; k.Delta != nil {
			v += k.Delta[c][i] - k.Unit
		}
		switch last := len(s.At) - 1; {
		case own:
			s.Value = append(s.Value, v)
		case last < 0 || at > s.At[last]:
			s.At, s.Value = append(s.At, at), append(s.Value, v)
		default:
			s.Value[last+1] = v
		}
	}
	return s
}

// strict reports whether all thresholds of a channel differ.
func (k ThresholdTable) strict(c int) bool {
	for i := 1; i < len(k.At[c]); i++ {
		if k.At[c][i-1] == k.At[c][i] {
			return false
		}
	}
	return true
}

// Threshold returns threshold i of channel c for inputs of type t. Greater inputs exceed it. Beyond the end of the
// channel's row it is the greatest value of t, which none exceeds.
func (k ThresholdTable) Threshold(c, i int, t Type) int64 {
	if at := k.At[c]; i < len(at) {
		return at[i] - 1
	}
	return t.Range().Hi
}

// ThresholdsPerChannel returns the number of thresholds of a channel, or 0 for an empty table.
func (k ThresholdTable) ThresholdsPerChannel() int {
	if len(k.At) == 0 {
		return 0
	}
	return k.Count
}

// WithSharedRow returns k with a single row, if all channels have the same row and the same base. Otherwise it returns
// k unchanged. Both share their lists.
func (k ThresholdTable) WithSharedRow() ThresholdTable {
	if len(k.At) == 0 {
		return k
	}
	for c := range k.At {
		if len(k.Base) > 1 || !slices.Equal(k.At[c], k.At[0]) || k.Delta != nil &&
			!slices.Equal(k.Delta[c], k.Delta[0]) {
			return k
		}
	}
	if k.At = k.At[:1]; k.Delta != nil {
		k.Delta = k.Delta[:1]
	}
	return k
}

// HasSharedRow reports whether the table has one row, for all channels.
func (k ThresholdTable) HasSharedRow() bool { return len(k.At) == 1 }

// ConstantBase returns the base that all channels share. ok is false if the base needs a table: if it differs between
// channels or does not fit into an int of C++, or if there are deltas.
func (k ThresholdTable) ConstantBase() (base int64, ok bool) {
	b := k.Base[0]
	if len(k.Base) > 1 || k.Delta != nil || b < math.MinInt32 || b > math.MaxInt32 {
		return 0, false
	}
	return b, true
}

// TablesForPE returns thresholds, bases and deltas for inputs of type t as tables for pe channels in parallel. Row r
// holds the channels from r*pe on, one after the other; a row that all channels share stays as it is. base is nil if
// the base is constant, and delta is nil if all thresholds add Unit.
func (k ThresholdTable) TablesForPE(pe int, t Type) (over, base, delta [][]int64) {
	thresholds := blank(len(k.At), k.ThresholdsPerChannel())
	for c, row := range thresholds {
		for i := range row {
			row[i] = k.Threshold(c, i, t)
		}
	}
	over, delta = beside(thresholds, pe), beside(k.Delta, pe)
	if _, ok := k.ConstantBase(); ok {
		return over, nil, delta
	}
	bases := make([][]int64, len(k.At))
	for c := range bases {
		bases[c] = []int64{k.Base[min(c, len(k.Base)-1)]}
	}
	return over, beside(bases, pe), delta
}

// beside returns the lists of the channels joined to rows, pe channels in each.
func beside(channels [][]int64, pe int) [][]int64 {
	var rows [][]int64
	for side := range slices.Chunk(channels, pe) {
		rows = append(rows, slices.Concat(side...))
	}
	return rows
}

// liveSteps returns each step function restricted to its channel's inputs, and a step function for all channels
// restricted to all inputs. It returns steps itself if nothing changes, and never changes it.
func liveSteps(steps []StepFunction, in []Range) []StepFunction {
	if len(steps) == 1 {
		u := in[0]
		for _, r := range in {
			u = u.Union(r)
		}
		return []StepFunction{steps[0].RestrictedTo(u)}
	}
	over := func(c int) Range { return in[min(c, len(in)-1)] }
	first := 0 // first step function that changes
	for first < len(steps) && steps[first].within(over(first)) {
		first++
	}
	if first == len(steps) {
		return steps
	}
	live := slices.Clone(steps)
	for c := first; c < len(live); c++ {
		live[c] = steps[c].RestrictedTo(over(c))
	}
	return live
}

// commonUnit returns the greatest common divisor of all jumps, or 1 if there are none or it exceeds maxUnit. ok is
// false if a function decreases, or if one would need more than most units.
func commonUnit(live []StepFunction, most int) (unit int64, ok bool) {
	var g uint64
	for _, s := range live {
		if !s.IsNonDecreasing() {
			return 0, false
		}
		for i := range s.At {
			g = gcd(g, uint64(s.Value[i+1])-uint64(s.Value[i]))
		}
	}
	if g == 0 || g > maxUnit {
		g = 1
	}
	for _, s := range live {
		if (uint64(s.Value[len(s.At)])-uint64(s.Value[0]))/g > uint64(most) {
			return 0, false
		}
	}
	return int64(g), true
}

// gcd returns the greatest common divisor of a and b; that of 0 and b is b.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
