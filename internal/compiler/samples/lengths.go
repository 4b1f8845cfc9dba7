package samples

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// SplitLengths is Split for a model of sequences of different lengths. The arrays may be shorter than the longest
// sequence; steps are how many of each sample count, nil where all do: what stands behind them is not looked at.
func SplitLengths(m *dataflow.Model, arrays map[string]*npy.Array, steps *npy.Array) (*Runs, error) {
	l := m.Lengths
	if l == nil {
		if steps != nil {
			return nil, &Unfit{"lengths are given, but all sequences of the model have one length",
				"say which lengths an axis may have: --dim T=1..520", true}
		}
		return Split(m, arrays)
	}
	if l.Input != "" {
		if steps != nil {
			return nil, &Unfit{fmt.Sprintf("lengths are given, but input %q says them", l.Input),
				"leave --lengths out", true}
		}
		if steps = arrays[l.Input]; steps == nil {
			return nil, fmt.Errorf("no array for input %q, which says the lengths", l.Input)
		}
	}
	longest, err := stored(m, arrays)
	if err != nil {
		return nil, err
	}
	at, err := l.Of(longest)
	if err != nil {
		return nil, err
	}
	s, err := Split(at, arrays)
	if u := new(Unfit); errors.As(err, &u) {
		u.Msg += fmt.Sprintf(" (a shape of %d steps; there may be %d to %d)", longest, l.Min, l.Max)
	}
	if err != nil {
		return nil, err
	}
	s.axes, s.Stored = l.Outputs, longest
	for range s.In {
		s.Lengths = append(s.Lengths, longest)
	}
	if steps == nil {
		return s, nil
	}
	if len(steps.Data) != len(s.In) {
		return nil, &Unfit{fmt.Sprintf("%d lengths for %d samples", len(steps.Data), len(s.In)),
			"give an integer for each sample", true}
	}
	for i, v := range steps.Data {
		n := int(v)
		if float64(n) != v || n < l.Min || n > longest {
			hint := fmt.Sprintf("the data hold %d steps of each sample", longest)
			switch {
			case n < 1 || float64(n) != v:
				hint = "a sequence has a whole number of steps, one at least"
			case n < l.Min:
				hint = fmt.Sprintf("leave it out, or allow it: --dim %s=%d..%d", l.Axis, n, l.Max)
			}
			msg := fmt.Sprintf("sample %d has the length %v, want %d to %d", i, v, l.Min, longest)
			return nil, &Unfit{msg, hint, true}
		}
		if s.Lengths[i] = n; n < longest && l.Behind != nil && s.behind == nil {
			if s.behind, err = l.Behind(); err != nil {
				return nil, err
			}
		}
		for k, axis := range l.Inputs {
			if axis >= 0 {
				s.In[i][k] = resized(s.In[i][k], axis, n)
			}
		}
	}
	return s, nil
}

// stored is how many steps the arrays hold of each sample.
func stored(m *dataflow.Model, arrays map[string]*npy.Array) (int, error) {
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
			in.Name, a.Shape, a.Shape[axis], l.Min, l.Max), "", false}
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
