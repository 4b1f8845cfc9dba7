package samples

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// SplitLengths is Split for a model of sequences of different lengths. The arrays may be shorter than the longest
// sequence; steps are how many of each sample count, nil where all do: what stands behind them is not looked at.
func SplitLengths(m *dataflow.Model, arrays map[string]*npy.Array, steps *npy.Array) (*Runs, error) {
	s, err := Open(m, InMemory(arrays), steps)
	if err != nil {
		return nil, err
	}
	return s.All()
}

// stored is how many steps the arrays hold of each sample.
func stored(m *dataflow.Model, arrays map[string]*npy.Stream) (int, error) {
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
		// Shapes of samples without their leading 1 are one axis shorter, and have N in its place.
		axis += len(a.Shape) - len(in.Shape)
		if axis < 0 || axis >= len(a.Shape) {
			break
		}
		if n := a.Shape[axis]; n >= l.Min && n <= l.Max {
			return n, nil
		}
		return 0, &Unfit{fmt.Sprintf("the data for input %q of shape %v have sequences of %d steps, want %d to %d",
			in.Name, a.Shape, a.Shape[axis], l.Min, l.Max), fmt.Sprintf("give data of %d to %d steps, or allow as "+
			"many as they have with --dim", l.Min, l.Max), false}
	}
	return l.Max, nil // Split says what is wrong
}

// resized is a tensor with n elements along an axis: the first ones, or with zeros behind them.
func resized(t dataflow.RealTensor, axis, n int) dataflow.RealTensor {
	was := t.Shape[axis]
	if was == n {
		return t
	}
	out := dataflow.RealTensor{Shape: append([]int{}, t.Shape...)}
	out.Shape[axis] = n
	inner := dataflow.Shape(t.Shape[axis+1:]).Size()
	out.Data = make([]float64, dataflow.Shape(out.Shape).Size())
	for block := range dataflow.Shape(t.Shape[:axis]).Size() {
		copy(out.Data[block*n*inner:(block+1)*n*inner], t.Data[block*was*inner:(block+1)*was*inner])
	}
	return out
}

// StepsOf is how many steps run i has; 0 where all have those of the model.
func (s *Runs) StepsOf(i int) int {
	if s.Lengths == nil {
		return 0
	}
	return s.Lengths[i]
}

// PadTo is a tensor with zeros behind it along the one axis in which a shape is longer, which then is its own. ok is
// false where they differ in another way.
func PadTo(t dataflow.RealTensor, shape []int) (padded dataflow.RealTensor, ok bool) {
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

// Padded is output k of a run with as many steps as the data have: zeros behind its last one, or what the model has
// there.
func (s *Runs) Padded(k int, run dataflow.RealTensor) dataflow.RealTensor {
	if s.axes == nil || s.axes[k] < 0 {
		return run
	}
	axis := s.axes[k]
	out := resized(run, axis, s.Stored)
	if s.behind == nil || run.Shape[axis] == s.Stored {
		return out
	}
	behind := resized(s.behind[k], axis, s.Stored)
	inner := dataflow.Shape(run.Shape[axis+1:]).Size()
	for i, v := range behind.Data {
		if i/inner%s.Stored >= run.Shape[axis] {
			out.Data[i] = v
		}
	}
	return out
}

// Cut is output k of run i without what stands behind its last step.
func (s *Runs) Cut(k, i int, run dataflow.RealTensor) dataflow.RealTensor {
	if s.axes == nil || s.axes[k] < 0 {
		return run
	}
	return resized(run, s.axes[k], s.Lengths[i])
}

// RandomLengths is Random for a model of sequences of different lengths: the longest, the shortest and some between, in
// turns.
func RandomLengths(m *dataflow.Model, n int) (*Runs, error) {
	if m.Lengths == nil {
		return Random(m, n), nil
	}
	l, rnd := m.Lengths, rand.New(rand.NewPCG(1, 2))
	some := []int{l.Max, l.Min, (l.Min + l.Max) / 2, max(l.Min, l.Max-1)}
	s := &Runs{axes: l.Outputs, Stored: l.Max}
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
