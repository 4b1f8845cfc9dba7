// Package samples makes runs of a model out of arrays of any shape that a user may mean, and arrays of runs' outputs.
// Where data do not fit it says what NumPy would make of them.
//
// In come arrays; out come tensors of samples, and the other way round. It sees dataflow, npy and num.
package samples

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
)

// Runs is a model's input data, one entry per run.
type Runs struct {
	In      [][]dataflow.RealTensor // per run, per model input
	Lengths []int                   // per run: steps of its sequence; nil where all have those of the model
	Stored  int                     // steps that the data have of each run; 0 without Lengths
	lie     layout
	axes    []int                 // of time, by output of the model; nil where all runs have those of the model
	behind  []dataflow.RealTensor // the end of sequences, by output; nil for zeros
}

// A layout is how runs lie in an array: so many at a time side by side along the axis of samples (dataflow.Real), those
// then one behind the other. shape is that of an output's array.
type layout struct {
	shape func(out dataflow.Real) []int
	side  int
}

// Split makes runs of arrays, one array per model input by name ("" where there is one input). The accepted shapes are,
// in this order: the model's own (one run, or as many as its fixed batch has samples); (N, *shape): N of these;
// (N, *shape without its leading batch axis): N runs; the shape with N along its axis of samples: N runs. The error may
// be an *Unfit.
func Split(m *dataflow.Model, arrays map[string]*npy.Array) (*Runs, error) {
	if len(m.In) > 1 && arrays[""] != nil {
		return nil, fmt.Errorf("the model has %d inputs: give an .npz file with one array per input name", len(m.In))
	}
	s := &Runs{}
	each := make([][]dataflow.RealTensor, len(m.In))
	for k, in := range m.In {
		a := arrays[in.Name]
		if a == nil && len(m.In) == 1 {
			a = arrays[""] // an .npy file has no names
		}
		if a == nil {
			return nil, fmt.Errorf("no array for input %q", in.Name)
		}
		runs, lie, err := runsOf(in, a.Shape)
		if err != nil {
			return nil, err
		}
		if runs == 0 {
			return nil, fmt.Errorf("there are no samples for input %q", in.Name)
		}
		data, err := values(in, a)
		if err != nil {
			return nil, err
		}
		each[k] = apart(data, in, runs, lie.side)
		if s.lie.shape == nil || len(in.Whole) > 0 {
			s.lie = lie
		}
	}
	return s, s.zip(m, each)
}

// zip puts the inputs' runs together. What all samples of a fixed batch share is given once for them.
func (s *Runs) zip(m *dataflow.Model, each [][]dataflow.RealTensor) error {
	most := slices.MaxFunc(each, func(a, b []dataflow.RealTensor) int { return len(a) - len(b) })
	batch := slices.ContainsFunc(m.In, func(in dataflow.Real) bool { return in.Whole != nil })
	s.In = make([][]dataflow.RealTensor, len(most))
	all := make([]dataflow.RealTensor, len(most)*len(m.In))
	for i := range s.In {
		s.In[i] = all[i*len(m.In) : (i+1)*len(m.In) : (i+1)*len(m.In)]
	}
	for k, in := range m.In {
		share := batch && in.Whole == nil && len(most)%len(each[k]) == 0
		if len(each[k]) != len(most) && !share {
			return fmt.Errorf("input %q has %d samples, others have %d", in.Name, len(each[k]), len(most))
		}
		for i := range s.In {
			s.In[i][k] = each[k][i*len(each[k])/len(most)]
		}
	}
	return nil
}

// apart cuts an array into runs of a shape, of which so many at a time lie side by side.
func apart(data []float64, of dataflow.Real, runs, side int) (list []dataflow.RealTensor) {
	inner, size := dataflow.Shape(of.Shape[of.Axis:]).Size(), dataflow.Shape(of.Shape).Size()
	list = make([]dataflow.RealTensor, 0, runs)
	for i := range runs {
		if inner == size || side == 1 {
			list = append(list, dataflow.RealTensor{Shape: of.Shape, Data: data[i*size : (i+1)*size]})
			continue
		}
		t := dataflow.RealTensor{Shape: of.Shape}
		for at := i/side*side*size + i%side*inner; len(t.Data) < size; at += side * inner {
			t.Data = append(t.Data, data[at:at+inner]...)
		}
		list = append(list, t)
	}
	return list
}

// runsOf matches a data shape against an input.
func runsOf(in dataflow.Real, shape []int) (runs int, lie layout, err error) {
	own, batch := in.Shape, 1
	if in.Whole != nil {
		own, batch = in.Whole, in.Whole[in.Axis]
	}
	written := func(out dataflow.Real) []int {
		if out.Whole != nil {
			return out.Whole
		}
		return out.Shape
	}
	switch {
	case slices.Equal(shape, own):
		return batch, layout{written, batch}, nil
	case len(shape) == len(own)+1 && slices.Equal(shape[1:], own):
		n := shape[0]
		return n * batch, layout{func(out dataflow.Real) []int { return append([]int{n}, written(out)...) }, batch}, nil
	case len(shape) == len(in.Shape)+1 && slices.Equal(shape[1:], in.Shape):
		n := shape[0]
		return n, layout{func(out dataflow.Real) []int { return append([]int{n}, out.Shape...) }, 1}, nil
	case in.Batch && len(shape) == len(in.Shape) && in.Shape[in.Axis] == 1 &&
		slices.Equal(with(shape, in.Axis, 1), in.Shape):
		n := shape[in.Axis]
		return n, layout{func(out dataflow.Real) []int {
			if len(out.Shape) > out.Axis && out.Shape[out.Axis] == 1 {
				return with(out.Shape, out.Axis, n)
			}
			return slices.Insert(slices.Clone(out.Shape), out.Axis, n)
		}, n}, nil
	}
	return 0, lie, &Unfit{
		fmt.Sprintf("input %q has shape %v; the data have %v, which is neither that nor N samples of it", in.Name, own,
			shape),
		shapeHint(in, shape), false,
	}
}

// with is a shape with another size of an axis.
func with(shape []int, axis, n int) []int {
	out := slices.Clone(shape)
	out[axis] = n
	return out
}

// An Unfit error is data that do not fit the model, and what to do about it; the hint may be empty.
type Unfit struct {
	Msg, Hint string
	Steps     bool // it is the lengths of the samples that do not fit
}

func (e *Unfit) Error() string { return e.Msg }

// values gives the values of an array for an input. Real numbers are rounded to the input's type, here and nowhere
// else. Integers stand for themselves where the input's type is one; where reals arrive as integers, they are these;
// else nobody has said what they mean.
func values(in dataflow.Real, a *npy.Array) ([]float64, error) {
	lo, hi, integer := in.Limits()
	if integer {
		for i, v := range a.Data {
			if v != float64(int64(v)) || v < lo || v > hi {
				return nil, fmt.Errorf("input %q is of type %s, element %d is %v", in.Name, in.DType, i, v)
			}
		}
		return a.Data, nil
	}
	if _, _, integer = (dataflow.Real{DType: a.DType}).Limits(); !integer && a.DType == in.DType {
		return a.Data, nil // as they are
	} else if !integer {
		return rounded(in, a.Data)
	}
	if in.Arrives == nil {
		msg := fmt.Sprintf("input %q is of type %s, the data are integers (%s)", in.Name, in.DType, a.DType)
		return nil, &Unfit{Msg: msg, Hint: meaningHint(a)}
	}
	data := make([]float64, len(a.Data))
	for i, code := range a.Data {
		if !in.Arrives.Type.Holds(int64(code)) {
			return nil, fmt.Errorf("input %q arrives as %s, which does not hold %v (element %d)",
				in.Name, in.Arrives.Type, code, i)
		}
		data[i] = in.Arrives.Value(in.Arrives.Of(a.Shape, i), int64(code))
	}
	return data, nil
}

// rounded gives numbers as the type of an input holds them.
func rounded(in dataflow.Real, data []float64) ([]float64, error) {
	f, own := in.Format(), true // data is the array's own
	for i, v := range data {
		to := f.Round(v)
		if to == v || math.IsNaN(v) {
			continue
		}
		if math.IsInf(to, 0) {
			return nil, fmt.Errorf("input %q is of type %s, which does not hold %v (element %d)", in.Name, in.DType,
				v, i)
		}
		if own {
			data, own = slices.Clone(data), false
		}
		data[i] = to
	}
	return data, nil
}

// meaningHint says how integers get a meaning.
func meaningHint(a *npy.Array) string {
	reals := "save real numbers: x.astype(np.float32)"
	r := num.Range{}
	for _, v := range a.Data {
		r.Lo, r.Hi = min(r.Lo, int64(v)), max(r.Hi, int64(v))
	}
	t := num.Smallest(r)
	for _, width := range []int{8, 16} {
		if t.Width <= width {
			t.Width = width
			return fmt.Sprintf(
				"say what they stand for: --input-type %v for themselves, %v:1/255 for so many times it; or %s",
				t, t, reals)
		}
	}
	return reals
}

// Join makes one array of an output's runs.
func (s *Runs) Join(out dataflow.Real, runs []dataflow.RealTensor) *npy.Array {
	a := &npy.Array{DType: out.Stored(), Shape: s.lie.shape(out)}
	a.Data = make([]float64, 0, a.Size())
	for side := range slices.Chunk(runs, s.lie.side) {
		inner := dataflow.Shape(side[0].Shape[out.Axis:]).Size()
		for at := 0; at < len(side[0].Data); at += inner {
			for _, r := range side {
				a.Data = append(a.Data, r.Data[at:at+inner]...)
			}
		}
	}
	return a
}

// Apart is the opposite of Join: an output of every run. The array has as many elements as one that Join makes.
func (s *Runs) Apart(out dataflow.Real, data []float64) []dataflow.RealTensor {
	return apart(data, out, len(s.In), s.lie.side)
}

// Random makes n runs of data spread over the values that the model's first quantisers tell apart, the same on every
// machine.
func Random(m *dataflow.Model, n int) *Runs {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := &Runs{}
	for range n {
		s.In = append(s.In, random(m, rnd))
	}
	return s
}

// random makes a run.
func random(m *dataflow.Model, rnd *rand.Rand) (run []dataflow.RealTensor) {
	for _, in := range m.In {
		t := dataflow.RealTensor{Shape: in.Shape, Data: make([]float64, dataflow.Shape(in.Shape).Size())}
		lo, hi := in.Range[0], in.Range[1]
		_, _, integer := in.Limits()
		for i := range t.Data {
			v := lo + rnd.Float64()*(hi-lo)
			if in.Grid != nil {
				t.Data[i] = in.Grid(i, v)
			} else if integer {
				t.Data[i] = float64(int64(v))
			} else {
				t.Data[i] = in.Format().Round(v)
			}
		}
		run = append(run, t)
	}
	return run
}
