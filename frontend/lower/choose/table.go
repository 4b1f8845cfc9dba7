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

// LayerRules lists the rules by preference: of those with a function's form, the first one that fits is used.
var LayerRules = []LayerRule{
	row(LayerWire, "A function that changes no integer needs no layer.", wire),
	elementwise(requant.Layer.Name,
		"From 63 steps on, a separate layer takes fewer resources than thresholds in the layer in front. It "+
			"multiplies and shifts, or is built as a step function.",
		requantization),
	row(LayerFused, "Thresholds cost least within the product that computes the integers, as these are "+
		"complete one by "+
		"one. Nothing else may need the integers, and the function must rise. If it falls, the weights are "+
		"negated.", fused),
	elementwise(threshold.Layer.Name, "A comparator per step computes any function.", thresholding),

	row(add.Layer.Name, "A sum of streams, and thresholds over the sum.", sum),
	row(mul.Layer.Name, "A product of two streams, and thresholds over the product.", times),

	row(globalpool.Layer.Name, "A sum over the whole image needs no memory for lines.",
		wholeSum),
	row(pool.Layer.Name, "A window that only adds needs no multiplier.", windowSum),
	row(vvau.Layer.Name, "If every channel has its own window, each channel has a vector of weights.",
		vectors),
	row(mvau.Layer.Name, "A matrix of weights, per group of channels, computes any other product.", matrices),

	row(globalpool.Layer.Name, "A maximum over the whole image needs no memory for lines.", wholeMaximum),
	row(pool.Layer.Name, "The maximum over a sliding window.", windowMaximum),

	row(lookup.Layer.Name, "Each integer selects a row of a table.", rows),
	row(labelselect.Layer.Name, "The indices of sorted integers.", labels),
	row(rnn.Layer.Name, "Recurrent cells run over a sequence, behind the product of its elements with weights.", cells),
}
