package samples

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// SplitIntoRunsOfLengths splits arrays into runs like splitIntoRuns, for a model of sequences of different lengths. The
// arrays may be shorter than the longest sequence. steps gives the number of time steps of each sample; nil means that
// all have as many as the arrays. Elements after the last step are ignored.
func SplitIntoRunsOfLengths(m *dataflow.Model, arrays map[string]*npy.Array, steps *npy.Array) (*RunInputs, error) {
	s, err := OpenSampleSource(m, NewArrayReaders(arrays), steps)
	if err != nil {
		return nil, err
	}
	return s.ReadAll()
}

// stored returns the number of time steps that the arrays hold per sample. It returns an error if the model does not
// allow as many.
func stored(m *dataflow.Model, arrays map[string]*npy.ArrayReader) (int, error) {
	l := m.Lengths
	for k, in := range m.In {
		a := arrays[in.Name]
		if a == nil && len(m.In) == 1 {
			a = arrays[""]
		}
		axis := l.Inputs[k]
		if a == nil || axis < 0 {
			continue
		}
		// An array may lack the batch axis of the input, or have an additional axis of samples.
		axis += len(a.Shape) - len(in.Shape)
		if axis < 0 || axis >= len(a.Shape) {
			break
		}
		if n := a.Shape[axis]; n >= l.Min && n <= l.Max {
			return n, nil
		}
		return 0, &UnfitDataError{fmt.Sprintf(
			"the data for input %q of shape %v have sequences of %d steps, want %d to %d",
			in.Name, a.Shape, a.Shape[axis], l.Min, l.Max), fmt.Sprintf("give data of %d to %d steps, or allow as "+
			"many as they have with --dim", l.Min, l.Max), false}
	}
	return l.Max, nil // open reports the error of the shapes
}

// resized returns a tensor with n elements along an axis: t itself if it has as many. Otherwise it returns a copy that
// is cut off, or has zeros appended.
func resized(t dataflow.RealTensor, axis, n int) dataflow.RealTensor {
	was := t.Shape[axis]
	if was == n {
		return t
	}
	out := dataflow.RealTensor{Shape: append([]int{}, t.Shape...)}
	out.Shape[axis] = n
	inner := dataflow.Shape(t.Shape[axis+1:]).ElementCount()
	out.Data = make([]float64, dataflow.Shape(out.Shape).ElementCount())
	for block := range dataflow.Shape(t.Shape[:axis]).ElementCount() {
		copy(out.Data[block*n*inner:(block+1)*n*inner], t.Data[block*was*inner:(block+1)*was*inner])
	}
	return out
}

// StepsOfRun returns the number of steps of run i, or 0 if all runs have the length of the model.
func (s *RunInputs) StepsOfRun(i int) int {
	if s.Lengths == nil {
		return 0
	}
	return s.Lengths[i]
}

// PadWithZeros appends zeros to a tensor along the first axis that is too short for shape. ok is false if the result
// does not have that shape.
func PadWithZeros(t dataflow.RealTensor, shape []int) (padded dataflow.RealTensor, ok bool) {
	if len(t.Shape) != len(shape) {
		return t, false
	}
	for axis, n := range shape {
		if n > t.Shape[axis] {
			t = resized(t, axis, n)
			break
		}
	}
	return t, slices.Equal(t.Shape, shape)
}

// PadOutput returns output k of a run, extended to Stored steps. The added steps are zeros, or the values that the
// model gives there. It returns run itself if that output has no axis of steps.
func (s *RunInputs) PadOutput(k int, run dataflow.RealTensor) dataflow.RealTensor {
	if s.axes == nil || s.axes[k] < 0 {
		return run
	}
	axis := s.axes[k]
	out := resized(run, axis, s.Stored)
	if s.behind == nil || run.Shape[axis] == s.Stored {
		return out
	}
	behind := resized(s.behind[k], axis, s.Stored)
	inner := dataflow.Shape(run.Shape[axis+1:]).ElementCount()
	for i, v := range behind.Data {
		if i/inner%s.Stored >= run.Shape[axis] {
			out.Data[i] = v
		}
	}
	return out
}

// TrimOutput returns output k of run i without the elements after its last step. It returns run itself if that output
// has no axis of steps, or no such elements.
func (s *RunInputs) TrimOutput(k, i int, run dataflow.RealTensor) dataflow.RealTensor {
	if s.axes == nil || s.axes[k] < 0 {
		return run
	}
	return resized(run, s.axes[k], s.Lengths[i])
}

// MakeRandomRunsOfMixedLengths makes random runs like MakeRandomRuns, for a model of sequences of different lengths.
// The lengths include the longest and the shortest one.
func MakeRandomRunsOfMixedLengths(m *dataflow.Model, n int) (*RunInputs, error) {
	if m.Lengths == nil {
		return MakeRandomRuns(m, n), nil
	}
	l, rnd := m.Lengths, rand.New(rand.NewPCG(1, 2))
	some := []int{l.Max, l.Min, (l.Min + l.Max) / 2, max(l.Min, l.Max-1)}
	s := &RunInputs{axes: l.Outputs, Stored: l.Max}
	for i := range n {
		steps := some[i%len(some)]
		at, err := l.Of(steps)
		if err != nil {
			return nil, err
		}
		in := random(at, rnd)
		for k := range at.In {
			if at.In[k].Name == l.Input {
				in[k].Data = []float64{float64(steps)}
			}
		}
		s.In = append(s.In, in)
		s.Lengths = append(s.Lengths, steps)
	}
	return s, nil
}
