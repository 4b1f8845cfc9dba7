package dataflow

import "hlsgen/internal/num"

// HasStepFunctions is implemented by layers with step functions on sums. The step functions may be a process of their
// own after the sums: a fold with SerialStepEvaluation is built so. The layer itself, as one process, has no such
// folds.
type HasStepFunctions interface {
	// Sums returns the layer bound without its step functions, the type of its output, and the step functions: one for
	// all channels, or one for each. The sums have the layer's folds, as far as their words have room for sums, with as
	// many iterations for each word that they write. ok is false if no function has several steps, or if the functions
	// do not apply to these sums.
	Sums() (sums Op, out StreamType, steps []num.StepFunction, ok bool)
}
