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

// MaxActivationSteps is the largest number of steps of an activation that is made of comparators. Each step takes a
// comparator per PE and a word of threshold memory per channel.
const MaxActivationSteps = 1 << 12

// MergeEqualStepFunctions returns steps[:1] if all channels have the same step function, and steps otherwise. There
// must be at least one.
func MergeEqualStepFunctions(steps []num.StepFunction) []num.StepFunction {
	for _, f := range steps[1:] {
		if !f.Equal(steps[0]) {
			return steps
		}
	}
	return steps[:1]
}

// NoStepFunctionReason returns the reason to show to the user if the search for a step function of at most limit steps
// failed with err.
func NoStepFunctionReason(err error, limit int) error {
	switch {
	case errors.Is(err, real.ErrTooManySteps):
		return unmapped.NewReasonWithCause(err, diag.ActivationRangeTooWide,
			fmt.Sprintf("its activation has more than %d steps", limit),
			FewerStepsHint(limit))
	case errors.Is(err, real.ErrDivisionByZero), errors.Is(err, real.ErrRootOfNegative), errors.Is(err,
		real.ErrLogOfNonPositive):
		return unmapped.NewReasonWithCause(err, diag.NodeNotMapped, fmt.Sprintf("its activation has no value %v", err),
			"keep its input away from there: clip it, or add a small constant")
	}
	return unmapped.NewReasonWithCause(err, diag.RoundingUndecided, fmt.Sprintf("its rounding %v", err),
		"the value lies on a rounding boundary up to 8192 bits of precision: nudge the scale or the bias of this layer")
}

// FewerStepsHint returns the hint for an activation with more than limit steps. It names the number of bits with which
// to quantise it.
func FewerStepsHint(limit int) string {
	if limit < 4 {
		return "quantise this activation with fewer bits"
	}
	return fmt.Sprintf("quantise this activation with %d bits or fewer", bits.Len(uint(limit))-1)
}

// IntervalOfRange returns a range of integers as an interval of real numbers with the same ends.
func IntervalOfRange(r num.Range) real.Interval {
	return real.Interval{Lo: float64(r.Lo), Hi: float64(r.Hi)}
}
