package fast

import (
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// HostTables holds the host's computations before and behind an Executable as tables, between real numbers and bytes.
type HostTables struct {
	p    *Executable
	in   []quantiser
	out  []scale
	size []int // elements of the model's inputs, by input; 0 for inputs that nothing reads
}

// A quantiser converts a frame of an input from float32 to bytes.
type quantiser struct {
	input int
	index []int32 // by element of the frame: element of the input; nil if both are the same
	// If planes is not 0, the input has this many planes, and the frame interleaves them element by element.
	planes int
	which  []uint16
	steps  []reach
	less   uint8 // for an input of integers: the integer that byte 0 stands for
}

// A reach maps a number x to a byte by the number of thresholds that are at most x.
type reach struct {
	at     []float32
	first  uint8   // byte for no threshold
	step   uint8   // difference between successive bytes
	bytes  []uint8 // byte by number of thresholds; nil if the bytes are first, first+step ...
	lookup *lookup // used for many thresholds that are sufficiently even
}

// A scale converts integer outputs of the graph to a real output of the model.
type scale struct {
	from   *stream // stream that index refers to; nil if it refers to all outputs, concatenated
	index  []int32
	which  []uint16
	codes  []dataflow.HostCodeValues
	format num.FloatFormat
	// table holds the numbers by byte, if one code serves all elements. plain states that all numbers are float32
	// and follow from Scale and Bias alone.
	table []float64
	plain bool
}

// counted is the most thresholds with which numbers are compared one by one, 32 numbers at a time. With more, a search
// is faster.
const counted = 24

// NewHostTables returns the host's computations of model m around the program, for PredictFromFloats. ok is false if
// they are no tables, or no tables of bytes. Call it before NewWorker: it may enlarge the buffers that workers need.
func (p *Executable) NewHostTables(m *dataflow.Model) (e *HostTables, ok bool) {
	return p.ends(m, steps)
}

// NewIntegerHostTables returns the host's computations around a program whose inputs are integers, for
// PredictFromIntegers. ok is false if an input is not integer, or if they are no tables of bytes. Call it before
// NewWorker: it may enlarge the buffers that workers need.
func (p *Executable) NewIntegerHostTables(m *dataflow.Model) (e *HostTables, ok bool) {
	return p.ends(m, func(q *quantiser, in *dataflow.HostInput, _ num.FloatFormat, s *stream) bool {
		q.less = uint8(s.lo())
		return in.Steps == nil
	})
}

// steps sets the step functions of an input in its quantiser. It returns false if there are none, or the numbers are
// float64. So it does if there are too many thresholds, or if a code is no byte of the stream.
func steps(q *quantiser, in *dataflow.HostInput, of num.FloatFormat, s *stream) bool {
	if in.Steps == nil || of == num.Float64Format {
		return false
	}
	for _, step := range in.Steps {
		if len(step.At) > math.MaxUint16 || !kept(step.Codes, s) {
			return false
		}
		q.steps = append(q.steps, reachOf(step, s))
	}
	return true
}

// ends returns the host's computations around the program. It calls code to complete each quantiser; ok is false if a
// call returns false.
func (p *Executable) ends(m *dataflow.Model, code func(*quantiser, *dataflow.HostInput, num.FloatFormat,
	*stream) bool) (e *HostTables,
	ok bool) {
	if m.Host == nil || m.Turns != nil || m.Lengths != nil || m.Stream != nil {
		return nil, false
	}
	h := m.Host()
	if h == nil || h.Begins != nil || h.Ends != nil || slices.Contains(h.In, nil) || slices.Contains(h.Out, nil) {
		return nil, false
	}
	e = &HostTables{p: p, size: make([]int, len(m.In))}
	for i, in := range h.In {
		s := &p.streams[p.g.In[i]]
		q := quantiser{input: in.Input, index: in.Index, which: in.Which}
		if s.width != narrow || !code(&q, in, m.In[in.Input].NumberFormat(), s) {
			return nil, false
		}
		p.scratch = max(p.scratch, dataflow.Shape(m.In[in.Input].Shape).ElementCount())
		e.size[in.Input] = dataflow.Shape(m.In[in.Input].Shape).ElementCount()
		same := e.size[in.Input] == len(in.Index)
		for k, at := range in.Index {
			same = same && int(at) == k
		}
		if same {
			q.index = nil
		} else {
			q.planes = planesOf(in.Index, e.size[in.Input])
		}
		e.in = append(e.in, q)
	}
	for k, out := range h.Out {
		e.out = append(e.out, scaleOf(p, out, m.Out[k].NumberFormat()))
	}
	return e, true
}

// scaleOf returns the conversion of integers to an output of the model in a number format.
func scaleOf(p *Executable, out *dataflow.HostOutput, format num.FloatFormat) scale {
	o := scale{index: out.Index, which: out.Which, codes: out.Codes, format: format}
	first := int32(0)
	for _, id := range p.g.Out {
		s := &p.streams[id]
		end := first + int32(s.size)
		if len(o.index) > 0 && slices.Min(o.index) >= first && slices.Max(o.index) < end {
			o.from, o.index = s, slices.Clone(o.index)
			for i := range o.index {
				o.index[i] -= first
			}
		}
		first = end
	}
	o.plain = format == num.Float32Format && !slices.ContainsFunc(o.codes, func(c dataflow.HostCodeValues) bool {
		return c.Values != nil || len(c.Except) > 0
	})
	if s := o.from; s != nil && s.width == narrow && o.which == nil &&
		(o.codes[0].Values == nil || o.codes[0].Range.Contains(s.reach.Lo) && o.codes[0].Range.Contains(s.reach.Hi)) {
		for v := s.reach.Lo; v <= s.reach.Hi; v++ {
			o.table = append(o.table, o.codes[0].ValueOfCode(v, format))
		}
	}
	return o
}

// planesOf returns the number of planes, one after the other in an input of the given size, that an index interleaves.
// It returns 0 if the index does anything else.
func planesOf(index []int32, size int) int {
	if len(index) != size || size < 2 || index[1] <= 0 || size%int(index[1]) != 0 {
		return 0
	}
	each := int(index[1])
	planes := size / each
	for k, at := range index {
		if int(at) != k%planes*each+k/planes {
			return 0
		}
	}
	return planes
}

// interleave sets y to the planes of x, interleaved element by element.
func interleave(y, x []uint8, planes int) {
	each := len(x) / planes
	if planes == 3 {
		a, b, c := x[:each], x[each:2*each], x[2*each:3*each]
		for i := range a {
			y := y[3*i : 3*i+3]
			y[0], y[1], y[2] = a[i], b[i], c[i]
		}
		return
	}
	for p := range planes {
		for i, v := range x[p*each : (p+1)*each] {
			y[i*planes+p] = v
		}
	}
}

// kept reports whether a stream's bytes can hold all codes.
func kept(codes []int64, s *stream) bool {
	for _, v := range codes {
		if !s.reach.Contains(v) {
			return false
		}
	}
	return true
}

// reachOf returns a step function as a map to the bytes of stream s.
func reachOf(step dataflow.HostStepFunction, s *stream) reach {
	r := reach{at: make([]float32, len(step.At)), first: uint8(step.Codes[0] - s.lo()), step: 1}
	if len(step.Codes) > 1 {
		r.step = uint8(step.Codes[1] - step.Codes[0])
	}
	for i, at := range step.At {
		r.at[i] = float32(at) // exact: inputs in formats with more digits have no Ends
	}
	even := true
	for i, c := range step.Codes {
		r.bytes = append(r.bytes, uint8(c-s.lo()))
		even = even && c == step.Codes[0]+int64(i)*int64(r.step)
	}
	if even {
		r.bytes = nil
	}
	if len(r.at) > counted {
		r.lookup = lookupOf(r.at)
	}
	return r
}

// count returns the number of the thresholds that are at most x.
func (r *reach) count(x float32) int {
	if r.lookup != nil {
		return r.lookup.count(x)
	}
	n, _ := slices.BinarySearchFunc(r.at, x, func(t, x float32) int {
		if t <= x {
			return -1
		}
		return 1
	})
	return n
}

// code returns the byte for x.
func (r *reach) code(x float32) uint8 {
	n := r.count(x)
	if r.bytes != nil {
		return r.bytes[n]
	}
	return r.first + uint8(n)*r.step
}

// quantise sets y to the bytes of the numbers x.
func (r *reach) quantise(k *kernels, y []uint8, x []float32) {
	switch {
	case len(r.at) <= counted && r.bytes == nil:
		k.reached(y, x, r.at, r.first, r.step)
		return
	case len(r.at) <= counted:
		k.reached(y, x, r.at, 0, 1)
	case r.lookup != nil:
		k.sought(y, x, r.lookup)
	default:
		for i := range y {
			y[i] = r.code(x[i])
		}
		return
	}
	switch {
	case r.bytes != nil:
		for i, n := range y {
			y[i] = r.bytes[n]
		}
	case r.first != 0 || r.step != 1:
		for i, n := range y {
			y[i] = r.first + n*r.step
		}
	}
}

// PredictFromFloats stores the model's outputs for up to Batch samples in out. Each element of in and out is one input
// or output, with the samples one after the other, and must be long enough. e comes from NewHostTables. All input
// numbers must be finite.
func (w *Worker) PredictFromFloats(e *HostTables, in [][]float32, out [][]float64, samples int) {
	w.send(e, in, samples)
	w.computeOutputs(e, out, samples)
}

// AreAllFloatsFinite reports whether all numbers are finite.
func (w *Worker) AreAllFloatsFinite(x []float32) bool { return w.p.kernels.finite(x) }

// PredictFromIntegers does what PredictFromFloats does for inputs that are 8-bit integers, signed ones in two's
// complement. They must fit the type of the graph's input. e comes from NewIntegerHostTables.
func (w *Worker) PredictFromIntegers(e *HostTables, in [][]uint8, out [][]float64, samples int) {
	for i, q := range e.in {
		s := &w.p.streams[w.p.g.In[i]]
		n := e.size[q.input]
		for f := range samples {
			x, y := in[q.input][f*n:(f+1)*n], w.bytes(s, f)[:s.size]
			switch {
			case q.index == nil:
				copy(y, x)
			case q.planes > 0:
				interleave(y, x, q.planes)
			default:
				for k, at := range q.index {
					y[k] = x[at]
				}
			}
			if q.less != 0 {
				for k := range y {
					y[k] -= q.less
				}
			}
		}
	}
	w.computeOutputs(e, out, samples)
}

// computeOutputs runs the graph on the frames in the buffers, and converts the results to the model's outputs.
func (w *Worker) computeOutputs(e *HostTables, out [][]float64, samples int) {
	w.compute(samples)
	for k := range e.out {
		o := &e.out[k]
		n := len(o.index)
		for f := range samples {
			y := out[k][f*n : (f+1)*n]
			switch {
			case o.table != nil:
				x := w.bytes(o.from, f)
				for i, at := range o.index {
					y[i] = o.table[x[at]]
				}
			case o.from == nil:
				for i, at := range o.index {
					y[i] = o.of(i).ValueOfCode(w.output(f, int(at)), o.format)
				}
			case o.from.width == narrow:
				scaled(o, y, w.bytes(o.from, f))
			case o.from.width == medium:
				scaled(o, y, w.ints(o.from, f))
			default:
				scaled(o, y, w.longs(o.from, f))
			}
		}
	}
}

// scaled sets y to the real numbers of an output, for one frame x of a stream.
func scaled[T uint8 | int32 | int64](o *scale, y []float64, x []T) {
	lo := int64(0)
	if o.from.width == narrow {
		lo = o.from.lo()
	}
	if !o.plain {
		for i, at := range o.index {
			y[i] = o.of(i).ValueOfCode(int64(x[at])+lo, o.format)
		}
		return
	}
	for i, at := range o.index {
		c := o.of(i)
		y[i] = float64(float32(float64(float64(int64(x[at])+lo)*c.Scale) + c.Bias))
	}
}

// of returns the function that gives element i of the output.
func (o *scale) of(i int) *dataflow.HostCodeValues {
	if o.which == nil {
		return &o.codes[0]
	}
	return &o.codes[o.which[i]]
}

// send converts samples to the input frames in the program's buffers.
func (w *Worker) send(e *HostTables, in [][]float32, samples int) {
	for i, q := range e.in {
		s := &w.p.streams[w.p.g.In[i]]
		n := e.size[q.input]
		if q.index == nil && q.which == nil {
			q.steps[0].quantise(w.p.kernels, w.bytes(s, 0)[:samples*n], in[q.input])
			continue
		}
		for f := range samples {
			x, y := in[q.input][f*n:(f+1)*n], w.bytes(s, f)[:s.size]
			switch {
			case q.which == nil:
				codes := w.scratch[:n]
				q.steps[0].quantise(w.p.kernels, codes, x)
				if q.planes > 0 {
					interleave(y, codes, q.planes)
					continue
				}
				for k, at := range q.index {
					y[k] = codes[at]
				}
			case q.index == nil:
				for k, which := range q.which {
					y[k] = q.steps[which].code(x[k])
				}
			default:
				for k, at := range q.index {
					y[k] = q.steps[q.which[k]].code(x[at])
				}
			}
		}
	}
}

// output returns element at of frame f of the graph's outputs, one after the other.
func (w *Worker) output(f, at int) int64 {
	for _, id := range w.p.g.Out {
		s := &w.p.streams[id]
		if at < s.size {
			return w.at(s, f, at)
		}
		at -= s.size
	}
	panic("fast: an element behind the outputs")
}
