// Package samples splits arrays of any shape that a user may mean into runs of a model, and joins outputs of runs to
// arrays. A run is one execution of the model on one sample. If data do not fit, the error names the NumPy call that
// makes them fit.
//
// In come arrays; out come tensors of samples, and the other way round.
//
//	samples.go    splits arrays into runs
//	stdin.go      an array on standard input
//	source.go     reads runs a part at a time
//	codes.go      converts float32 numbers to codes
//	shapes.go     hints for shapes that do not fit
//	lengths.go    sequences of different lengths
//	labels.go     labels and accuracy
package samples

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// RunInputs holds the inputs of a model, one entry per run.
type RunInputs struct {
	In      [][]dataflow.RealTensor // by run, then by model input
	First   int                     // number of the first run within the source
	Lengths []int                   // number of steps of each run's sequence; nil if all have the model's length
	Stored  int                     // number of steps that the data hold per run; 0 without Lengths
	lie     layout
	axes    []int                 // time axis, by output of the model; nil without Lengths
	behind  []dataflow.RealTensor // values after the end of sequences, by output; nil for zeros
}

// A layout describes how runs lie in an array. Along the axis of samples (dataflow.RealTensorInfo), side runs are
// interleaved. Such groups follow each other.
type layout struct {
	shape func(out dataflow.RealTensorInfo, indices int) []int // returns the shape of an output's array
	side  int                                                  // number of interleaved runs; 0 for all
	// axis along which an array is read in parts; -1 if it is read whole
	axis int
	per  int  // number of runs per index of that axis
	own  bool // axis is the samples' axis of the input; outputs use their own
}

// beside returns the number of runs, of n in all, that are interleaved with each other.
func (l layout) beside(n int) int {
	if l.side == 0 {
		return n
	}
	return l.side
}

// together reports whether the elements of each run are contiguous, for any number of runs.
func (l layout) together(of dataflow.RealTensorInfo) bool {
	return l.side == 1 || dataflow.Shape(of.Shape[of.Axis:]).ElementCount() == dataflow.Shape(of.Shape).ElementCount()
}

// splitIntoRuns splits arrays in memory, one per input of the model, into runs. OpenSampleSource says which shapes fit.
func splitIntoRuns(m *dataflow.Model, arrays map[string]*npy.Array) (*RunInputs, error) {
	return SplitIntoRunsOfLengths(m, arrays, nil)
}

// NewArrayReaders converts arrays in memory to streams for OpenSampleSource.
func NewArrayReaders(arrays map[string]*npy.Array) map[string]*npy.ArrayReader {
	streams := map[string]*npy.ArrayReader{}
	for name, a := range arrays {
		streams[name] = npy.NewMemoryReader(a)
	}
	return streams
}

// zip combines the tensors of all inputs to runs. each has, by input, a tensor per run. If an input has fewer, several
// runs share each of them.
func zip(each [][]dataflow.RealTensor) [][]dataflow.RealTensor {
	n := len(slices.MaxFunc(each, func(a, b []dataflow.RealTensor) int { return len(a) - len(b) }))
	runs := make([][]dataflow.RealTensor, n)
	all := make([]dataflow.RealTensor, n*len(each))
	for i := range runs {
		runs[i] = all[i*len(each) : (i+1)*len(each) : (i+1)*len(each)]
		for k := range each {
			runs[i][k] = each[k][i*len(each[k])/n]
		}
	}
	return runs
}

// apart cuts an array into runs. In the array, groups of side runs are interleaved. Runs that are contiguous in the
// array share its memory; others are copies.
func apart(data []float64, of dataflow.RealTensorInfo, runs, side int) (list []dataflow.RealTensor) {
	inner, size := dataflow.Shape(of.Shape[of.Axis:]).ElementCount(), dataflow.Shape(of.Shape).ElementCount()
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

// layoutOf matches the shape of an array with an input. It returns the layout and the number of runs, or an
// *UnfitDataError.
func layoutOf(in dataflow.RealTensorInfo, shape []int) (lie layout, runs int, err error) {
	own, batch := in.Shape, 1
	if in.Whole != nil {
		own, batch = in.Whole, in.Whole[in.Axis]
	}
	written := func(out dataflow.RealTensorInfo) []int {
		if out.Whole != nil {
			return out.Whole
		}
		return out.Shape
	}
	switch {
	case slices.Equal(shape, own):
		lie = layout{func(out dataflow.RealTensorInfo, _ int) []int { return written(out) }, 1, -1, 1, false}
		if in.Whole != nil {
			lie.side, lie.axis, lie.own = 0, in.Axis, true
		}
		return lie, batch, nil
	case len(shape) == len(own)+1 && slices.Equal(shape[1:], own):
		return layout{func(out dataflow.RealTensorInfo, n int) []int { return append([]int{n}, written(out)...) },
				batch, 0,
				batch, false},
			shape[0] * batch, nil
	case len(shape) == len(in.Shape)+1 && slices.Equal(shape[1:], in.Shape):
		return layout{func(out dataflow.RealTensorInfo, n int) []int { return append([]int{n}, out.Shape...) }, 1, 0,
				1, false},
			shape[0], nil
	case in.Batch && len(shape) == len(in.Shape) && in.Shape[in.Axis] == 1 &&
		slices.Equal(with(shape, in.Axis, 1), in.Shape):
		return layout{func(out dataflow.RealTensorInfo, n int) []int {
			if len(out.Shape) > out.Axis && out.Shape[out.Axis] == 1 {
				return with(out.Shape, out.Axis, n)
			}
			return slices.Insert(slices.Clone(out.Shape), out.Axis, n)
		}, 0, in.Axis, 1, true}, shape[in.Axis], nil
	}
	return lie, 0, &UnfitDataError{
		fmt.Sprintf("input %q has shape %v; the data have %v, which is neither that nor N samples of it", in.Name, own,
			shape),
		shapeHint(in, shape), false,
	}
}

// with returns a copy of shape with size n for an axis.
func with(shape []int, axis, n int) []int {
	out := slices.Clone(shape)
	out[axis] = n
	return out
}

// An UnfitDataError states that data do not fit the model (Msg), and what the user can do (Hint, which may be empty).
type UnfitDataError struct {
	Msg, Hint string
	Steps     bool // the lengths of the samples do not fit
}

func (e *UnfitDataError) Error() string { return e.Msg }

// values converts the elements of a to values of an input, in place, and returns a.Data. It alone rounds to the input's
// type. It scales integers by in.Arrives if a real input arrives as such. OpenSampleSource refuses other integers for a
// real input. Errors name an element by place, which converts its index to that in the whole array.
func values(in dataflow.RealTensorInfo, a *npy.Array, place func(int) int) ([]float64, error) {
	lo, hi, integer := in.IntegerLimits()
	if integer {
		for i, v := range a.Data {
			if v != float64(int64(v)) || v < lo || v > hi {
				return nil, fmt.Errorf("input %q is of type %s, element %d is %v", in.Name, in.DType, place(i), v)
			}
		}
		return a.Data, nil
	}
	if _, _, integer = (dataflow.RealTensorInfo{DType: a.DType}).IntegerLimits(); !integer && a.DType == in.DType {
		return a.Data, nil // as they are
	} else if !integer {
		return rounded(in, a.Data, place)
	}
	for i, code := range a.Data {
		if !in.Arrives.Type.Holds(int64(code)) {
			return nil, fmt.Errorf("input %q arrives as %s, which does not hold %v (element %d)",
				in.Name, in.Arrives.Type, code, place(i))
		}
		a.Data[i] = in.Arrives.Value(in.Arrives.Of(a.Shape, i), int64(code))
	}
	return a.Data, nil
}

// rounded rounds numbers, in place, to the type of an input. It returns an error if the type does not hold a number.
func rounded(in dataflow.RealTensorInfo, data []float64, place func(int) int) ([]float64, error) {
	f := in.NumberFormat()
	for i, v := range data {
		to := f.RoundToNearest(v)
		if to == v || math.IsNaN(v) {
			continue
		}
		if math.IsInf(to, 0) {
			return nil, fmt.Errorf("input %q is of type %s, which does not hold %v (element %d)", in.Name, in.DType,
				v, place(i))
		}
		data[i] = to
	}
	return data, nil
}

// JoinOutputs puts an output of all runs into the order of an array, and returns the array's elements as a new slice.
func (s *RunInputs) JoinOutputs(out dataflow.RealTensorInfo, runs []dataflow.RealTensor) []float64 {
	return s.lie.join(out, runs)
}

// join puts an output of all runs into the order of an array.
func (l layout) join(out dataflow.RealTensorInfo, runs []dataflow.RealTensor) (data []float64) {
	for side := range slices.Chunk(runs, l.beside(len(runs))) {
		inner := dataflow.Shape(side[0].Shape[out.Axis:]).ElementCount()
		for at := 0; at < len(side[0].Data); at += inner {
			for _, r := range side {
				data = append(data, r.Data[at:at+inner]...)
			}
		}
	}
	return data
}

// SplitOutputs splits an array of an output into runs. It is the inverse of JoinOutputs. Runs may share the memory of
// data.
func (s *RunInputs) SplitOutputs(out dataflow.RealTensorInfo, data []float64) []dataflow.RealTensor {
	return apart(data, out, len(s.In), s.lie.beside(len(s.In)))
}

// MakeRandomRuns makes n runs of random values in the range that the model's first quantisers distinguish. They are the
// same on every machine.
func MakeRandomRuns(m *dataflow.Model, n int) *RunInputs {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := &RunInputs{}
	for range n {
		s.In = append(s.In, random(m, rnd))
	}
	return s
}

// random makes one run: a random tensor per input of the model.
func random(m *dataflow.Model, rnd *rand.Rand) (run []dataflow.RealTensor) {
	for _, in := range m.In {
		t := dataflow.RealTensor{Shape: in.Shape, Data: make([]float64, dataflow.Shape(in.Shape).ElementCount())}
		lo, hi := in.Range[0], in.Range[1]
		_, _, integer := in.IntegerLimits()
		for i := range t.Data {
			v := lo + rnd.Float64()*(hi-lo)
			if in.Grid != nil {
				t.Data[i] = in.Grid(i, v)
			} else if integer {
				t.Data[i] = float64(int64(v))
			} else {
				t.Data[i] = in.NumberFormat().RoundToNearest(v)
			}
		}
		run = append(run, t)
	}
	return run
}
