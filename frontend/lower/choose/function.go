package choose

import (
	"errors"
	"fmt"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A Function is a function from integers to integers for which Layer finds layers. Its types are those of this file.
type Function interface {
	form() string
	// refused returns the reason, for the user, why no layer computes the function. The argument is the error of the
	// last layer that was tried.
	refused(error) error
}

// An Activation is a step function of one integer, per channel of a stream.
type Activation struct {
	Steps  []num.StepFunction // per channel; nil if they are too many to list
	Scaled *requant.Params    // the function, if Steps is nil
	In     dataflow.StreamType
	Behind *FusibleProduct // computes the integers, if it has no layer yet and nothing else needs them; otherwise nil
}

// maxWideSteps limits the steps of an activation that a layer computes by multiplying and shifting.
const maxWideSteps = 1 << 17

// wide reports whether the activation has too many steps for a comparator each, which is more than integers.MaxSteps.
func (a Activation) wide() bool { return a.Scaled != nil || most(a.Steps) > integers.MaxSteps }

func (Activation) form() string { return "a step function per channel" }

func (a Activation) refused(err error) error {
	if a.wide() {
		return unmapped.ReasonWithCode(diag.RangeTooWide,
			fmt.Sprintf("its activation has more than %d steps, and no multiplication and shift gives them",
				integers.MaxSteps),
			integers.FewerStepsHint(integers.MaxSteps)+", with a scale that is a power of two. "+
				"Or put a quantiser of 16 bits in "+
				"front: any function of it has a table")
	}
	return unmapped.ReasonWithCode(diag.RangeTooWide, "no layer holds its activation: "+err.Error(),
		"quantise this activation with fewer bits")
}

// A WeightedSum is a step function, per channel, of a sum of elements of several tensors, each times an integer factor.
type WeightedSum struct {
	Factors [][]int64          // per input and channel
	Steps   []num.StepFunction // nil: the sum itself
}

func (WeightedSum) form() string { return "a sum" }

func (WeightedSum) refused(err error) error {
	return unmapped.ReasonWithCode(diag.RangeTooWide, "no layer holds this sum: "+err.Error(),
		"use one scale for both, or fewer bits")
}

// An ElementProduct is a step function, per channel, of the product (x+Offset[0]) * (y+Offset[1]) of elements of two
// tensors.
type ElementProduct struct {
	Offset [2]int64
	Steps  []num.StepFunction
}

func (ElementProduct) form() string { return "a product of two" }

func (ElementProduct) refused(err error) error {
	return unmapped.ReasonWithCode(diag.RangeTooWide, "no layer holds this product: "+err.Error(), "use fewer bits")
}

// A Matrix is a set of sums of integers times constant weights: one sum per row of Weights, for each vector or window.
type Matrix struct {
	Weights [][]int64      // per output channel
	Groups  int            // groups of channels, each with a matrix of its own; 0 and 1 mean one
	Product *num.Requant   // rounding of each product; nil for none
	Window  *SlidingWindow // nil for vectors
}

// A SlidingWindow is a window that slides over an image, such as the kernel of a convolution or a pooling.
type SlidingWindow struct {
	*program.Window
	Channels int  // channels of the image
	Covers   bool // it covers the whole image
}

func (Matrix) form() string { return "a product with weights" }

func (Matrix) refused(err error) error {
	hint := "use fewer bits for weights or activations"
	if wide, ok := errors.AsType[mac.TooWideError](err); ok && wide.Minifloats {
		hint = "use minifloats of fewer exponent bits: each one doubles the exponents that an exact sum spans"
	}
	return unmapped.ReasonWithCode(diag.AccumulatorWide, err.Error(), hint)
}

// A Maximum is the greatest integer of a window, for each channel by itself.
type Maximum struct{ Window SlidingWindow }

func (Maximum) form() string { return "a maximum" }

func (Maximum) refused(err error) error {
	return unmapped.NewReason("no layer takes this maximum: "+err.Error(), "use a smaller window")
}

// A Lookup is a table of which each integer selects a row; the row's integers are the output's channels.
type Lookup struct{ Table [][]int64 }

func (Lookup) form() string { return "a row of a table" }

func (Lookup) refused(err error) error {
	return unmapped.NewReason("no layer holds this table: "+err.Error(), "use a smaller table")
}

// A TopK is the indices of the K first of N integers, sorted by size.
type TopK struct {
	N, K         int
	Largest      bool // the largest integer comes first
	LastOfEquals bool // the last of equal integers comes first
}

func (TopK) form() string { return "places in order" }

func (TopK) refused(err error) error {
	return unmapped.NewReason("no layer selects the labels: "+err.Error(), "ask for fewer places")
}

// A CellSequence is a recurrence: cells that run over a sequence, time step by time step, and their outputs.
type CellSequence struct{ Loop rnn.Params }

func (CellSequence) form() string { return "a recurrence" }

func (CellSequence) refused(err error) error {
	return unmapped.NewReason("no layer runs this cell: "+err.Error(), "use fewer bits")
}
