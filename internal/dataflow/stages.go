package dataflow

import "hlsgen/internal/num"

// Activated is implemented by layers with step functions on sums, which may be a process of their own behind these: a
// fold that is Serial is built so. As one process, a layer knows no such folds.
type Activated interface {
	// Sums is the layer without its step functions, bound, with its output, and these functions: one for all channels, or
	// one for each. Its folds are the layer's where its words have room for sums, and its iterations are, too: of a word
	// that it writes as many as of any other. ok is false where there are no functions of several steps, or where they
	// are not of what the layer alone would give.
	Sums() (sums Op, out Type, steps []num.Step, ok bool)
}
