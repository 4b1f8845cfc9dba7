package rtlsim

import (
	"testing"

	"hlsgen/internal/dataflow"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	frame := func(values ...int64) []dataflow.Tensor {
		return []dataflow.Tensor{{Shape: dataflow.Shape{1}, Data: []int64{7}},
			{Shape: dataflow.Shape{2, 3}, Data: values}}
	}
	want := [][]dataflow.Tensor{frame(1, 2, 3, 4, 5, 6), frame(0, 0, 0, 0, 0, 0), frame(1, 1, 1, 1, 1, 1)}
	for _, c := range []struct {
		got  [][]dataflow.Tensor
		want string
	}{
		{want, ""},
		{[][]dataflow.Tensor{frame(1, 2, 3, 4, -5, 7), frame(0, 0, 0, 0, 0, 0), frame(1, 2, 1, 1, 1, 1)},
			"frame 0, output 1, element [1 1]: got -5, want 5; 2 frames differ"},
		{want[:2], "2 frames, want 3"},
		{[][]dataflow.Tensor{want[0], want[1][:1], want[2]}, "frame 1 has 1 outputs, want 2"},
		{[][]dataflow.Tensor{want[0], want[1], {want[2][0], want[2][0]}},
			"frame 2, output 1 has shape [1] and 1 values, want [2 3] and 6"},
	} {
		got := ""
		if err := CompareOutputs(c.got, want); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestApart(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		a := make([]int64, n)
		if i := apart(a, make([]int64, n)); i != -1 {
			t.Errorf("%d equal elements part at %d", n, i)
		}
		for want := range n {
			b := make([]int64, n)
			b[want], b[n-1] = 1, 1
			if i := apart(a, b); i != want {
				t.Errorf("of %d elements: %d, want %d", n, i, want)
			}
		}
	}
}
