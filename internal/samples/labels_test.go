package samples

import (
	"math"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// TestWilson holds intervals against the roots of (p-share)^2 = z^2 p(1-p)/n, found by bisection elsewhere.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		right, n  int
		low, high float64
	}{
		{0, 10, 0, 0.2775327998628892},
		{5, 10, 0.23659309051256397, 0.763406909487436},
		{10, 10, 0.7224672001371107, 1},
		{124, 128, 0.9224023687386392, 0.9877817347549466},
		{101, 128, 0.7104932846593582, 0.8507869124950196},
		{1, 2, 0.09453120573423071, 0.9054687942657692},
		{1, 1, 0.20654931437723736, 1},
		{0, 0, 0, 1},
	} {
		a := NewAccuracy(c.right, c.n)
		if math.Abs(a.Low-c.low) > 1e-12 || math.Abs(a.High-c.high) > 1e-12 || a.Right != c.right || a.Samples != c.n {
			t.Errorf("%d of %d: %+v, want %v to %v", c.right, c.n, a, c.low, c.high)
		}
	}
	if got, want := NewAccuracy(124, 128).String(), "96.9 % (124/128; 95 % interval 92.2 to 98.8 %)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLabels holds which outputs and labels make classes, and what counts.
func TestLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		out    dataflow.RealTensorInfo
		runs   [][]float64
		labels []float64
		want   [2]int // right, of how many; of 0: refused
	}{
		{"the largest, the first of equals", dataflow.RealTensorInfo{Shape: []int{1, 3}, DType: "float32"},
			[][]float64{{0, 2, 2}, {3, 1, 2}, {0, 0, 0}}, []float64{1, 2, 0}, [2]int{2, 3}},
		{"without a label", dataflow.RealTensorInfo{Shape: []int{1, 2}, DType: "float32"},
			[][]float64{{0, 2}, {3, 1}}, []float64{-1, 0}, [2]int{1, 1}},
		{"vectors in a row", dataflow.RealTensorInfo{Shape: []int{1, 2, 2}, DType: "float32"},
			[][]float64{{0, 1, 1, 0}, {1, 0, 1, 0}}, []float64{1, 0, 0, 1}, [2]int{3, 4}},
		{"a shorter sequence", dataflow.RealTensorInfo{Shape: []int{1, 2, 2}, DType: "float32"},
			[][]float64{{0, 1}, {1, 0, 1, 0}}, []float64{1, 0, 0, 1}, [2]int{2, 3}},
		{"indices", dataflow.RealTensorInfo{Shape: []int{1, 1}, DType: "int64"},
			[][]float64{{7}, {3}}, []float64{7, 2}, [2]int{1, 2}},
		{"integer scores", dataflow.RealTensorInfo{Shape: []int{1, 3}, DType: "int32"},
			[][]float64{{7, 8, 9}, {3, 2, 1}}, []float64{2, 2}, [2]int{1, 2}},
		{"too few", dataflow.RealTensorInfo{Shape: []int{1, 3}, DType: "float32"},
			[][]float64{{7, 8, 9}, {3, 2, 1}}, []float64{2}, [2]int{}},
		{"a class that is not there", dataflow.RealTensorInfo{Shape: []int{1, 3}, DType: "float32"},
			[][]float64{{7, 8, 9}}, []float64{3}, [2]int{}},
		{"half a class", dataflow.RealTensorInfo{Shape: []int{1, 3}, DType: "float32"},
			[][]float64{{7, 8, 9}}, []float64{0.5}, [2]int{}},
		{"one number a sample", dataflow.RealTensorInfo{Shape: []int{1, 1}, DType: "float32"},
			[][]float64{{0.3}}, []float64{0}, [2]int{}},
		{"one label for several vectors", dataflow.RealTensorInfo{Shape: []int{1, 2, 2}, DType: "float32"},
			[][]float64{{0, 1, 1, 0}}, []float64{1}, [2]int{}},
		{"none", dataflow.RealTensorInfo{Shape: []int{1, 3}, DType: "float32"}, [][]float64{{7, 8, 9}}, nil, [2]int{}},
	} {
		l, err := NewClassLabelsFromArray(&npy.Array{DType: "float64", Data: c.labels}, len(c.runs),
			[]dataflow.RealTensorInfo{c.out})
		if err != nil {
			if c.want[1] > 0 {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var runs [][]dataflow.RealTensor
		for _, data := range c.runs {
			runs = append(runs, []dataflow.RealTensor{{Data: data}})
		}
		if a := l.MeasureAccuracy(runs); a.Right != c.want[0] || a.Samples != c.want[1] || c.want[1] == 0 {
			t.Errorf("%s: %v, want %v", c.name, a, c.want)
		}
	}
}
