package samples

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
)

// shapeHint returns the NumPy call that gives data x of a shape the shape of the input. If no call does, it returns a
// text that names the axes that differ, or "" if the number of axes differs.
func shapeHint(in dataflow.RealTensorInfo, shape []int) string {
	per := in.Shape // one sample, as the data may have N of them
	if in.Batch && in.Shape[0] == 1 {
		per = in.Shape[1:]
	}
	for _, try := range []func(per, shape []int) string{lacksSamples, transposed, lacksOnes, flattened, unflattened} {
		if hint := try(per, shape); hint != "" {
			return hint
		}
	}
	return different(per, shape)
}

// lacksSamples returns a hint for a single sample without the axis that counts samples, or "" if the data are none. per
// is the shape of a sample, and shape that of the data.
func lacksSamples(per, shape []int) string {
	if !slices.Equal(per, shape) {
		return ""
	}
	return "this is one sample without the axis that counts samples: x[np.newaxis]"
}

// transposed returns a hint for data whose axes are in another order, or "" if no order fits. It prefers to move
// channels between the ends of a sample. Next it prefers orders that keep the first axes in place.
func transposed(per, shape []int) string {
	n := len(shape)
	fits := func(order []int, per []int) bool {
		for i, a := range order {
			if shape[a] != per[i] {
				return false
			}
		}
		return true
	}
	axes := make([]int, n)
	for i := range axes {
		axes[i] = i
	}
	switch n {
	case len(per): // one sample
		for _, order := range append([][]int{rotated(axes, 0, -1), rotated(axes, 0, 1)}, orders(axes)...) {
			if fits(order, per) {
				return layoutName(order, 0) + numpyCall("transpose", order) + "[np.newaxis]"
			}
		}
	case len(per) + 1:
		for _, order := range append([][]int{rotated(axes, 1, -1), rotated(axes, 1, 1)}, orders(axes)...) {
			if fits(order[1:], per) {
				return layoutName(order, 1) + numpyCall("transpose", order)
			}
		}
	}
	return ""
}

// rotated moves the last axis to position from (by = -1), or the axis at position from to the end (by = 1).
func rotated(axes []int, from, by int) []int {
	out := slices.Clone(axes)
	if n := len(axes); n > from+1 && by < 0 {
		copy(out[from+1:], axes[from:n-1])
		out[from] = axes[n-1]
	} else if n > from+1 {
		copy(out[from:], axes[from+1:])
		out[n-1] = axes[from]
	}
	return out
}

// orders lists the permutations of up to five axes in lexicographic order, beginning with axes itself.
func orders(axes []int) (all [][]int) {
	if len(axes) > 5 {
		return nil
	}
	if len(axes) == 0 {
		return [][]int{{}}
	}
	for i, a := range axes {
		for _, rest := range orders(slices.Delete(slices.Clone(axes), i, i+1)) {
			all = append(all, append([]int{a}, rest...))
		}
	}
	return all
}

// layoutName returns the beginning of a hint, which says which axes an order moves. from is the first axis of a sample.
func layoutName(order []int, from int) string {
	n := len(order)
	switch {
	case n-from < 2:
	case order[from] == n-1 && slices.IsSorted(order[from+1:]):
		return "the data have channels last, the model has them first: "
	case order[n-1] == from && slices.IsSorted(order[from:n-1]):
		return "the data have channels first, the model has them last: "
	}
	return "the axes stand in another order: "
}

// lacksOnes returns a hint for data that differ in axes of one element, such as the channel of a grey image. It returns
// "" if they differ otherwise.
func lacksOnes(per, shape []int) string {
	without := func(s []int) []int { return slices.DeleteFunc(slices.Clone(s), func(d int) bool { return d == 1 }) }
	a, b := without(per), without(shape)
	n := 1
	if len(b) == len(a)+1 {
		n, b = b[0], b[1:]
	}
	if !slices.Equal(a, b) || len(a) == 0 {
		return ""
	}
	what := "the data have an axis of 1 that the model lacks, or lack one that it has: "
	if n == 1 && len(shape) < len(per)+1 {
		what = "the data lack axes of 1: "
	} else if len(shape) < len(per)+1 {
		what = "the data lack an axis of 1, such as the channel of grey images: "
	}
	return what + numpyCall("reshape", append([]int{-1}, per...))
}

// flattened returns a hint for samples whose axes are merged into one, or "" if they are not.
func flattened(per, shape []int) string {
	size := dataflow.Shape(per).ElementCount()
	rows := len(shape) == 2 && shape[1] == size
	if len(per) < 2 || !rows && !(len(shape) == 1 && shape[0]%size == 0 && shape[0] > 0) {
		return ""
	}
	hint := "the samples are flattened: " + numpyCall("reshape", append([]int{-1}, per...))
	if first := per[0]; len(per) > 2 && first > 1 && first < per[len(per)-1] {
		last := append(append([]int{-1}, per[1:]...), first)
		order := []int{0, len(per)}
		for i := 1; i < len(per); i++ {
			order = append(order, i)
		}
		hint += "; or, if channels were last, " + numpyCall("reshape", last) +
			strings.TrimPrefix(numpyCall("transpose", order), "x")
	}
	return hint
}

// unflattened returns a hint for data with several axes if the samples of the model have one axis, and otherwise "".
func unflattened(per, shape []int) string {
	if len(per) != 1 || len(shape) < 2 {
		return ""
	}
	if dataflow.Shape(shape[1:]).ElementCount() == per[0] || dataflow.Shape(shape).ElementCount() == per[0] {
		return "the model takes flat samples, in the order in which it was trained: " +
			numpyCall("reshape", []int{-1, per[0]})
	}
	return ""
}

// different returns a text that names the axes whose size differs from a sample of the model. It returns "" if the
// number of axes differs.
func different(per, shape []int) string {
	if len(shape) == len(per)+1 {
		shape = shape[1:]
	}
	if len(shape) != len(per) {
		return ""
	}
	var list []string
	for i, d := range shape {
		if d != per[i] {
			list = append(list, fmt.Sprintf("%d where the model has %d (axis %d of a sample)", d, per[i], i))
		}
	}
	return fmt.Sprintf("give samples of shape %v, N of them as (N, *shape): the data have %s",
		per, strings.Join(list, ", "))
}

// numpyCall formats a call of a method of x.
func numpyCall(name string, args []int) string {
	return "x." + name + "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(args), " ", ", "), "[]") + ")"
}
