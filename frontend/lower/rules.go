package lower

import (
	"hlsgen/frontend/program"
)

// A Rule handles a kind of step. match returns true if it has handled the step, and an error if the step is of this
// kind but cannot be mapped. It returns false for other steps.
type Rule struct {
	Name, Doc string
	match     func(*lowering, *program.Step) (done bool, reject error)
}

// Rules is the table of rules. The first rule that returns true or an error decides.
var Rules = []Rule{
	{"host-quantiser",
		"A quantiser that depends only on the model's inputs runs on the host. The host sends its codes to the " +
			"accelerator, or the codes of a function or another quantiser behind it.", hostQuantiser},
	{"host-prefix", "Any other step that depends only on the model's inputs runs on the host, with real numbers.",
		hostPrefix},
	{"real-gates", "The cell of an ONNX LSTM has no formats for its gates and its state. The user has to give them.",
		realGates},
	{"matrix", "A product of scaled integers with constant weights becomes an MVAU. For a convolution, a sliding " +
		"window comes in front of the MVAU. A depthwise convolution becomes a VVAU, and one that only adds a Pool. " +
		"The layer waits for a quantiser, which becomes its activation.", matrix},
	{"recurrence", "A body that runs once per element of a sequence becomes a program over codes. The recurrence " +
		"waits, because a cell that runs through the same sequence in the other direction may join it. The two " +
		"then take turns in one layer.", recurrence},
	{"maximum", "A maximum over windows becomes a Pool. It waits for the quantiser behind it if thresholds are " +
		"better in front of the Pool.", maxima},
	{"quantiser", "A quantiser, with the steps between it and the integers in front, is a step function. It becomes " +
		"the thresholds of the layer that computes these integers, or a Thresholding of its own. For a sum of two " +
		"tensors, it becomes the thresholds of an AddStreams.", quantiser},
	{"labels", "The indices of sorted values (ArgMax, TopK) become a LabelSelect if the integers have the order of " +
		"the real values and nothing else needs them. Otherwise the host sorts them.", labels},
	{"slice", "A step between integers and a quantiser has no layer. It is part of that quantiser's step function, " +
		"or runs on the host.", slice},
}
