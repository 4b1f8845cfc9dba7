package samples

import (
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// TestIntegerInput gives a model of integers any integers and reals that its type holds.
func TestIntegerInput(t *testing.T) {
	t.Parallel()
	in := dataflow.RealTensorInfo{Name: "x", DType: "int8", Shape: []int{1, 2}, Batch: true}
	for _, c := range []struct {
		dtype string
		data  []float64
		ok    bool
	}{
		{"int8", []float64{-128, 127}, true}, {"uint8", []float64{0, 127}, true}, {"int64", []float64{-128, 0}, true},
		{"float32", []float64{-1, 3}, true}, {"bool", []float64{0, 1}, true},
		{"uint8", []float64{0, 128}, false}, {"int64", []float64{-129, 0}, false},
		{"float32", []float64{0.5, 3}, false}, {"float16", []float64{1, 200}, false},
	} {
		_, err := splitIntoRuns(&dataflow.Model{In: []dataflow.RealTensorInfo{in}},
			map[string]*npy.Array{"": {DType: c.dtype, Shape: []int{1, 2}, Data: c.data}})
		if (err == nil) != c.ok {
			t.Errorf("%v of %s for int8: %v", c.data, c.dtype, err)
		}
	}
}

// TestFixedBatchShapes holds which shapes of data a model with a fixed batch takes.
func TestFixedBatchShapes(t *testing.T) {
	t.Parallel()
	shared := dataflow.RealTensorInfo{Name: "z", Shape: []int{1, 2}, DType: "float32", Batch: true}
	of := func(others ...dataflow.RealTensorInfo) *dataflow.Model {
		return &dataflow.Model{
			In: append(
				[]dataflow.RealTensorInfo{{Name: "x", Shape: []int{1, 3}, Whole: []int{4, 3}, DType: "float32",
					Batch: true}},
				others...),
			Out: []dataflow.RealTensorInfo{
				{Name: "y", Shape: []int{1, 5}, Whole: []int{4, 5}, Batch: true},
				{Name: "flat", Shape: []int{5}, Whole: []int{4, 5}, Batch: true},
				{Name: "rows", Shape: []int{2, 5}, Whole: []int{8, 5}, Batch: true},
			},
		}
	}
	for _, c := range []struct {
		model   *dataflow.Model
		x, z    []int
		samples int
		out     [3][]int
	}{
		{of(), []int{4, 3}, nil, 4, [3][]int{{4, 5}, {4, 5}, {8, 5}}},
		{of(), []int{2, 4, 3}, nil, 8, [3][]int{{2, 4, 5}, {2, 4, 5}, {2, 8, 5}}},
		{of(), []int{7, 3}, nil, 7, [3][]int{{7, 5}, {7, 5}, {7, 2, 5}}},
		{of(), []int{1, 3}, nil, 1, [3][]int{{1, 5}, {1, 5}, {1, 2, 5}}},
		{of(), []int{2, 1, 3}, nil, 2, [3][]int{{2, 1, 5}, {2, 5}, {2, 2, 5}}},
		{of(), []int{3}, nil, 0, [3][]int{}},
		{of(), []int{4, 4}, nil, 0, [3][]int{}},
		{of(shared), []int{4, 3}, []int{1, 2}, 4, [3][]int{{4, 5}, {4, 5}, {8, 5}}},
		{of(shared), []int{2, 4, 3}, []int{2, 2}, 8, [3][]int{{2, 4, 5}, {2, 4, 5}, {2, 8, 5}}},
		{of(shared), []int{7, 3}, []int{7, 2}, 7, [3][]int{{7, 5}, {7, 5}, {7, 2, 5}}},
		{of(shared), []int{4, 3}, []int{3, 2}, 0, [3][]int{}},
	} {
		data := map[string]*npy.Array{"x": counted(c.x)}
		if c.z != nil {
			data["z"] = counted(c.z)
		}
		source, err := OpenSampleSource(c.model, NewArrayReaders(data), nil)
		var s *RunInputs
		if err == nil {
			s, err = source.ReadAll()
		}
		if c.samples == 0 {
			if err == nil {
				t.Errorf("%v and %v are taken", c.x, c.z)
			}
			continue
		}
		if err != nil || len(s.In) != c.samples {
			t.Errorf("%v: %v, want %d samples", c.x, err, c.samples)
			continue
		}
		for i, run := range s.In {
			if first := float64(i * 3); run[0].Data[0] != first {
				t.Errorf("%v: sample %d begins with %v, want %v", c.x, i, run[0].Data[0], first)
			}
			if c.z != nil && run[1].Data[0] != float64(i*c.z[0]/c.samples*2) {
				t.Errorf("%v and %v: sample %d goes with %v", c.x, c.z, i, run[1].Data)
			}
		}
		for k, out := range c.model.Out {
			runs := make([]dataflow.RealTensor, c.samples)
			for i := range runs {
				runs[i].Data = make([]float64, dataflow.Shape(out.Shape).ElementCount())
			}
			shape, y := source.JoinedOutputShape(out), s.JoinOutputs(out, runs)
			if !slices.Equal(shape, c.out[k]) || dataflow.Shape(shape).ElementCount() != len(y) {
				t.Errorf("%v: output %s has shape %v, %d elements; want %v", c.x, out.Name, shape, len(y), c.out[k])
			}
		}
	}
}

// counted is an array of 0, 1, 2 ...
func counted(shape []int) *npy.Array {
	a := &npy.Array{DType: "float32", Shape: shape}
	for i := range a.ElementCount() {
		a.Data = append(a.Data, float64(i))
	}
	return a
}
