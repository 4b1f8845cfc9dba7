package choose

import (
	"errors"
	"fmt"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// An IntegerFunction is a function from integers to integers for which ChooseLayersForFunction finds layers. The types
// of this file implement it, such as StepActivation and MatrixProduct.
type IntegerFunction interface {
	form() string
	// refused returns the reason, for the user, why no layer computes the function. The argument is the error of the
	// last layer that was tried.
	refused(error) error
}

// A StepActivation is a step function of one integer for each channel of a stream: rounding and clipping, or
// thresholds.
type StepActivation struct {
	Steps  []num.StepFunction // per channel; nil if they are too many to list
	Scaled *requant.Params    // the function, if Steps is nil
	In     dataflow.StreamType
	Behind *ProductBeforeActivation // product whose sums it reads, if nothing else does and it has no layer; else nil

	functions []*real.Expr // what Steps are the steps of
}

// maxWideSteps is the largest number of steps of an activation that a layer computes by multiplying and shifting.
const maxWideSteps = 1 << 17

// wide reports whether the activation has more than integers.MaxActivationSteps steps, too many for a comparator each.
func (a StepActivation) wide() bool {
	return a.Scaled != nil || most(a.Steps) > integers.MaxActivationSteps
}

func (StepActivation) form() string { return "a step function per channel" }

func (a StepActivation) refused(err error) error {
	if a.wide() {
		return unmapped.NewReasonWithCode(diag.ActivationRangeTooWide,
			fmt.Sprintf("its activation has more than %d steps, and no multiplication and shift gives them",
				integers.MaxActivationSteps),
			integers.FewerStepsHint(integers.MaxActivationSteps)+", with a scale that is a power of two. "+
				"Or put a quantiser of 16 bits in "+
				"front: any function of it has a table")
	}
	return unmapped.NewReasonWithCode(diag.ActivationRangeTooWide, "no layer holds its activation: "+err.Error(),
		"quantise this activation with fewer bits")
}

// A WeightedSumWithSteps is a step function, per channel, of a sum of elements of several tensors, each times an
// integer factor.
type WeightedSumWithSteps struct {
	Factors [][]int64          // per input and channel
	Steps   []num.StepFunction // nil: the sum itself
}

func (WeightedSumWithSteps) form() string { return "a sum" }

func (WeightedSumWithSteps) refused(err error) error {
	return unmapped.NewReasonWithCode(diag.ActivationRangeTooWide, "no layer holds this sum: "+err.Error(),
		"use one scale for both, or fewer bits")
}

// An ElementProductWithSteps is a step function, per channel, of the product (x+Offset[0]) * (y+Offset[1]) of elements
// of two tensors.
type ElementProductWithSteps struct {
	Offset [2]int64
	Steps  []num.StepFunction
}

func (ElementProductWithSteps) form() string { return "a product of two" }

func (ElementProductWithSteps) refused(err error) error {
	return unmapped.NewReasonWithCode(diag.ActivationRangeTooWide, "no layer holds this product: "+err.Error(),
		"use fewer bits")
}

// A MatrixProduct is a set of sums of integers times constant weights: one sum per row of Weights, for each vector or
// window.
type MatrixProduct struct {
	Weights [][]int64      // per output channel
	Groups  int            // groups of channels, each with a matrix of its own; 0 and 1 mean one
	Product *num.Requant   // rounding of each product; nil for none
	Window  *SlidingWindow // nil for vectors
}

// A SlidingWindow is a window that slides over an image, such as the kernel of a convolution or a pooling.
type SlidingWindow struct {
	*program.Window
	Channels int  // channels of the image
	Covers   bool // the window covers the whole image
}

func (MatrixProduct) form() string { return "a product with weights" }

func (MatrixProduct) refused(err error) error {
	hint := "use fewer bits for weights or activations"
	if wide, ok := errors.AsType[mac.AccumulatorTooWideError](err); ok && wide.Minifloats {
		hint = "use minifloats of fewer exponent bits: each one doubles the exponents that an exact sum spans"
	}
	return unmapped.NewReasonWithCode(diag.AccumulatorTooWide, err.Error(), hint)
}

// A WindowMaximum is the greatest integer of a window, for each channel by itself.
type WindowMaximum struct{ Window SlidingWindow }

func (WindowMaximum) form() string { return "a maximum" }

func (WindowMaximum) refused(err error) error {
	return unmapped.NewReason("no layer takes this maximum: "+err.Error(), "use a smaller window")
}

// A LookupTable is a function that returns a row of a table: its input selects the row, whose integers are the channels
// of the output.
type LookupTable struct{ Table [][]int64 }

func (LookupTable) form() string { return "a row of a table" }

func (LookupTable) refused(err error) error {
	return unmapped.NewReason("no layer holds this table: "+err.Error(), "use a smaller table")
}

// A TopKIndices is a function that returns the indices of the first K of N integers, sorted by size.
type TopKIndices struct {
	N, K         int
	Largest      bool // the largest integer comes first
	LastOfEquals bool // the last of equal integers comes first
}

func (TopKIndices) form() string { return "places in order" }

func (TopKIndices) refused(err error) error {
	return unmapped.NewReason("no layer selects the labels: "+err.Error(), "ask for fewer places")
}

// A RecurrentCellSequence is a recurrence: cells that run over a sequence, time step by time step, and their outputs.
type RecurrentCellSequence struct{ Loop rnn.Params }

func (RecurrentCellSequence) form() string { return "a recurrence" }

func (RecurrentCellSequence) refused(err error) error {
	return unmapped.NewReason("no layer runs this cell: "+err.Error(), "use fewer bits")
}
