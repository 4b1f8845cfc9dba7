package deploy

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/templates"
)

// hostFileVersion is the version of host.json's format. Programs refuse others.
const hostFileVersion = 1

// A HostFile is the contents of host/host.json: everything that a program must know to send samples and receive
// results.
type HostFile struct {
	Schema  string `json:"schema"` // "hlsgen-host"
	Version int    `json:"version"`
	Model   string `json:"model"`
	Top     string `json:"top"` // name of the accelerator and of its IP
	// Hash is a hash of what this file says of the accelerator: of everything but System, Weights.File and Checksum.
	// A register of the accelerator contains the same hash.
	Hash    string                 `json:"hash"`
	Steps   *SequenceStepLimits    `json:"steps,omitempty"` // for sequences of different lengths
	Inputs  []HostTensor           `json:"inputs"`          // the model's inputs, in their order
	Outputs []HostTensor           `json:"outputs"`
	Send    []InputStream          `json:"send"`    // by AXI4-Stream into the accelerator
	Receive []OutputStream         `json:"receive"` // by AXI4-Stream out of it
	Results []OutputDequantisation `json:"results"` // by output of the model

	// Before and After name nodes of the model that these tables leave to the host, before inputs and after outputs.
	// Inputs and outputs are then tensors inside of the model.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	// Takes and Gives are the model's real inputs and outputs, if pre.onnx contains the nodes of Before, and
	// post.onnx those of After.
	Takes []HostTensor `json:"takes,omitempty"`
	Gives []HostTensor `json:"gives,omitempty"`

	Registers *templates.RegisterMap `json:"registers,omitempty"` // of the accelerator itself
	Weights   *WeightsFile           `json:"weights,omitempty"`   // to be loaded into the accelerator
	System    *HostSystem            `json:"system,omitempty"`    // around the accelerator
	// Checksum is a hash of the file's bytes in front of the comma before this entry, which is the last one.
	Checksum string `json:"checksum,omitempty"`

	before, after []byte // ONNX from Takes to Inputs, and from Outputs to Gives
	size          int    // bytes of the text without the hash
}

// A HostSystem describes the block design around the accelerator, as far as a driver uses it.
type HostSystem struct {
	Board    string      `json:"board"`
	ClockMHz float64     `json:"clock_mhz"` // of the logic, as the processor is to make it
	Movers   []HostMover `json:"movers"`
}

// A HostMover is the data mover of a stream in a block design.
type HostMover struct {
	Name      string `json:"name"`                // of its cell
	Port      string `json:"port"`                // of the accelerator's stream
	Address   uint64 `json:"address"`             // of its registers, for the processor
	Interrupt int    `json:"interrupt,omitempty"` // number that Linux has for its interrupt; absent if it has none
}

// SequenceStepLimits limits the number of steps in a sequence.
type SequenceStepLimits struct {
	Axis string `json:"axis"`
	Min  int    `json:"min"`
	Max  int    `json:"max"`
}

// A HostTensor is an input or an output of the model.
type HostTensor struct {
	Name  string `json:"name"`
	DType string `json:"dtype"` // numpy's name, or bfloat16
	Shape []int  `json:"shape"` // of one sample with the longest sequence
	Batch bool   `json:"batch"` // the first axis, of size 1, counts samples
	Time  int    `json:"time"`  // the axis of steps, or -1
}

// A HostStream describes the transfer of integers: words of per_word elements, the first element in the lowest bits,
// each word padded to whole bytes.
type HostStream struct {
	Port    string `json:"port"`
	Type    string `json:"type"` // UINT4, INT8, BINARY, BIPOLAR (0 is -1)
	Bits    int    `json:"bits"`
	PerWord int    `json:"per_word"`
	Bytes   int    `json:"bytes"` // bytes of a word
	Words   int    `json:"words"` // words of a frame, or of a step of a sequence
	kind    num.TypeKind
}

// An InputStream describes the contents of a stream: element i of a frame, or of a step, is the code of the input's
// element index[i]. For a step, index counts elements without the axis of time.
type InputStream struct {
	HostStream
	Input    int                `json:"input"`
	Index    []int32            `json:"index,omitempty"`
	Quantise []HostQuantiser    `json:"quantise,omitempty"`
	Which    []int32            `json:"which,omitempty"` // by element: its quantiser or channel; if absent, the first
	Integers *InputIntegerRange `json:"integers,omitempty"`
}

// A HostQuantiser maps x to codes[k], where k is the number of thresholds that are at most x. The thresholds rise, and
// are numbers of the input's type.
type HostQuantiser struct {
	Thresholds []float64 `json:"thresholds"`
	Codes      []int64   `json:"codes"`
}

// InputIntegerRange says that an input consists of integers, and gives their range. For a real-valued input it also
// gives the number for which each integer stands. If channels differ, the stream's which gives the channel of each
// element, and values lists the numbers channel by channel. A number at most within away from a value stands for it.
type InputIntegerRange struct {
	Lo     int64     `json:"lo"`
	Hi     int64     `json:"hi"`
	Values []float64 `json:"values,omitempty"`
	Within []float64 `json:"within,omitempty"` // by channel; nil means 0
}

// maxValues limits the numbers that host.json lists for the integers of an input.
const maxValues = 1 << 20

// of returns the numbers that the integers of a channel stand for. Values must not be nil.
func (in *InputIntegerRange) of(channel int) []float64 {
	n := int(in.Hi - in.Lo + 1)
	return in.Values[channel*n : (channel+1)*n]
}

// channels returns the number of channels whose integers stand for numbers of their own, or 0 if they stand for
// themselves.
func (in *InputIntegerRange) channels() int { return len(in.Values) / int(in.Hi-in.Lo+1) }

// An OutputStream is a stream out of the accelerator.
type OutputStream struct {
	HostStream
	Time bool `json:"time"` // its words are those of a step of a sequence
}

// An OutputDequantisation describes an output: its element i is the meaning of the code of element index[i]. index
// counts the elements of all streams' frames, one stream after the other. If the output has time, it counts those of a
// step in the streams with time, else those of the streams without time.
type OutputDequantisation struct {
	Index []int32           `json:"index"`
	Mean  []HostDequantiser `json:"mean"`
	Which []int32           `json:"which,omitempty"`
	Time  bool              `json:"time"` // index and which are for a step
}

// A HostDequantiser maps a code to values[code - lo], or to float64(code) * scale + bias with exceptions, rounded to
// the output's type.
type HostDequantiser struct {
	Lo     int64             `json:"lo"` // the least code that occurs, and the largest
	Hi     int64             `json:"hi"`
	Values []float64         `json:"values,omitempty"`
	Scale  float64           `json:"scale,omitempty"`
	Bias   float64           `json:"bias,omitempty"`
	Except map[int64]float64 `json:"except,omitempty"`
}

// A NoDriverError says why a design has no driver, so that hlsgen writes no files for the host.
type NoDriverError struct{ Reason string }

// Error returns the reason.
func (e *NoDriverError) Error() string { return e.Reason }

// none returns a *NoDriverError with the formatted reason.
func none(format string, args ...any) error { return &NoDriverError{fmt.Sprintf(format, args...)} }

// HostFileOf returns the contents of host.json for a design with the interface face, including its hash. The error is a
// *NoDriverError if the design can have no driver.
func HostFileOf(d *dataflow.Design, face templates.IPInterface) (*HostFile, error) {
	m := d.Model
	if m.Turns != nil || m.Stream != nil || m.Host == nil {
		return nil, none("samples that take turns, and states that are kept, have no driver")
	}
	of := m.Host()
	if err := simple(m, of); err != nil {
		return nil, err
	}
	h := &HostFile{Schema: "hlsgen-host", Version: hostFileVersion, Model: m.Name, Top: face.Top,
		Registers: templates.RegisterMapOf(d)}
	if l := m.Lengths; l != nil {
		if l.Input != "" {
			return nil, none("input %q says the lengths of sequences: it has no driver", l.Input)
		}
		h.Steps = &SequenceStepLimits{l.Axis, l.Min, l.Max}
	}
	l, begins, ends := m.Lengths, m.In, m.Out
	if of.Begins != nil {
		begins, h.Before, h.before = of.Begins, of.Before.Nodes, of.Before.ONNX
	}
	if of.Ends != nil {
		ends, h.After, h.after = of.Ends, of.After.Nodes, of.After.ONNX
	}
	if h.before != nil {
		h.Takes = tensors(m.In, nil, true)
	}
	if h.after != nil {
		h.Gives = tensors(m.Out, nil, false)
	}
	if l != nil && (of.Begins != nil || of.Ends != nil) {
		return nil, none("sequences of different lengths whose ends the host computes have no driver")
	}
	h.Inputs, h.Outputs = tensors(begins, l, true), tensors(ends, l, false)
	for k, p := range face.In {
		s := InputStream{HostStream: stream(p)}
		steps := 1
		if l != nil && l.In[k] >= 0 {
			steps = l.Max
		}
		in := of.In[k]
		if err := s.of(in, m, begins[in.Input], p, h.Inputs[in.Input], steps); err != nil {
			return nil, err
		}
		s.Words /= steps
		h.Send = append(h.Send, s)
	}
	timed, err := sequences(m)
	if err != nil {
		return nil, err
	}
	for k, p := range face.Out {
		r := OutputStream{stream(p), timed[k]}
		if r.Time {
			r.Words /= l.Max
		}
		h.Receive = append(h.Receive, r)
	}
	for k, out := range of.Out {
		r, err := h.result(out, m, face, h.Outputs[k])
		if err != nil {
			return nil, err
		}
		h.Results = append(h.Results, *r)
	}
	if list := externalOf(d); list != nil {
		h.Weights = &WeightsFile{External: list}
	}
	return h, h.sign()
}

// simple returns a *NoDriverError if an input or an output of the accelerator does not depend on one element of the
// model's each.
func simple(m *dataflow.Model, h *dataflow.HostDescription) error {
	what := func(nodes []string) string { return strings.Join(nodes[:min(len(nodes), 3)], ", ") }
	for k, in := range h.In {
		if in == nil {
			return none("input %d of the accelerator is computed by more than one quantiser of one input: %s", k,
				what(m.Prefix.Nodes))
		}
	}
	for k, out := range h.Out {
		if out == nil {
			return none("output %d of the accelerator is no function of one integer each: %s", k, what(m.Suffix.Nodes))
		}
	}
	return nil
}

// sequences reports which streams out of the accelerator carry sequences: those whose frames differ in size between the
// shortest and the longest sequence.
func sequences(m *dataflow.Model) ([]bool, error) {
	timed := make([]bool, len(m.Graph.Out))
	l := m.Lengths
	if l == nil || l.Min == l.Max {
		return timed, nil
	}
	short, err := l.Of(l.Min)
	if err != nil {
		return nil, err
	}
	for k, s := range m.Graph.Out {
		one := short.Graph.Streams[short.Graph.Out[k]].Type.Shape
		timed[k] = one.ElementCount() != m.Graph.Streams[s].Type.Shape.ElementCount()
	}
	return timed, nil
}

// tensors describes the model's inputs or outputs for host.json. l is the range of sequence lengths, or nil.
func tensors(of []dataflow.RealTensorInfo, l *dataflow.SequenceLengths, input bool) (list []HostTensor) {
	for k, r := range of {
		list = append(list, tensor(r, l, k, input))
	}
	return list
}

// tensor describes the model's input or output k for host.json. l is the range of sequence lengths, or nil.
func tensor(r dataflow.RealTensorInfo, l *dataflow.SequenceLengths, k int, input bool) HostTensor {
	t := HostTensor{Name: r.Name, DType: r.NumpyDType(), Shape: r.Shape, Batch: r.Batch, Time: -1}
	if _, is := num.FloatFormatNamed(r.DType); is {
		t.DType = r.DType // drivers round to this type
	}
	switch {
	case l == nil:
	case input:
		t.Time = l.Inputs[k]
	default:
		t.Time = l.Outputs[k]
	}
	return t
}

// stream describes the words of a stream for host.json.
func stream(p templates.AXIStreamPort) HostStream {
	return HostStream{Port: p.Name, Type: p.Port.Elem.String(), Bits: p.Port.Elem.Width, PerWord: p.Port.PerWord,
		kind:  p.Port.Elem.Kind,
		Bytes: p.TDATA / 8, Words: p.Port.Words}
}

// of sets how the codes of the stream p are computed from the input t. steps is the number of time steps in the
// stream's frames. It returns a *NoDriverError if it cannot be described.
func (s *InputStream) of(in *dataflow.HostInput, m *dataflow.Model, r dataflow.RealTensorInfo,
	p templates.AXIStreamPort,
	t HostTensor,
	steps int) error {
	order := travel(p, m.Graph.Streams[p.Stream].Type.Shape, len(in.Index))
	s.Input = in.Input
	s.Index = make([]int32, len(order))
	var which []int32
	if in.Which != nil {
		which = make([]int32, len(order))
	}
	for k, i := range order {
		s.Index[k] = in.Index[i]
		if which != nil {
			which[k] = int32(in.Which[i])
		}
	}
	if in.Steps == nil {
		lo, hi := p.Port.Elem.Range().Lo, p.Port.Elem.Range().Hi
		s.Integers = &InputIntegerRange{Lo: lo, Hi: hi}
		if a := r.Arrives; a != nil {
			if n := int(hi-lo+1) * a.Channels; n > maxValues {
				return none("the integers of input %q have %d values, more than the %d of a driver's tables", r.Name, n,
					maxValues)
			}
			for channel := range a.Channels {
				for code := lo; code <= hi; code++ {
					s.Integers.Values = append(s.Integers.Values, a.Value(channel, code))
				}
			}
			if slices.Max(a.Within) > 0 {
				s.Integers.Within = a.Within
			}
			for _, at := range s.Index {
				if a.Channels > 1 {
					which = append(which, int32(a.Of(r.Shape, int(at))))
				}
			}
		}
	}
	for _, step := range in.Steps {
		q := HostQuantiser{Codes: step.Codes, Thresholds: []float64{}}
		for _, at := range step.At {
			q.Thresholds = append(q.Thresholds, float64(at))
		}
		s.Quantise = append(s.Quantise, q)
	}
	s.Which = which
	if steps == 1 {
		return nil
	}
	if t.Time < 0 {
		return none("input %q is no sequence, but its stream is one", t.Name)
	}
	var ok bool
	if s.Index, ok = ofStep(s.Index, t.Shape, t.Time, steps); !ok {
		return none("input %q is not sent step by step", t.Name)
	}
	if s.Which, ok = repeated(which, steps); !ok {
		return none("input %q has steps with quantisers of their own", t.Name)
	}
	return nil
}

// travel returns the indices of a frame's n elements in the order in which the port p transfers them.
func travel(p templates.AXIStreamPort, shape dataflow.Shape, n int) []int64 {
	order := make([]int64, n)
	for i := range order {
		order[i] = int64(i)
	}
	return p.Port.ToStreamOrder(dataflow.Tensor{Shape: shape, Data: order})
}

// A placed element says where an element of a frame comes in a result's index, and in which step. The step is -1 if its
// stream carries no sequence.
type placed struct{ at, step int }

// arrive returns, by element of the frames of all streams out of the accelerator, where a result's index counts it.
func (h *HostFile) arrive(m *dataflow.Model, face templates.IPInterface) []placed {
	var all []placed
	before := map[bool]int{} // by time: elements of the earlier streams
	for k, p := range face.Out {
		shape := m.Graph.Streams[p.Stream].Type.Shape
		in := make([]placed, shape.ElementCount())
		size, timed := len(in), h.Receive[k].Time
		if timed {
			size /= m.Lengths.Max
		}
		for i, e := range travel(p, shape, len(in)) {
			in[e] = placed{before[timed] + i%size, i / size}
			if !timed {
				in[e].step = -1
			}
		}
		all = append(all, in...)
		before[timed] += size
	}
	return all
}

// result returns the computation of an output t from the words of all streams. It returns a *NoDriverError if that
// differs from step to step.
func (h *HostFile) result(out *dataflow.HostOutput, m *dataflow.Model, face templates.IPInterface,
	t HostTensor) (*OutputDequantisation, error) {
	r := &OutputDequantisation{Time: t.Time >= 0}
	for _, c := range out.Codes {
		r.Mean = append(r.Mean, HostDequantiser{Lo: c.Range.Lo, Hi: c.Range.Hi, Values: c.Values,
			Scale: c.Scale, Bias: c.Bias, Except: c.Except})
	}
	all, n := h.arrive(m, face), len(out.Index)
	if r.Time {
		n /= t.Shape[t.Time]
	}
	r.Index = make([]int32, n)
	if out.Which != nil {
		r.Which = make([]int32, n)
	}
	for k, i := range out.Index {
		step, rest, which := -1, k, int32(0)
		if r.Time {
			step, rest = cut(k, t.Shape, t.Time)
		}
		if out.Which != nil {
			which = int32(out.Which[k])
		}
		if step <= 0 { // later steps must equal the first
			r.Index[rest] = int32(all[i].at)
			if r.Which != nil {
				r.Which[rest] = which
			}
		}
		if all[i].step != step || r.Index[rest] != int32(all[i].at) || r.Which != nil && r.Which[rest] != which {
			return nil, none("output %q is not made step by step", t.Name)
		}
	}
	return r, nil
}

// cut returns the position along an axis of an element in row-major order, and its index among all elements at that
// position.
func cut(element int, shape []int, axis int) (at, rest int) {
	inner := 1
	for _, n := range shape[axis+1:] {
		inner *= n
	}
	return element / inner % shape[axis], element/(inner*shape[axis])*inner + element%inner
}

// ofStep returns the part of index for one step, where index lists elements step after step. It returns false unless
// all steps differ only in their position along the axis of time.
func ofStep(index []int32, shape []int, axis, steps int) ([]int32, bool) {
	n := len(index) / steps
	one := make([]int32, n)
	for i, e := range index {
		step, rest := cut(int(e), shape, axis)
		if step != i/n || i >= n && one[i%n] != int32(rest) {
			return nil, false
		}
		one[i%n] = int32(rest)
	}
	return one, true
}

// repeated returns the first of the steps equal parts of a list. It returns false if the parts differ.
func repeated(list []int32, steps int) ([]int32, bool) {
	n := len(list) / steps
	for i := range list {
		if list[i] != list[i%max(n, 1)] {
			return nil, false
		}
	}
	return list[:n], true
}
