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

// Table is sorted by preference: among the rows of a form, the first one that fits is used.
var Table = []Row{
	row(Wire, "A function that changes no integer needs no layer.", wire),
	elementwise(requant.Layer.Name,
		"From 63 steps on, a layer of its own takes less than thresholds in front: it multiplies and shifts, or is "+
			"built as a step function.",
		requantization),
	row(Fused, "Thresholds cost least within the product that makes the integers: it has them one by one, as they "+
		"are complete. "+
		"It must be theirs alone, and rise; where it falls, the signs of the weights are turned round.", fused),
	elementwise(threshold.Layer.Name, "A comparator per step computes any function.", thresholding),

	row(add.Layer.Name, "A sum of streams, and thresholds of it.", sum),
	row(mul.Layer.Name, "A product of two streams, and thresholds of it.", times),

	row(globalpool.Layer.Name, "A window that is the whole image, and only adds up, needs no memory of lines.",
		wholeSum),
	row(pool.Layer.Name, "A window that only adds up needs no multiplier.", windowSum),
	row(vvau.Layer.Name, "Where every channel has a window of its own, there is a vector of weights per channel.",
		vectors),
	row(mvau.Layer.Name, "A matrix of weights, per group of channels, computes any other product.", matrices),

	row(globalpool.Layer.Name, "A window that is the whole image needs no memory of lines.", wholeMaximum),
	row(pool.Layer.Name, "The greatest of a sliding window.", windowMaximum),

	row(lookup.Layer.Name, "Rows of a table, of which each integer chooses one.", rows),
	row(labelselect.Layer.Name, "The places of integers in order.", labels),
	row(rnn.Layer.Name, "Cells over a sequence, behind the product with its elements.", cells),
}
