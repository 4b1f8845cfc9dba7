package integers

import (
	"errors"
	"fmt"
	"math/bits"

	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// MaxSteps is the most steps that an activation of comparators may have. Each step takes a comparator per PE and a word
// of threshold memory per channel.
const MaxSteps = 1 << 12

// MergeEqualSteps returns the first step function alone if all channels have the same one, and steps otherwise. There
// must be at least one.
func MergeEqualSteps(steps []num.StepFunction) []num.StepFunction {
	for _, f := range steps[1:] {
		if !f.Equal(steps[0]) {
			return steps
		}
	}
	return steps[:1]
}

// NoStepFunction turns err, with which the search for a step function of at most limit steps failed, into the reason
// for the user.
func NoStepFunction(err error, limit int) error {
	switch {
	case errors.Is(err, real.ErrTooManySteps):
		return unmapped.WrapReason(err, diag.RangeTooWide, fmt.Sprintf("its activation has more than %d steps", limit),
			FewerStepsHint(limit))
	case errors.Is(err, real.ErrDivision), errors.Is(err, real.ErrRoot), errors.Is(err, real.ErrLog):
		return unmapped.WrapReason(err, diag.NotMapped, fmt.Sprintf("its activation has no value %v", err),
			"keep its input away from there: clip it, or add a small constant")
	}
	return unmapped.WrapReason(err, diag.RoundingUndecided, fmt.Sprintf("its rounding %v", err),
		"the value lies on a rounding boundary up to 8192 bits of precision: nudge the scale or the bias of this layer")
}

// FewerStepsHint returns the hint for an activation that may have at most limit steps: the bits to quantise it with.
func FewerStepsHint(limit int) string {
	if limit < 4 {
		return "quantise this activation with fewer bits"
	}
	return fmt.Sprintf("quantise this activation with %d bits or fewer", bits.Len(uint(limit))-1)
}

// Interval returns a range of integers as an interval of real numbers with the same ends.
func Interval(r num.Range) real.Interval { return real.Interval{Lo: float64(r.Lo), Hi: float64(r.Hi)} }
