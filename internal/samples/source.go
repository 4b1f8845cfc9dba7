package samples

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
)

// A SampleSource reads samples in order, a part at a time.
type SampleSource struct {
	Count   int
	Lengths []int // number of steps of each run's sequence; nil if all have the model's length
	Stored  int   // number of steps that the data hold per run; 0 without Lengths
	Held    int64 // memory for arrays that cannot be read in parts, in bytes

	model   *dataflow.Model // for sequences as long as the data hold them
	inputs  []input
	lie     layout
	indices int                       // size of the axis of lie
	shared  *RunInputs                // all runs, if inputs share data between runs; else nil
	unit    int                       // parts begin and end at multiples of unit runs
	lengths *dataflow.SequenceLengths // range of the sequence lengths; nil without Lengths
	behind  []dataflow.RealTensor     // values after the end of sequences, by output; nil for zeros
}

// An input describes the array of one input of the model.
type input struct {
	*npy.ArrayReader
	real dataflow.RealTensorInfo
	layout
	grid *grid // nil if numbers do not map to codes of 8 bits
}

// OpenSampleSource prepares to read runs from one array per model input, by name. A single input may have the name "".
// These shapes fit, in this order: the model's own, for one run, or for as many as its fixed batch has samples; (N,
// *shape), for N times as many; (N, *shape without its leading batch axis), for N runs; the shape with N along its axis
// of samples, for N runs. SplitIntoRunsOfLengths explains steps. The error may be an *UnfitDataError.
func OpenSampleSource(m *dataflow.Model, arrays map[string]*npy.ArrayReader, steps *npy.Array) (*SampleSource, error) {
	if m.Lengths == nil && steps != nil {
		return nil, &UnfitDataError{"lengths are given, but all sequences of the model have one length",
			"say which lengths an axis may have: --dim T=1..520", true}
	}
	if m.Lengths != nil {
		return openLengths(m, arrays, steps)
	}
	return open(m, arrays)
}

// open opens arrays like OpenSampleSource, for a model whose sequences have one length.
func open(m *dataflow.Model, arrays map[string]*npy.ArrayReader) (*SampleSource, error) {
	if len(m.In) > 1 && arrays[""] != nil {
		return nil, fmt.Errorf("the model has %d inputs: give an .npz file with one array per input name", len(m.In))
	}
	s := &SampleSource{model: m, unit: 1}
	var runs []int
	for _, in := range m.In {
		a := arrays[in.Name]
		if a == nil && len(m.In) == 1 {
			a = arrays[""] // an .npy file has no names
		}
		if a == nil {
			return nil, fmt.Errorf("no array for input %q", in.Name)
		}
		lie, n, err := layoutOf(in, a.Shape)
		switch {
		case err != nil:
			return nil, err
		case n == 0:
			return nil, fmt.Errorf("there are no samples for input %q", in.Name)
		case a.ElementsPerIndex(lie.axis) > npy.MaxElementsPerFile:
			return nil, fmt.Errorf("input %q has shape %v; at most %d elements are read of a sample", in.Name, a.Shape,
				npy.MaxElementsPerFile)
		}
		held, err := a.PrepareReadsAlongAxis(lie.axis)
		if s.Held += held; err != nil {
			return nil, err
		}
		if _, _, integer := (dataflow.RealTensorInfo{DType: a.DType}).IntegerLimits(); integer && in.Arrives == nil {
			if _, _, integer := in.IntegerLimits(); !integer {
				hint, err := meaningHint(a, lie.axis)
				if err != nil {
					return nil, err
				}
				msg := fmt.Sprintf("input %q is of type %s, the data are integers (%s)", in.Name, in.DType, a.DType)
				return nil, &UnfitDataError{Msg: msg, Hint: hint}
			}
		}
		s.inputs = append(s.inputs, input{a, in, lie, gridOf(in)})
		runs, s.unit = append(runs, n), s.unit/dataflow.GCD(s.unit, lie.per)*lie.per
		if s.lie.shape == nil || len(in.Whole) > 0 {
			s.lie, s.indices = lie, n/lie.per
		}
	}
	return s, s.count(runs)
}

// count sets the number of runs, and returns an error if the inputs differ in it. In a fixed batch, an input may have
// one entry for several samples. Then count reads all runs at once.
func (s *SampleSource) count(runs []int) error {
	s.Count = slices.Max(runs)
	batch := slices.ContainsFunc(s.inputs, func(in input) bool { return in.real.Whole != nil })
	shared := false
	for k, n := range runs {
		in := s.inputs[k].real
		if n != s.Count && !(batch && in.Whole == nil && s.Count%n == 0) {
			return fmt.Errorf("input %q has %d samples, others have %d", in.Name, n, s.Count)
		}
		shared = shared || n != s.Count
	}
	if !shared {
		return nil
	}
	p := &StoredPart{s: s, to: s.Count, raw: make([][]byte, len(s.inputs))}
	each := make([][]dataflow.RealTensor, len(s.inputs))
	for k, in := range s.inputs {
		indices := runs[k] / in.per
		if err := p.read(k, 0, indices); err != nil {
			return err
		}
		var err error
		if each[k], err = p.runs(k, 0, indices); err != nil {
			return err
		}
	}
	s.shared = &RunInputs{In: zip(each), lie: s.lie}
	return nil
}

// openLengths opens arrays like OpenSampleSource, for a model of sequences of different lengths.
func openLengths(m *dataflow.Model, arrays map[string]*npy.ArrayReader, steps *npy.Array) (*SampleSource, error) {
	l := m.Lengths
	if l.Input != "" {
		if steps != nil {
			return nil, &UnfitDataError{fmt.Sprintf("lengths are given, but input %q says them", l.Input),
				"leave --lengths out", true}
		}
		a := arrays[l.Input]
		if a == nil {
			return nil, fmt.Errorf("no array for input %q, which says the lengths", l.Input)
		}
		var err error
		if steps, err = a.ReadWholeArray(); err != nil {
			return nil, err
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
	s, err := open(at, arrays)
	if u := new(UnfitDataError); errors.As(err, &u) {
		u.Msg += fmt.Sprintf(" (a shape of %d steps; there may be %d to %d)", longest, l.Min, l.Max)
	}
	if err != nil {
		return nil, err
	}
	s.lengths, s.Stored = l, longest
	s.Lengths = slices.Repeat([]int{longest}, s.Count)
	if steps == nil {
		return s, nil
	}
	if len(steps.Data) != s.Count {
		return nil, &UnfitDataError{fmt.Sprintf("%d lengths for %d samples", len(steps.Data), s.Count),
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
			return nil, &UnfitDataError{msg, hint, true}
		}
		if s.Lengths[i] = n; n < longest && l.Behind != nil && s.behind == nil {
			if s.behind, err = l.Behind(); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// JoinedOutputShape returns the shape of an array of an output of all runs.
func (s *SampleSource) JoinedOutputShape(out dataflow.RealTensorInfo) []int {
	return s.lie.shape(out, s.indices)
}

// An OutputExtent says where runs lie in an array of an output of all runs. The array has Blocks blocks of Block
// elements. In each block, the runs occupy the elements in [From, To).
type OutputExtent struct{ Blocks, Block, From, To int }

// ExtentOfRuns returns the extent of the runs in [from, to) in an array of output out.
func (s *SampleSource) ExtentOfRuns(out dataflow.RealTensorInfo, from, to int) OutputExtent {
	shape, axis := s.JoinedOutputShape(out), s.OutputPartAxis(out)
	if axis < 0 {
		n := dataflow.Shape(shape).ElementCount()
		return OutputExtent{1, n, 0, n}
	}
	block := dataflow.Shape(shape[axis:]).ElementCount()
	each := block / s.indices
	return OutputExtent{dataflow.Shape(shape[:axis]).ElementCount(), block, from / s.lie.per * each,
		to / s.lie.per * each}
}

// OutputPartAxis returns the axis along which an array of an output is read in parts, or -1 if there is only one run.
func (s *SampleSource) OutputPartAxis(out dataflow.RealTensorInfo) int {
	if s.lie.own {
		return out.Axis
	}
	return s.lie.axis
}

// IsOutputContiguous reports whether an array of an output holds the runs in order, each with contiguous elements.
func (s *SampleSource) IsOutputContiguous(out dataflow.RealTensorInfo) bool {
	return s.lie.together(out)
}

// JoinOutputs puts an output of consecutive runs into the order of an array.
func (s *SampleSource) JoinOutputs(out dataflow.RealTensorInfo, runs []dataflow.RealTensor) []float64 {
	return s.lie.join(out, runs)
}

// RunsPerPart returns the number of runs to read at a time, so that a part takes about the given bytes. The number is
// a multiple of multiple, and at least that.
func (s *SampleSource) RunsPerPart(bytes, multiple int) int {
	each := 1
	for _, in := range s.inputs {
		each += in.BytesPerIndex(in.axis) / in.per
		if in.IsScatteredAlongAxis(in.axis) {
			bytes = max(bytes, stripped)
		}
	}
	unit := s.unit / dataflow.GCD(s.unit, multiple) * multiple
	return max(1, bytes/each/unit) * unit
}

// stripped is the size in bytes of parts of arrays whose parts are not contiguous. Larger parts mean longer reads.
const stripped = 1 << 20

// ReadAlignedRange reads the runs in [from, to). Both must be multiples of the number of runs that cannot be divided,
// as results of RunsPerPart are, or the end.
func (s *SampleSource) ReadAlignedRange(from, to int) (*RunInputs, error) {
	p := &StoredPart{}
	if err := s.ReadStoredPart(p, from, to); err != nil {
		return nil, err
	}
	return p.ToRuns()
}

// ReadAll reads all runs.
func (s *SampleSource) ReadAll() (*RunInputs, error) { return s.ReadAlignedRange(0, s.Count) }

// ReadRange reads the runs in [from, to), for any from. It stops at the last run.
func (s *SampleSource) ReadRange(from, to int) (*RunInputs, error) {
	to = min(to, s.Count)
	first := from / s.unit * s.unit
	r, err := s.ReadAlignedRange(first, (to+s.unit-1)/s.unit*s.unit)
	if err != nil {
		return nil, err
	}
	r.In, r.First = r.In[from-first:to-first], from
	if r.Lengths != nil {
		r.Lengths = r.Lengths[from-first : to-first]
	}
	return r, nil
}

// A StoredPart holds the bytes of some runs as the file stores them.
type StoredPart struct {
	Reuse    bool // the runs of this part may be overwritten when the next part is read
	s        *SampleSource
	from, to int
	raw      [][]byte
	numbers  [][]float64 // by input: reused memory if Reuse
	floats   [][]float32 // by input: elements of column-major arrays, in row-major order
	codes    [][]uint8   // by input: codes of the float32 numbers
}

// FirstRunNumber returns the number of the part's first run; RunCount returns the number of runs.
func (p *StoredPart) FirstRunNumber() int { return p.from }
func (p *StoredPart) RunCount() int       { return p.to - p.from }

// ReadStoredPart reads the runs in [from, to) into p and reuses its memory. Parts must be read in order.
func (s *SampleSource) ReadStoredPart(p *StoredPart, from, to int) error {
	if len(p.raw) != len(s.inputs) {
		p.raw = make([][]byte, len(s.inputs))
	}
	p.s, p.from, p.to = s, from, to
	if s.shared != nil {
		return nil
	}
	for k, in := range s.inputs {
		if err := p.read(k, from/in.per, to/in.per); err != nil {
			return err
		}
	}
	return nil
}

// A ReadError states that samples cannot be read, from the one with the number Sample on, and why.
type ReadError struct {
	Sample int
	Err    error
}

func (e *ReadError) Error() string { return fmt.Sprintf("%v, at sample %d", e.Err, e.Sample) }
func (e *ReadError) Unwrap() error { return e.Err }

// read reads the bytes of input k with the indices in [from, to) along the axis in whose order it is read. The error
// may be a *ReadError.
func (p *StoredPart) read(k, from, to int) (err error) {
	in := p.s.inputs[k]
	if in.axis < 0 {
		from, to = 0, 1
	}
	p.raw[k], err = in.ReadRawAlongAxis(p.raw[k], in.axis, from, to)
	// a fault after the last index of the part does not matter yet
	if fault := new(npy.ElementReadError); errors.As(err, &fault) && fault.Index < to {
		return &ReadError{fault.Index * in.per, err}
	}
	return err
}

// ToRuns converts the bytes of the part to runs.
func (p *StoredPart) ToRuns() (*RunInputs, error) {
	s := p.s
	if s.shared != nil {
		part := *s.shared
		part.In, part.First = part.In[p.from:p.to], p.from
		return &part, nil
	}
	each := make([][]dataflow.RealTensor, len(s.inputs))
	for k, in := range s.inputs {
		var err error
		if each[k], err = p.runs(k, p.from/in.per, p.to/in.per); err != nil {
			return nil, err
		}
	}
	r := &RunInputs{In: zip(each), First: p.from, Stored: s.Stored, lie: s.lie, behind: s.behind}
	if l := s.lengths; l != nil {
		r.axes, r.Lengths = l.Outputs, s.Lengths[p.from:p.to]
		for i, n := range r.Lengths {
			for k, axis := range l.Inputs {
				if axis >= 0 {
					r.In[i][k] = resized(r.In[i][k], axis, n)
				}
			}
		}
	}
	return r, nil
}

// runs converts the bytes of input k, with the indices in [from, to), to runs.
func (p *StoredPart) runs(k, from, to int) ([]dataflow.RealTensor, error) {
	in := p.s.inputs[k]
	var room []float64
	if p.Reuse && p.numbers == nil {
		p.numbers = make([][]float64, len(p.raw))
	}
	if p.Reuse {
		room = p.numbers[k]
	}
	a, err := in.ArrayFromRaw(room, p.raw[k], in.axis, from, to-from)
	if err != nil {
		return nil, err
	}
	if p.Reuse {
		p.numbers[k] = a.Data
	}
	data, err := values(in.real, a, func(i int) int { return in.IndexInWholeArray(in.axis, from, to-from, i) })
	if err != nil {
		return nil, err
	}
	n := (to - from) * in.per
	return apart(data, in.real, n, in.beside(n)), nil
}

// inTurn reports whether a part holds the runs of each input as they are, neither shared nor cut to lengths.
func (s *SampleSource) inTurn() bool { return s.shared == nil && s.lengths == nil }

// floats reports whether file and model store the input as float32, with contiguous runs in order.
func (in *input) floats() bool {
	return in.real.DType == "float32" && in.IsNativeByteOrderOfType("f4") && in.together(in.real) &&
		(in.IsNativeRowMajorOfType("f4") ||
			in.axis == 0)
}

// HasInputFloats reports whether StoredPart.InputFloats returns the inputs: file and model store them as float32, with
// contiguous runs in order.
func (s *SampleSource) HasInputFloats() bool {
	return s.inTurn() && !slices.ContainsFunc(s.inputs, func(in input) bool {
		return in.real.Arrives != nil || !in.floats()
	})
}

// IsKnownToFitWithoutReading reports whether all runs are known to fit without reading them.
func (s *SampleSource) IsKnownToFitWithoutReading() bool {
	return s.HasInputFloats() && !slices.ContainsFunc(s.inputs,
		func(in input) bool { return in.IsIntactOnlyIfReadWhole() })
}

// InputFloats returns the numbers of input k, if SampleSource.HasInputFloats or SampleSource.HasInputCodes returns
// true. The part reuses the slice.
func (p *StoredPart) InputFloats(k int) []float32 {
	b, in := p.raw[k], p.s.inputs[k]
	x := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
	if in.IsNativeRowMajorOfType("f4") {
		return x
	}
	if p.floats == nil {
		p.floats = make([][]float32, len(p.raw))
	}
	y := slices.Grow(p.floats[k][:0], len(x))[:len(x)]
	npy.CopyColumnMajorToRowMajor(in.ArrayReader, y, x, p.RunCount()/in.per)
	p.floats[k] = y
	return y
}

// HasInputBytes reports whether StoredPart.InputBytes returns the inputs: the file stores integers of 8 bits, with
// contiguous runs in order, and the model accepts all their values.
func (s *SampleSource) HasInputBytes() bool {
	return s.inTurn() && !slices.ContainsFunc(s.inputs, func(in input) bool {
		lo, hi, integer := in.real.IntegerLimits()
		if a := in.real.Arrives; a != nil {
			r := a.Type.Range()
			lo, hi, integer = float64(r.Lo), float64(r.Hi), (a.Type.Kind == num.KindInt || a.Type.Kind == num.KindUInt)
		}
		least, most, _ := (dataflow.RealTensorInfo{DType: in.DType}).IntegerLimits()
		return !integer || least < lo || most > hi || !in.together(in.real) || !in.IsNativeRowMajorOfType("u1") &&
			!in.IsNativeRowMajorOfType("i1")
	})
}

// InputBytes returns the bytes of input k as the file stores them, if SampleSource.HasInputBytes returns true. Negative
// numbers are in two's complement. The part reuses the slice.
func (p *StoredPart) InputBytes(k int) []uint8 { return p.raw[k] }

// meaningHint suggests flags that say what integers in the data mean.
func meaningHint(a *npy.ArrayReader, axis int) (string, error) {
	reals := "save real numbers: x.astype(np.float32)"
	r := num.Range{}
	indices := 1
	if axis >= 0 {
		indices = a.Shape[axis]
	}
	var raw []byte
	some := max(1, stripped/max(1, a.BytesPerIndex(axis)))
	for from := 0; from < indices; from += some {
		to := min(from+some, indices)
		var err error
		if raw, err = a.ReadRawAlongAxis(raw, axis, from, to); err != nil {
			return "", err
		}
		part, err := a.ArrayFromRaw(nil, raw, axis, from, to-from)
		if err != nil {
			return "", err
		}
		for _, v := range part.Data {
			r.Lo, r.Hi = min(r.Lo, int64(v)), max(r.Hi, int64(v))
		}
	}
	t := num.NarrowestIntTypeFor(r)
	for _, width := range []int{8, 16} {
		if t.Width <= width {
			t.Width = width
			return fmt.Sprintf(
				"say what they stand for: --input-type %v for themselves, %v:1/255 for so many times it; or %s",
				t, t, reals), nil
		}
	}
	return reals, nil
}
