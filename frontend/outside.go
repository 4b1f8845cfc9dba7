package frontend

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// Names for other modules, whose tests import, fold and simulate models: what they hold in their hands is declared
// under internal/.
type (
	Model       = dataflow.Model      // what Import yields: an integer graph, and functions of the host around it
	Graph       = dataflow.Graph      // layers and the streams between them
	Node        = dataflow.Node       // a layer in a graph
	Stream      = dataflow.Stream     // what joins one layer to the next
	StreamType  = dataflow.Type       // shape, ranges and bits of what is on a stream
	ElementType = num.Type            // the bits that hold an element
	Tensor      = dataflow.Tensor     // a frame of integers
	RealTensor  = dataflow.RealTensor // a sample of the model's own inputs or outputs
	Diagnostics = diag.List           // what Import and folding.Make tell the user
)
