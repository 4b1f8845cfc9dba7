package dataflow

import "hlsgen/internal/num"

// Activated is implemented by layers with step functions on sums, which may be a process of their own behind these: a
// fold that is Serial is built so. As one process, a layer knows no such folds.
type Activated interface {
	// Sums is the layer without its step functions, bound, with its output, and these functions: one for all channels,
	// or one for each. Its folds are the layer's where its words have room for sums, and its iterations are, too: as
	// many for each word that it writes. ok is false where no function has several steps, or where they are not of
	// what the layer would give without.
	Sums() (sums Op, out Type, steps []num.Step, ok bool)
}
