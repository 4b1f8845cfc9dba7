package samples

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// batched is an input of samples of a shape.
func batched(sample ...int) dataflow.RealTensorInfo {
	return dataflow.RealTensorInfo{Name: "x", DType: "float32", Shape: append([]int{1}, sample...), Batch: true}
}

// TestShapeHints holds what is said of data that do not fit, and that what NumPy is told to do makes them fit.
func TestShapeHints(t *testing.T) {
	t.Parallel()
	image, grey, flat, signal := batched(3, 32, 32), batched(1, 28, 28), batched(784), batched(2, 100)
	last := batched(32, 32, 3)
	time := dataflow.RealTensorInfo{Name: "x", DType: "float32", Shape: []int{8, 1, 4}}
	for _, c := range []struct {
		in   dataflow.RealTensorInfo
		data []int
		hint string // contained; empty: there is none
	}{
		{image, []int{10, 32, 32, 3}, "the data have channels last, the model has them first: x.transpose(0, 3, 1, 2)"},
		{last, []int{10, 3, 32, 32}, "the data have channels first, the model has them last: x.transpose(0, 2, 3, 1)"},
		{image, []int{32, 32, 3},
			"the data have channels last, the model has them first: x.transpose(2, 0, 1)[np.newaxis]"},
		{last, []int{3, 32, 32},
			"the data have channels first, the model has them last: x.transpose(1, 2, 0)[np.newaxis]"},
		{signal, []int{9, 100, 2}, "the data have channels last, the model has them first: x.transpose(0, 2, 1)"},
		{batched(3, 32, 16), []int{10, 3, 16, 32}, "the axes stand in another order: x.transpose(0, 1, 3, 2)"},
		{image, []int{32, 32, 3, 10}, "the axes stand in another order: x.transpose(3, 2, 0, 1)"},
		{image, []int{3, 32, 32}, "one sample without the axis that counts samples: x[np.newaxis]"},
		{flat, []int{784}, "x[np.newaxis]"},
		{grey, []int{10, 28, 28}, "lack an axis of 1, such as the channel of grey images: x.reshape(-1, 1, 28, 28)"},
		{grey, []int{28, 28}, "the data lack axes of 1: x.reshape(-1, 1, 28, 28)"},
		{grey, []int{10, 28, 28, 1}, "x.transpose(0, 3, 1, 2)"},
		{grey, []int{10, 1, 1, 28, 28}, "have an axis of 1 that the model lacks"},
		{grey, []int{10, 784}, "the samples are flattened: x.reshape(-1, 1, 28, 28)"},
		{grey, []int{7840}, "the samples are flattened: x.reshape(-1, 1, 28, 28)"},
		{image, []int{10, 3072},
			"x.reshape(-1, 3, 32, 32); or, if channels were last, x.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)"},
		{flat, []int{10, 28, 28},
			"the model takes flat samples, in the order in which it was trained: x.reshape(-1, 784)"},
		{flat, []int{28, 28}, "x.reshape(-1, 784)"},
		{flat, []int{10, 1, 28, 28}, "x.reshape(-1, 784)"},
		{batched(4), []int{5, 4, 1}, "x.reshape(-1, 4)"},
		{time, []int{8, 4}, "the data lack axes of 1: x.reshape(-1, 8, 1, 4)"},
		{time, []int{5, 8, 4}, "x.reshape(-1, 8, 1, 4)"},
		{time, []int{1, 8, 4}, "x.transpose(1, 0, 2)"},
		{image, []int{10, 3, 28, 28},
			"28 where the model has 32 (axis 1 of a sample), 28 where the model has 32 (axis 2 of a sample)"},
		{image, []int{10, 1, 32, 32},
			"give samples of shape [3 32 32], N of them as (N, *shape): the data have 1 where the model has 3 (axis " +
				"0 of a sample)"},
		{flat, []int{10, 783}, "the data have 783 where the model has 784"},
		{image, []int{5, 5}, ""},
		{image, []int{}, ""},
		{image, []int{0, 3072}, "x.reshape"},
		{dataflow.RealTensorInfo{Name: "x", DType: "float32", Shape: []int{1, 3, 8, 8}, Whole: []int{4, 3, 8, 8},
			Batch: true},
			[]int{4, 8, 8, 3}, "x.transpose(0, 3, 1, 2)"},
	} {
		hint := shapeHint(c.in, c.data)
		if !strings.Contains(hint, c.hint) || c.hint == "" && hint != "" {
			t.Errorf("%v for %v: %q, want %q", c.data, c.in.Shape, hint, c.hint)
		}
		for _, code := range recipes.FindAllString(hint, -1) {
			y := apply(t, code, counted(c.data))
			if _, _, err := layoutOf(c.in, y.Shape); err != nil {
				t.Errorf("%v for %v: %s gives %v", c.data, c.in.Shape, code, y.Shape)
			}
		}
	}
}

// TestShapeHintsUndo puts the axes of random data in another order: what NumPy is told brings back the model's, or,
// where axes are equally long, its shape.
func TestShapeHintsUndo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 9))
	for range 2000 {
		sizes := r.Perm(9)
		shape := []int{}
		for i := range 1 + r.IntN(3) {
			shape = append(shape, 2+sizes[i])
		}
		want := counted(append([]int{13}, shape...))
		order := r.Perm(len(want.Shape))
		data := turned(want, order)
		if slices.Equal(data.Shape, want.Shape) {
			continue
		}
		hint := shapeHint(batched(shape...), data.Shape)
		codes := recipes.FindAllString(hint, -1)
		if len(codes) != 1 {
			t.Fatalf("%v for %v: %q", data.Shape, shape, hint)
		}
		if got := apply(t, codes[0], data); !slices.Equal(got.Shape, want.Shape) || !slices.Equal(got.Data, want.Data) {
			t.Fatalf("%v for %v: %s gives %v", data.Shape, shape, codes[0], got.Shape)
		}
	}
}

// recipes is what a hint has of NumPy, and calls its parts.
var (
	recipes = regexp.MustCompile(`x(\.[a-z]+\([-0-9, ]*\)|\[np\.newaxis\])+`)
	calls   = regexp.MustCompile(`\.([a-z]+)\(([-0-9, ]*)\)|\[np\.newaxis\]`)
)

// apply does with an array what NumPy would.
func apply(t *testing.T, code string, a *npy.Array) *npy.Array {
	t.Helper()
	for _, call := range calls.FindAllStringSubmatch(code, -1) {
		var args []int
		for _, s := range strings.Split(call[2], ",") {
			if v, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
				args = append(args, v)
			}
		}
		switch call[1] {
		case "":
			a = &npy.Array{DType: a.DType, Shape: append([]int{1}, a.Shape...), Data: a.Data}
		case "transpose":
			a = turned(a, args)
		case "reshape":
			size := 1
			for _, d := range args[1:] {
				size *= d
			}
			if args[0] != -1 || len(a.Data)%size != 0 {
				t.Fatalf("%s of %v", code, a.Shape)
			}
			args[0] = len(a.Data) / size
			a = &npy.Array{DType: a.DType, Shape: args, Data: a.Data}
		default:
			t.Fatalf("%s is not known here", code)
		}
	}
	return a
}

// turned is NumPy's transpose.
func turned(a *npy.Array, order []int) *npy.Array {
	out := &npy.Array{DType: a.DType}
	strides := make([]int, len(a.Shape))
	n := 1
	for i := len(a.Shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= a.Shape[i]
	}
	for _, axis := range order {
		out.Shape = append(out.Shape, a.Shape[axis])
	}
	for e := range a.ElementCount() {
		from, rest := 0, e
		for i := len(order) - 1; i >= 0; i-- {
			from += rest % out.Shape[i] * strides[order[i]]
			rest /= out.Shape[i]
		}
		out.Data = append(out.Data, a.Data[from])
	}
	return out
}
