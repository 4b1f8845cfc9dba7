package layertest

import (
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// RandomType returns a random type of the given shape, whose elements are bipolar or have at most bits bits. It has one
// range, or one per channel. A range may fill the element type or not, and a channel may be dead, with a single
// value.
func RandomType(r *rand.Rand, shape dataflow.Shape, bits int) dataflow.StreamType {
	t := dataflow.StreamType{Shape: shape}
	if r.IntN(5) == 0 {
		t.Elem = num.Type{Kind: num.KindBipolar, Width: 1}
		t.Range = []num.Range{{Lo: -1, Hi: 1}}
		return t
	}
	t.Elem = num.Type{Kind: []num.TypeKind{num.KindUInt, num.KindInt}[r.IntN(2)], Width: 1 + r.IntN(bits)}
	n := 1
	if r.IntN(2) == 0 {
		n = shape.ChannelCount()
	}
	for range n {
		x := t.Elem.Range()
		if r.IntN(2) == 0 {
			a, b := RandomInRange(r, x), RandomInRange(r, x)
			x = num.Range{Lo: min(a, b), Hi: max(a, b)}
		}
		if n > 1 && r.IntN(6) == 0 { // a dead channel
			x.Hi = x.Lo
		}
		t.Range = append(t.Range, x)
	}
	return t
}

// RandomInRange returns a random value of x, often one of its ends.
func RandomInRange(r *rand.Rand, x num.Range) int64 {
	switch r.IntN(4) {
	case 0:
		return x.Lo
	case 1:
		return x.Hi
	}
	return x.Lo + int64(r.Uint64N(uint64(x.ValueCount())))
}

// RandomStepFunction returns a random step function with at most n breakpoints, some of which may lie at or beyond the
// ends of x. Its values have at most bits bits, and do not decrease if rising is set.
func RandomStepFunction(r *rand.Rand, x num.Range, n, bits int, rising bool) num.StepFunction {
	var s num.StepFunction
	for range r.IntN(n + 1) {
		switch r.IntN(6) {
		case 0:
			s.At = append(s.At, x.Lo-r.Int64N(3))
		case 1:
			s.At = append(s.At, x.Hi+r.Int64N(3))
		default:
			s.At = append(s.At, RandomInRange(r, x))
		}
	}
	slices.Sort(s.At)
	s.At = slices.Compact(s.At)
	values := num.Type{Kind: num.KindInt, Width: bits}.Range()
	scale, offset := int64(1), int64(0)
	switch r.IntN(4) {
	case 0: // values are -1 and +1
		values, scale, offset = num.Range{Lo: 0, Hi: 1}, 2, -1
	case 1: // values are not negative
		values = num.Range{Lo: 0, Hi: values.Hi}
	}
	for range len(s.At) + 1 {
		s.Value = append(s.Value, scale*RandomInRange(r, values)+offset)
	}
	if rising {
		slices.Sort(s.Value)
	}
	return s
}

// Stairs returns a step function of n steps, each width values wide, that rises from 0 to 1 at 1.
func Stairs(n int, width int64) num.StepFunction {
	s := num.StepFunction{Value: []int64{0}}
	for i := range int64(n) {
		s.At, s.Value = append(s.At, width*i+1), append(s.Value, i+1)
	}
	return s
}

// Weights returns n random weights within x for each channel. If sparse is set, channels or inputs may be dead, even
// all; otherwise no weight is 0.
func Weights(r *rand.Rand, channels, n int, x num.Range, sparse bool) [][]int64 {
	weights := make([][]int64, channels)
	for c := range weights {
		for range n {
			w := RandomInRange(r, x)
			for !sparse && w == 0 {
				w = RandomInRange(r, x)
			}
			weights[c] = append(weights[c], w)
		}
	}
	if sparse && x.Lo <= 0 && x.Hi >= 0 && r.IntN(2) == 0 {
		prune(r, weights)
	}
	return weights
}

// FewWeights returns n weights for each channel, with so few different values that memories store codes. They are odd
// numbers, numbers at equal distances, powers of two, or any. Some values may not occur.
func FewWeights(r *rand.Rand, channels, n int) [][]int64 {
	values := [][]int64{
		{-3, -1, 1, 3}, {1, 3, 5, 7}, {-7, -5, -3, -1, 1, 3, 5, 7}, {-5, -2, 1, 4}, {-13, -5, 3, 11}, {-100, 7}, {5},
		{-8, -4, -2, -1, 0, 1, 2, 4, 8}, {-8, -4, -2, -1, 1, 2, 4, 8},
		{-90, -31, 0, 17, 64},
	}[r.IntN(10)]
	weights := make([][]int64, channels)
	for c := range weights {
		for range n {
			weights[c] = append(weights[c], values[r.IntN(len(values))])
		}
	}
	return weights
}

// prune sets some rows and columns to zero, and sometimes all of them.
func prune(r *rand.Rand, weights [][]int64) {
	all := r.IntN(16) == 0
	for c := range weights {
		if all || r.IntN(6) == 0 {
			clear(weights[c])
		}
	}
	for k := range weights[0] {
		if r.IntN(6) == 0 {
			for c := range weights {
				weights[c][k] = 0
			}
		}
	}
}

// frame returns one tensor per input: for n = 0 the lowest values, for n = 1 the highest, and then random ones.
func frame(r *rand.Rand, types []dataflow.StreamType, n int) []dataflow.Tensor {
	var f []dataflow.Tensor
	for _, t := range types {
		v := dataflow.Tensor{Shape: t.Shape, Data: make([]int64, t.Shape.ElementCount())}
		for i := range v.Data {
			x := t.ChannelRange(i % t.Shape.ChannelCount())
			switch n {
			case 0:
				v.Data[i] = x.Lo
			case 1:
				v.Data[i] = x.Hi
			default:
				v.Data[i] = RandomInRange(r, x)
				for !t.Elem.Holds(v.Data[i]) {
					v.Data[i] = RandomInRange(r, x)
				}
			}
		}
		f = append(f, v)
	}
	return f
}
