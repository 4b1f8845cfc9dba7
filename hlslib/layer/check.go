package layer

import (
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// An InputCheck returns an error if a layer cannot have these inputs.
type InputCheck func(in []dataflow.StreamType) error

// AcceptAnyInputs is a check that accepts all inputs; the layer's Bind checks them.
func AcceptAnyInputs([]dataflow.StreamType) error { return nil }

// NewInputCountCheck returns a check that gives an error unless there are n inputs.
func NewInputCountCheck(n int) InputCheck {
	return func(in []dataflow.StreamType) error {
		if len(in) != n {
			return fmt.Errorf("%d inputs, want %d", len(in), n)
		}
		return nil
	}
}

// CheckTwoEqualShapes returns an error unless there are two inputs of equal shape.
func CheckTwoEqualShapes(in []dataflow.StreamType) error {
	if err := NewInputCountCheck(2)(in); err != nil {
		return err
	}
	if !slices.Equal(in[0].Shape, in[1].Shape) {
		return fmt.Errorf("inputs of shapes %v and %v, want one shape", in[0].Shape, in[1].Shape)
	}
	return nil
}

// CheckInRange returns an error unless n is at least lo and at most hi. what says in the error what n counts.
func CheckInRange(what string, n, lo, hi int) error {
	if n < lo || n > hi {
		return fmt.Errorf("%d %s, want %d to %d", n, what, lo, hi)
	}
	return nil
}

// CheckImageInput returns an error unless there is one input with rows, columns and channels.
func CheckImageInput(in []dataflow.StreamType) error {
	if err := NewInputCountCheck(1)(in); err != nil {
		return err
	}
	if shape := in[0].Shape; len(shape) != 3 {
		return fmt.Errorf("an input of shape %v, want rows, columns and channels", shape)
	}
	return nil
}

// CheckPerChannelLength returns an error if a list has n elements and the first input's channels are not n. Lists of
// one element, for all channels, and empty lists fit any input. what names the elements.
func CheckPerChannelLength(what string, n int, in []dataflow.StreamType) error {
	shape := in[0].Shape
	if n <= 1 || n == shape.ChannelCount() {
		return nil
	}
	inputs, want := "an input", "one"
	if len(in) > 1 {
		inputs, want = "inputs", "none, one"
	}
	return fmt.Errorf("%d %s for %s of shape %v, want %s or %d", n, what, inputs, shape, want, shape.ChannelCount())
}

// CopyPerInput overwrites each, which has an element per input, with the elements of list. An empty list leaves each as
// it is; any other number of elements is an error. what names the elements in the error.
func CopyPerInput[T any](what string, each, list []T) error {
	if n := len(list); n != 0 && n != len(each) {
		return fmt.Errorf("%s of %d inputs, want none or %d", what, n, len(each))
	}
	copy(each, list)
	return nil
}

// VerifyStepFunctions returns an error if a step function is malformed, with the channel's number.
func VerifyStepFunctions(steps []num.StepFunction) error {
	for c, s := range steps {
		if err := s.Verify(); err != nil {
			return fmt.Errorf("channel %d: %w", c, err)
		}
	}
	return nil
}

// maxSum is the largest width in bits of a value before a step function or a shift: one bit less than an int64.
const maxSum = 63

// NarrowestTypeOfRanges returns the narrowest type that holds all the ranges, or an error if it needs more than 63
// bits. what names the values in the error.
func NarrowestTypeOfRanges(what string, ranges []num.Range) (num.Type, error) {
	all := dataflow.StreamType{Range: ranges}.UnionOfRanges()
	t := num.NarrowestIntTypeFor(all)
	if t.Width > maxSum {
		return t, fmt.Errorf("the %s needs %d bits for %v, at most %d are possible", what, t.Width, all, maxSum)
	}
	return t, nil
}
