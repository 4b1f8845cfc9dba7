package frontend

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// These aliases name types declared under internal/, for other modules that import, fold and simulate models.
type (
	Model          = dataflow.Model         // the result of Import: an integer graph and the host's functions around it
	LayerGraph     = dataflow.Graph         // layers and the streams between them
	LayerNode      = dataflow.Node          // a layer in a graph
	Stream         = dataflow.Stream        // the connection from one layer to the next
	StreamType     = dataflow.StreamType    // shape, ranges and bits of a stream's elements
	ElementType    = num.Type               // the bits that hold an element
	IntegerTensor  = dataflow.Tensor        // a frame of integers
	RealTensor     = dataflow.RealTensor    // a sample of the model's own inputs or outputs
	ReferenceFunc  = dataflow.ReferenceFunc // the model as written, one sample at a time
	IntegerRange   = num.Range              // a range of integers
	DiagnosticList = diag.List              // the messages of Import and folding.FindBestDesign to the user
)
