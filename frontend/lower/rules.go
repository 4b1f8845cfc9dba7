package lower

import (
	"hlsgen/frontend/graph"
)

// A Rule says what becomes of a step. match answers done (the step is dealt with), a Reject (it is this rule's, and
// cannot be mapped), or neither (not mine).
type Rule struct {
	Name, Doc string
	match     func(*lowering, *graph.Step) (done bool, reject error)
}

// Rules is the table; the first rule that answers decides.
var Rules = []Rule{
	{"host-quantiser",
		"A quantiser that depends on the model's inputs alone runs on the host: its codes are what the accelerator " +
			"is fed with, or those of a function or another quantiser behind it.", hostQuantiser},
	{"host-prefix", "Any other step that depends on the model's inputs alone stays real-valued on the host.",
		hostPrefix},
	{"real-gates", "The cell of an ONNX LSTM has no formats for its gates and its state: the user has to give them.",
		realGates},
	{"matrix", "A product of scaled integers with constant weights is an MVAU, behind a sliding window for a " +
		"convolution. A depthwise one is a VVAU, one that only adds a Pool. It waits for a quantiser to become " +
		"its activation.", matrix},
	{"recurrence", "A body that runs once per element of a sequence is read as a program over codes. It waits: a " +
		"cell that walks through the same sequence the other way may join it, so that the two take turns in one layer.",
		recurrence},
	{"maximum", "A maximum over windows is a Pool. It waits for the quantiser behind it where thresholds are better " +
		"in front of it.", maxima},
	{"quantiser", "The slice from a quantiser back to integers is a step function: the thresholds of the layer that " +
		"made them, or a Thresholding of its own; of a sum of two tensors, those of an AddStreams.", quantiser},
	{"labels", "The places of integers in order (ArgMax, TopK) are a LabelSelect, where their order is that of the " +
		"real values and nothing else needs them. Else the host puts them in order.", labels},
	{"slice", "A step between integers and a quantiser has no layer: it is part of that quantiser's step function, " +
		"or of the host's suffix.", slice},
}
