package folding

import "hlsgen/internal/dataflow"

// These are the types of other packages that the package takes and gives. Other modules need these names, because they
// cannot import the packages.
type (
	// A Target is a board and a clock.
	Target = dataflow.Target
	// Resources counts the resources of an FPGA.
	Resources = dataflow.Resources
	// UnrollLimits limits the products that one process computes in a clock.
	UnrollLimits = dataflow.UnrollLimits
	// SequenceLengths says how many time steps sequences may have.
	SequenceLengths = dataflow.SequenceLengths
)
