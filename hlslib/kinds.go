// Package hlslib is the library of layers. It has one folder per kind with its Go twin and its C++ kernel. Kernels
// share the C++ in core; csim has the headers for C simulation.
//
// In come the folders of the kinds. Out go the table of kinds, by which parameters are read, and the C++ files, which
// templates copies into projects. A kind's folder has KIND.go (parameters, binding, results, folds, loop), cost.go and
// KIND.hpp. Larger kinds have more files, which their package comments name.
package hlslib

import (
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/firstlast"
	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/join"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/lookup"
	"hlsgen/hlslib/mul"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/rnn"
	"hlsgen/hlslib/split"
	"hlsgen/hlslib/swg"
	"hlsgen/hlslib/threshold"
	"hlsgen/hlslib/upsample"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
)

// LayerKinds is the table of all kinds of layers. A new kind needs a row here; everything that lists kinds reads this
// table.
var LayerKinds = []dataflow.LayerKind{
	mvau.LayerKind,
	vvau.LayerKind,
	rnn.LayerKind,
	threshold.LayerKind,
	requant.LayerKind,
	labelselect.LayerKind,
	dwc.LayerKind,
	concat.LayerKind,
	join.LayerKind,
	split.LayerKind,
	pad.LayerKind,
	crop.LayerKind,
	swg.LayerKind,
	pool.LayerKind,
	globalpool.LayerKind,
	add.LayerKind,
	mul.LayerKind,
	dup.LayerKind,
	upsample.LayerKind,
	reorder.LayerKind,
	firstlast.LayerKind,
	lookup.LayerKind,
}
