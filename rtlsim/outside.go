package rtlsim

import "hlsgen/internal/dataflow"

// These are the types of other packages that the package takes and gives. Other modules need these names, because they
// cannot import the packages.
type (
	// A Design is a model with a schedule.
	Design = dataflow.Design
	// A Shape is the extent of one frame along each axis, channels last.
	Shape = dataflow.Shape
)
