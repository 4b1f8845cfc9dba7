package build

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// Samples is a model's input data, one entry per run.
type Samples struct {
	In    [][]dataflow.RealTensor // per run, per model input
	shape func(model dataflow.Real) []int
}

// Split makes runs of arrays, one array per model input by name ("" where there is one input). The accepted shapes are,
// in this order: the model's own (one run); (N, *shape): N runs; (N, *shape without its leading batch axis): N runs.
func Split(m *dataflow.Model, arrays map[string]*npy.Array) (*Samples, error) {
	if len(m.In) > 1 && arrays[""] != nil {
		return nil, fmt.Errorf("the model has %d inputs: give an .npz file with one array per input name", len(m.In))
	}
	var s *Samples
	for _, in := range m.In {
		a := arrays[in.Name]
		if a == nil && len(m.In) == 1 {
			a = arrays[""] // an .npy file has no names
		}
		if a == nil {
			return nil, fmt.Errorf("no array for input %q", in.Name)
		}
		if a.DType != in.DType && a.DType != "float32" && a.DType != "float64" {
			return nil, fmt.Errorf("input %q is of type %s, the data are %s", in.Name, in.DType, a.DType)
		}
		runs, how, err := runsOf(in, a.Shape)
		if err != nil {
			return nil, err
		}
		if runs == 0 {
			return nil, fmt.Errorf("there are no samples for input %q", in.Name)
		}
		if s == nil {
			s = &Samples{In: make([][]dataflow.RealTensor, runs), shape: how}
		}
		if runs != len(s.In) {
			return nil, fmt.Errorf("input %q has %d samples, the first %d", in.Name, runs, len(s.In))
		}
		size := dataflow.Shape(in.Shape).Size()
		for i := range s.In {
			t := dataflow.RealTensor{Shape: in.Shape, Data: a.Data[i*size : (i+1)*size]}
			if err := checkType(in, t.Data); err != nil {
				return nil, fmt.Errorf("sample %d: %w", i, err)
			}
			s.In[i] = append(s.In[i], t)
		}
	}
	return s, nil
}

// runsOf matches a data shape against an input; how gives the leading axes of the matching output array.
func runsOf(in dataflow.Real, shape []int) (runs int, how func(dataflow.Real) []int, err error) {
	switch {
	case slices.Equal(shape, in.Shape):
		return 1, func(out dataflow.Real) []int { return out.Shape }, nil
	case len(shape) == len(in.Shape)+1 && slices.Equal(shape[1:], in.Shape):
		n := shape[0]
		return n, func(out dataflow.Real) []int { return append([]int{n}, out.Shape...) }, nil
	case in.Batch && len(shape) == len(in.Shape) && in.Shape[0] == 1 && slices.Equal(shape[1:], in.Shape[1:]):
		n := shape[0]
		return n, func(out dataflow.Real) []int {
			if len(out.Shape) > 0 && out.Shape[0] == 1 {
				return append([]int{n}, out.Shape[1:]...)
			}
			return append([]int{n}, out.Shape...)
		}, nil
	}
	return 0, nil, fmt.Errorf("input %q has shape %v; the data have %v, which is neither that nor N samples of it", in.Name, in.Shape, shape)
}

// checkType refuses data that an integer input cannot hold.
func checkType(in dataflow.Real, data []float64) error {
	lo, hi, integer := in.Limits()
	if !integer {
		return nil
	}
	for i, v := range data {
		if v != float64(int64(v)) || v < lo || v > hi {
			return fmt.Errorf("input %q is of type %s, element %d is %v", in.Name, in.DType, i, v)
		}
	}
	return nil
}

// Join makes one array of an output's runs.
func (s *Samples) Join(out dataflow.Real, runs []dataflow.RealTensor) *npy.Array {
	a := &npy.Array{DType: out.DType, Shape: s.shape(out)}
	for _, r := range runs {
		a.Data = append(a.Data, r.Data...)
	}
	return a
}

// Random makes n runs of data spread over the values that the model's first quantisers tell apart, the same on every
// machine.
func Random(m *dataflow.Model, n int) *Samples {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := &Samples{}
	for range n {
		var run []dataflow.RealTensor
		for _, in := range m.In {
			t := dataflow.RealTensor{Shape: in.Shape, Data: make([]float64, dataflow.Shape(in.Shape).Size())}
			lo, hi := in.Range[0], in.Range[1]
			_, _, integer := in.Limits()
			for i := range t.Data {
				v := lo + rnd.Float64()*(hi-lo)
				if in.Grid != nil {
					t.Data[i] = in.Grid(v)
				} else if integer {
					t.Data[i] = float64(int64(v))
				} else {
					t.Data[i] = float64(float32(v))
				}
			}
			run = append(run, t)
		}
		s.In = append(s.In, run)
	}
	return s
}
