package templates

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// These are the types of other packages that the package takes and gives. Other modules need these names, because they
// cannot import the packages.
type (
	// A FIFO holds the words of a stream that its reader has not taken yet.
	FIFO = dataflow.FIFO
	// A KernelInstance is one layer's C++ as data.
	KernelInstance = dataflow.KernelInstance
	// A Port is one end of a stream.
	Port = dataflow.Port
	// A Storage is a memory of a layer.
	Storage = dataflow.Storage
	// A Table is a ROM with rows of equally many elements.
	Table = dataflow.Table
	// ExternalWeights describes the weights that a node reads from memory with every frame.
	ExternalWeights = dataflow.ExternalWeights
	// A LayerBackend is the half of a back end that layers and simulators read.
	LayerBackend = dataflow.Backend
	// A Diagnostic is one message to the user.
	Diagnostic = diag.Diag
)
