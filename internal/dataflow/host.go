package dataflow

import (
	"math"
	"sort"

	"hlsgen/internal/num"
)

// A HostDescription describes the host's computations at both ends of the accelerator as data, element by element.
// Programs in other languages use it to compute the same without hlsgen. Fields are nil for computations that it cannot
// describe.
type HostDescription struct {
	In  []*HostInput  // one per Graph.In
	Out []*HostOutput // one per output of the model, or one per Ends
	// Begins and Ends are tensors inside the model. If the host computes more at the inputs than functions of single
	// elements, In starts from Begins; otherwise Begins is nil and In starts from the inputs of the model. If the host
	// computes more at the outputs, Out makes Ends; otherwise Ends is nil and Out makes the outputs of the model.
	Begins, Ends []RealTensorInfo
	// Codes computes the frames of In from one sample of Begins, or of the model's inputs if Begins is nil. It is nil
	// if In starts from quantised values, whose codes nothing computes.
	Codes         func(in []RealTensor) ([]Tensor, error)
	Before, After RemainingHostPart // the parts of the model before Begins and after Ends
}

// A RemainingHostPart is a part of a model at one end that the host runs, and that the tables of a HostDescription do
// not describe.
type RemainingHostPart struct {
	Nodes []string // their names in diagnostics
	ONNX  []byte   // an ONNX model that computes it for one sample; nil if ONNX' own operators cannot express it
}

// A HostInput makes a frame of the accelerator from a sample: element i is the code of element Index[i] of the model's
// input Input.
type HostInput struct {
	Input int
	Index []int32
	Which []uint16           // per element: an index into Steps; nil if all elements share one
	Steps []HostStepFunction // nil if the input is made of integers
}

// A HostStepFunction is a step function from numbers of the input's format to codes. The code is Codes[k] for a number
// that is at least k of the numbers At. These increase, and are numbers of the format.
type HostStepFunction struct {
	At    []float64
	Codes []int64
}

// codeOfReal returns the code of x, which must be a number of the input's format.
func (s HostStepFunction) codeOfReal(x float64) int64 {
	return s.Codes[sort.Search(len(s.At), func(i int) bool { return s.At[i] > x })]
}

// QuantiseSample returns the codes of a frame made of one sample of the model's inputs, or nil if the input is made of
// integers.
func (h *HostInput) QuantiseSample(in []RealTensor) (codes []int64) {
	if h.Steps == nil {
		return nil
	}
	for i, at := range h.Index {
		codes = append(codes, h.stepFunctionOfElement(i).codeOfReal(in[h.Input].Data[at]))
	}
	return codes
}

// stepFunctionOfElement returns the step function for element i of the frame.
func (h *HostInput) stepFunctionOfElement(i int) HostStepFunction {
	if h.Which == nil {
		return h.Steps[0]
	}
	return h.Steps[h.Which[i]]
}

// A HostOutput makes an output of the model from the accelerator's output frames. Element i is a function of element
// Index[i] of the frames of Graph.Out, one after the other.
type HostOutput struct {
	Index []int32
	Which []uint16 // per element: an index into Codes; nil if all elements share one
	Codes []HostCodeValues
}

// DequantiseFrames returns the elements of the output, as numbers of the format f, from the frames of Graph.Out.
func (h *HostOutput) DequantiseFrames(frames []Tensor, f num.FloatFormat) (values []float64) {
	var codes []int64
	for _, frame := range frames {
		codes = append(codes, frame.Data...)
	}
	for i, at := range h.Index {
		values = append(values, h.codeValuesOfElement(i).ValueOfCode(codes[at], f))
	}
	return values
}

// codeValuesOfElement returns the function that gives element i of the output.
func (h *HostOutput) codeValuesOfElement(i int) *HostCodeValues {
	if h.Which == nil {
		return &h.Codes[0]
	}
	return &h.Codes[h.Which[i]]
}

// HostCodeValues gives the value of each code of Range, rounded to the output's type. If Values is not nil, it is
// Values[code - Range.Lo]. Otherwise it is Except[code], if present, or float64(code) * Scale + Bias. This formula is
// computed in float64, with product and sum rounded. It gives the same value if both are rounded together.
type HostCodeValues struct {
	Range       num.Range
	Values      []float64
	Scale, Bias float64
	Except      map[int64]float64
}

// ValueOfCode returns the value of a code, which must lie in Range. It rounds the formula to the format f; listed
// values and exceptions are rounded already.
func (h *HostCodeValues) ValueOfCode(code int64, f num.FloatFormat) float64 {
	if h.Values != nil {
		return h.Values[code-h.Range.Lo]
	}
	if v, ok := h.Except[code]; ok {
		return v
	}
	return f.RoundToNearest(float64(float64(code)*h.Scale) + h.Bias)
}

// FusedFormulaValue returns the value of the formula for a code, with product and sum rounded together, as a number of
// the format f.
func (h *HostCodeValues) FusedFormulaValue(code int64, f num.FloatFormat) float64 {
	return f.RoundToNearest(math.FMA(float64(code), h.Scale, h.Bias))
}

// IsFormulaRoundingSafe reports whether the formula gives the right number of the format f for a code, in whatever way
// its numbers are rounded. No boundary between two numbers of the format is that near.
func (h *HostCodeValues) IsFormulaRoundingSafe(code int64, f num.FloatFormat) bool {
	product := float64(code) * h.Scale
	v := product + h.Bias
	off := 0x1p-50 * (math.Abs(product) + math.Abs(h.Bias))
	return f.RoundToNearest(v-off) == f.RoundToNearest(v+off)
}
