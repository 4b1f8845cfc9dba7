package layer

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// MaxThresholdsPerChannel limits the thresholds of a channel. maxTableThresholds is the larger limit for layers that
// may look codes up by the whole value, if that has at most MaxTableAddressBits bits.
const (
	MaxThresholdsPerChannel = steps.MaxComparedThresholds
	maxTableThresholds      = 2 << steps.MaxTableAddressBits
	MaxTableAddressBits     = steps.MaxTableAddressBits
)

// An ActivationTail applies step functions to the value that a layer has computed: one for each channel, one for all
// channels, or none.
type ActivationTail struct {
	list    []num.StepFunction
	of      num.Type             // type of the value
	compare num.ThresholdTable   // one row for all channels, or one per channel; empty without step functions
	bits    int                  // bits per channel in a row of the tables
	built   *steps.StepFunctions // the implementations, by lanes and memory
	out     num.Type             // type of the outputs
}

// BindActivationTail returns the tail that applies the step functions to values of type of, and the output's type, as a
// list of one. Without step functions both types are equal. Too many thresholds are an error.
func BindActivationTail(list []num.StepFunction, of dataflow.StreamType) (s ActivationTail, out []dataflow.StreamType,
	err error) {
	return bindSteps(num.Type{}, list, of, MaxThresholdsPerChannel)
}

// BindActivationTailToType does what BindActivationTail does, for outputs of type elem; the zero type selects the
// narrowest. Without step functions elem is ignored; an output that it does not hold is an error. If it is a minifloat,
// the hardware computes its codes. Values of at most MaxTableAddressBits bits may have a threshold at every value.
func BindActivationTailToType(elem num.Type, list []num.StepFunction, of dataflow.StreamType) (s ActivationTail,
	out []dataflow.StreamType, err error) {
	most := MaxThresholdsPerChannel
	if of.Elem.Width <= MaxTableAddressBits {
		most = maxTableThresholds
	}
	return bindSteps(elem, list, of, most)
}

// bindSteps does what BindActivationTailToType does, with at most most thresholds per channel.
func bindSteps(elem num.Type, list []num.StepFunction, of dataflow.StreamType, most int) (s ActivationTail,
	out []dataflow.StreamType, err error) {
	s = ActivationTail{list: list, of: of.Elem, out: of.Elem}
	if len(list) == 0 {
		return s, []dataflow.StreamType{of}, nil
	}
	x := of.Range
	n := max(len(x), len(list))
	y := dataflow.StreamType{Shape: of.Shape, Range: make([]num.Range, n)}
	values := make([][]int64, n)
	breaks := 0
	for c := range n {
		live := s.StepFunctionOf(c).RestrictedTo(ElementForChannel(x, c))
		y.Range[c], values[c] = live.ValueRangeOver(ElementForChannel(x, c)), live.Value
		breaks = max(breaks, len(live.At))
	}
	if y.Elem = elem; elem == (num.Type{}) {
		y.Elem = num.NarrowestTypeOfValues(values...)
	}
	s.out = y.Elem
	if list, err = coded(y.Elem, list, x, values); err != nil {
		return s, nil, err
	}
	// A delta costs about as much as a threshold, so units may share a function with up to twice the breakpoints.
	s.compare = num.NewThresholdTable(list, x, of.Elem, 2*breaks).WithSharedRow()
	if n := s.thresholdsPerChannel(); n > most {
		return s, nil, fmt.Errorf("a channel has %d thresholds, at most %d are possible", n, most)
	} else if rows := len(s.compare.At) << min(of.Elem.Width, MaxTableAddressBits); n > MaxThresholdsPerChannel &&
		rows > steps.MaxTableRows {
		return s, nil, fmt.Errorf("%d functions of %d thresholds take tables of %d rows, at most %d are possible",
			len(s.compare.At), n, rows, steps.MaxTableRows)
	}
	s.bits = dataflow.StepTableBitsPerChannel(s.compare, of.Elem)
	s.built = steps.New(s.compare, x, of.Elem, s.out.CodeType())
	return s, []dataflow.StreamType{y}, nil
}

// coded returns the step functions with codes of the minifloat elem as their outputs, or unchanged if elem is no
// minifloat. x and values are, by function, the ranges of inputs and the outputs. An output that elem does not hold is
// an error.
func coded(elem num.Type, list []num.StepFunction, x []num.Range, values [][]int64) ([]num.StepFunction, error) {
	for _, v := range slices.Concat(values...) {
		if !elem.Holds(v) {
			return nil, fmt.Errorf("%v does not hold the output %d", elem, v)
		}
	}
	if !elem.IsMinifloat() {
		return list, nil
	}
	codes := make([]num.StepFunction, len(values))
	for c := range codes {
		codes[c] = ElementForChannel(list, c).RestrictedTo(ElementForChannel(x, c))
		codes[c].Value = slices.Clone(codes[c].Value)
		for i, v := range codes[c].Value {
			codes[c].Value[i] = elem.CodeOfValue(v)
		}
	}
	return codes, nil
}

// hasSteps reports whether there are step functions.
func (s *ActivationTail) hasSteps() bool { return len(s.list) > 0 }

// StepFunctionOf returns the step function of channel c. The tail must have step functions.
func (s *ActivationTail) StepFunctionOf(c int) num.StepFunction { return ElementForChannel(s.list, c) }

// thresholdsPerChannel returns the number of thresholds per channel, or 0 without step functions.
func (s *ActivationTail) thresholdsPerChannel() int { return s.compare.ThresholdsPerChannel() }

// ExactOutput returns channel c's output for the value v: v itself without step functions.
func (s *ActivationTail) ExactOutput(c int, v int64) int64 {
	if !s.hasSteps() {
		return v
	}
	return s.StepFunctionOf(c).Apply(v)
}

// hardwareFormFor returns the form in which a fold computes the step functions, or nil if there are none.
func (s *ActivationTail) hardwareFormFor(f dataflow.Fold) steps.StepFunctionHardware {
	if !s.hasSteps() {
		return nil
	}
	return s.built.CheapestFormAt(s.site(f))
}

// site returns what a fold says about the place of the step functions in the layer.
func (s *ActivationTail) site(f dataflow.Fold) steps.FormSite {
	return steps.FormSite{PE: f.PE, Alike: s.compare.HasSharedRow(), Memory: f.Memory}
}

// CanSearchSerially reports whether a fold can find codes by a serial search.
func (s *ActivationTail) CanSearchSerially(f dataflow.Fold) bool {
	return s.hasSteps() && s.built.CanSearchSerially(s.site(f))
}

// SerialSearchFor returns the serial search of a fold, for which CanSearchSerially must report true.
func (s *ActivationTail) SerialSearchFor(f dataflow.Fold) *steps.SerialSearch {
	return s.built.SerialSearchAt(s.site(f))
}

// HardwareFunction returns the function that a fold's hardware computes: it maps channel c and value v to the output.
func (s *ActivationTail) HardwareFunction(f dataflow.Fold) func(c int, v int64) int64 {
	form := s.hardwareFormFor(f)
	if form == nil {
		return func(_ int, v int64) int64 { return v }
	}
	return func(c int, v int64) int64 { return s.OutputOfCode(form.ComputeCode(s.BuiltFunctionIndex(c), v)) }
}

// OutputOfCode returns the output for a code that the hardware computes: the minifloat's value, or the code itself.
func (s *ActivationTail) OutputOfCode(code int64) int64 {
	if s.out.IsMinifloat() {
		return s.out.ValueOfCode(code)
	}
	return code
}

// BuiltFunctionIndex returns the index of channel c's step function among those that are built: 0 if all channels share
// one.
func (s *ActivationTail) BuiltFunctionIndex(c int) int { return min(c, len(s.compare.At)-1) }

// TableLayout describes the tables of the step functions, for the choice of their memory.
func (s *ActivationTail) TableLayout() TableLayout {
	return TableLayout{PerChannel: len(s.compare.At) > 1, Shared: s.hasSteps(), Row: func(pe int) int {
		if s.thresholdsPerChannel() > MaxThresholdsPerChannel && steps.CanUseLookupTableAt(s.built,
			steps.FormSite{PE: pe,
				Alike: s.compare.HasSharedRow()}) {
			return s.out.Width
		}
		if s.compare.HasSharedRow() {
			return s.bits
		}
		return pe * s.bits
	}}
}

// Storage returns the memories of the step functions' tables in a fold, or nil if there are none.
func (s *ActivationTail) Storage(f dataflow.Fold) []dataflow.Storage {
	if form := s.hardwareFormFor(f); form != nil {
		return form.Storage()
	}
	return nil
}

// EmitFieldsAndTables returns the fields and tables of the C++ for apply_steps in hlslib/core/compare.hpp. Without step
// functions these make the value, which value names, the output.
func (s *ActivationTail) EmitFieldsAndTables(f dataflow.Fold, value string) ([]dataflow.ConfigField, []dataflow.Table) {
	if form := s.hardwareFormFor(f); form != nil {
		return form.ConfigFields(), form.Tables()
	}
	return steps.ConfigFieldsWithoutThresholds(value, 1, 0), nil
}

// LogicCost returns the cost of the step functions in a fold, without the memories of their tables.
func (s *ActivationTail) LogicCost(m cost.CostModel, f dataflow.Fold) []cost.CostPart {
	if form := s.hardwareFormFor(f); form != nil {
		return form.LogicCost(m)
	}
	return nil
}

// BuildCircuit returns the outputs of a word's values in a circuit, as codes: the values themselves without step
// functions. row is the address of the tables' row, at stage 0.
func (s *ActivationTail) BuildCircuit(b *circuit.Builder, f dataflow.Fold, row circuit.Value,
	values []circuit.Value) []circuit.Value {
	if form := s.hardwareFormFor(f); form != nil {
		return form.BuildCircuit(b, row, values)
	}
	return values
}
