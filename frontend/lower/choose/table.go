package choose

import (
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/lookup"
	"hlsgen/hlslib/mul"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/rnn"
	"hlsgen/hlslib/threshold"
	"hlsgen/hlslib/vvau"
)

// layerRules lists all rules in order of preference. Of the rules with a function's form, the first one that fits is
// used.
var layerRules = []LayerRule{
	row(LayerNameWire, "A function that changes no integer needs no layer.", wire),
	elementwise(requant.LayerKind.Name,
		"From 63 steps on, a separate layer takes fewer resources than thresholds in the layer in front. It "+
			"multiplies and shifts, or is built as a step function.",
		requantization),
	row(LayerNameFused, "Thresholds cost least within the product that computes the integers, as these are "+
		"complete one by "+
		"one. Nothing else may need the integers, and the function must rise. If it falls, the weights are "+
		"negated.", fused),
	elementwise(threshold.LayerKind.Name, "A comparator per step computes any function.", thresholding),

	row(add.LayerKind.Name, "A sum of streams, and thresholds over the sum.", sum),
	row(mul.LayerKind.Name, "A product of two streams, and thresholds over the product.", times),

	row(globalpool.LayerKind.Name, "A sum over the whole image needs no memory for lines.",
		wholeSum),
	row(pool.LayerKind.Name, "A window that only adds needs no multiplier.", windowSum),
	row(vvau.LayerKind.Name, "If every channel has its own window, each channel has a vector of weights.",
		vectors),
	row(mvau.LayerKind.Name, "A matrix of weights, per group of channels, computes any other product.", matrices),

	row(globalpool.LayerKind.Name, "A maximum over the whole image needs no memory for lines.", wholeMaximum),
	row(pool.LayerKind.Name, "The maximum over a sliding window.", windowMaximum),

	row(lookup.LayerKind.Name, "Each integer selects a row of a table.", rows),
	row(labelselect.LayerKind.Name, "The indices of sorted integers.", labels),
	row(rnn.LayerKind.Name, "Recurrent cells run over a sequence, behind the product of its elements with weights.",
		cells),
}
