package dataflow

import (
	"math"
	"sort"

	"hlsgen/internal/num"
)

// A Host is what the host computes at both ends of the accelerator as data, element by element, so that programs in
// other languages compute the same without hlsgen. What it cannot say is nil there.
type Host struct {
	In  []*HostIn  // per Graph.In
	Out []*HostOut // per output of the model, or one of Ends
	// Begins is what In is made of where the host computes more in front of it than functions of one element of an
	// input, and Ends what Out makes where it computes more behind: tensors inside of the model. They are nil where In
	// is made of the inputs of the model, and Out makes its outputs.
	Begins, Ends []Real
	// Codes computes the frames of In from one sample of Begins, or of the model's inputs where that is nil, as the
	// model does; it is nil where In holds quantised values, whose codes nothing computes.
	Codes         func(in []RealTensor) ([]Tensor, error)
	Before, After Outside // what lies in front of Begins, and behind Ends
}

// Outside is a part of a model that is neither in the accelerator nor in the tables of a Host.
type Outside struct {
	Nodes []string // as diagnostics call them
	ONNX  []byte   // a model that computes it, of one sample; nil where ONNX' own operators do not say it
}

// A HostIn makes a frame of a sample: element i of the frame is the code of element Index[i] of an input of the
// model.
type HostIn struct {
	Input int
	Index []int32
	Which []uint16   // of Steps, per element; nil where one is for all
	Steps []HostStep // nil where the input is made of integers
}

// A HostStep has the code Codes[k] for a number of the input's format that is at least as great as k of At. These rise,
// and are numbers of that format.
type HostStep struct {
	At    []float64
	Codes []int64
}

// Code returns the code of x, a number of the input's format.
func (s HostStep) Code(x float64) int64 {
	return s.Codes[sort.Search(len(s.At), func(i int) bool { return s.At[i] > x })]
}

// Frame returns the codes of a frame, made of one sample of the inputs; nil where the input is made of integers.
func (h *HostIn) Frame(in []RealTensor) (codes []int64) {
	if h.Steps == nil {
		return nil
	}
	for i, at := range h.Index {
		codes = append(codes, h.Of(i).Code(in[h.Input].Data[at]))
	}
	return codes
}

// Of is the step function of element i.
func (h *HostIn) Of(i int) HostStep {
	if h.Which == nil {
		return h.Steps[0]
	}
	return h.Steps[h.Which[i]]
}

// A HostOut makes an output of the model of the frames that come: its element i is a function of element Index[i] of
// the frames of Graph.Out, one behind the other.
type HostOut struct {
	Index []int32
	Which []uint16 // of Codes, per element; nil where one is for all
	Codes []HostCode
}

// Values returns the elements of an output, as numbers of a format, made of the frames of Graph.Out.
func (h *HostOut) Values(frames []Tensor, f num.Format) (values []float64) {
	var codes []int64
	for _, frame := range frames {
		codes = append(codes, frame.Data...)
	}
	for i, at := range h.Index {
		values = append(values, h.Of(i).At(codes[at], f))
	}
	return values
}

// Of is the function of element i.
func (h *HostOut) Of(i int) *HostCode {
	if h.Which == nil {
		return &h.Codes[0]
	}
	return &h.Codes[h.Which[i]]
}

// A HostCode is what a code of Range means, rounded to the output's type: Values[code - Range.Lo], or, where Values
// is nil, float64(code) * Scale + Bias, in float64, product and sum rounded, and the sum once more to the output's
// type, which is float32 or float64 then; or what Except has for the code. Whether product and sum are rounded together
// makes no difference.
type HostCode struct {
	Range       num.Range
	Values      []float64
	Scale, Bias float64
	Except      map[int64]float64
}

// At returns what a code means, as a number of a format.
func (h *HostCode) At(code int64, f num.Format) float64 {
	if h.Values != nil {
		return h.Values[code-h.Range.Lo]
	}
	if v, ok := h.Except[code]; ok {
		return v
	}
	return f.Round(float64(float64(code)*h.Scale) + h.Bias)
}

// Fused is what the formula gives where product and sum are rounded together.
func (h *HostCode) Fused(code int64, f num.Format) float64 {
	return f.Round(math.FMA(float64(code), h.Scale, h.Bias))
}

// Surely reports whether the formula's number of a format is that of the real numbers Scale and Bias stand for,
// whatever the roundings of both, of the product and of the sum, together or not: nothing that the format rounds
// otherwise is so near.
func (h *HostCode) Surely(code int64, f num.Format) bool {
	product := float64(code) * h.Scale
	v := product + h.Bias
	off := 0x1p-50 * (math.Abs(product) + math.Abs(h.Bias))
	return f.Round(v-off) == f.Round(v+off)
}
