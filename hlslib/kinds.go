// Package hlslib is the library of layers: one folder per kind, each with its Go twin and its C++ kernel, the C++ that
// kernels share (core) and the headers for C simulation (csim).
package hlslib

import (
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/lookup"
	"hlsgen/hlslib/lstm"
	"hlsgen/hlslib/mul"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/split"
	"hlsgen/hlslib/swg"
	"hlsgen/hlslib/threshold"
	"hlsgen/hlslib/upsample"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
)

// Kinds is the table of layers.
var Kinds = []dataflow.Kind{
	{Name: mvau.Kind, Doc: mvau.Doc, Decode: mvau.Decode},
	{Name: vvau.Kind, Doc: vvau.Doc, Decode: vvau.Decode},
	{Name: lstm.Kind, Doc: lstm.Doc, Decode: lstm.Decode},
	{Name: threshold.Kind, Doc: threshold.Doc, Decode: threshold.Decode},
	{Name: requant.Kind, Doc: requant.Doc, Decode: requant.Decode},
	{Name: labelselect.Kind, Doc: labelselect.Doc, Decode: labelselect.Decode},
	{Name: dwc.Kind, Doc: dwc.Doc, Decode: dwc.Decode},
	{Name: concat.Kind, Doc: concat.Doc, Decode: concat.Decode},
	{Name: split.Kind, Doc: split.Doc, Decode: split.Decode},
	{Name: pad.Kind, Doc: pad.Doc, Decode: pad.Decode},
	{Name: crop.Kind, Doc: crop.Doc, Decode: crop.Decode},
	{Name: swg.Kind, Doc: swg.Doc, Decode: swg.Decode},
	{Name: pool.Kind, Doc: pool.Doc, Decode: pool.Decode},
	{Name: globalpool.Kind, Doc: globalpool.Doc, Decode: globalpool.Decode},
	{Name: add.Kind, Doc: add.Doc, Decode: add.Decode},
	{Name: mul.Kind, Doc: mul.Doc, Decode: mul.Decode},
	{Name: dup.Kind, Doc: dup.Doc, Decode: dup.Decode},
	{Name: upsample.Kind, Doc: upsample.Doc, Decode: upsample.Decode},
	{Name: reorder.Kind, Doc: reorder.Doc, Decode: reorder.Decode},
	{Name: lookup.Kind, Doc: lookup.Doc, Decode: lookup.Decode},
}
