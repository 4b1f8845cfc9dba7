// Package hlslib is the library of layers: one folder per kind, each with its Go twin and its C++ kernel, the C++ that
// kernels share (core) and the headers for C simulation (csim).
package hlslib

import (
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
)

// Kinds is the table of layers.
var Kinds = []dataflow.Kind{
	{Name: mvau.Kind, Doc: mvau.Doc, Decode: mvau.Decode},
	{Name: threshold.Kind, Doc: threshold.Doc, Decode: threshold.Decode},
	{Name: labelselect.Kind, Doc: labelselect.Doc, Decode: labelselect.Decode},
	{Name: dwc.Kind, Doc: dwc.Doc, Decode: dwc.Decode},
}
