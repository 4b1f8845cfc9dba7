package dataflow

// An Ability is an optional interface of a layer, which engines find by a type assertion. It makes another layer or
// hardware of the layer, or has several methods that are of use only together. A single answer about a layer is a field
// of LayerDescription instead.
type Ability struct {
	Name    string // of the interface, in this package
	Reason  string // why it is no field of LayerDescription
	Without string // what happens with a layer that lacks it
}

// Abilities lists the abilities of layers. There are at most ten; one more says in Reason why none of the others, and
// no field of LayerDescription, does.
var Abilities = []Ability{
	{"HasCircuit", "it makes hardware, which back ends that spell circuits take as it is",
		"the layer is built by C++ back ends only (CircuitOfNode)"},
	{"HasDivisiblePE", "it makes the parts of a layer, and says which of them are alike",
		"the layer is one process, and only folds within the limits of one are taken"},
	{"HasLoadableWeights", "the limits of weights, their table and the layer that loads it describe one memory",
		"weights are constants of the hardware"},
	{"HasStepFunctions", "it makes the layer of the sums alone, whose step functions become a layer of their own",
		"the layer is built as one process"},
	{"HasUnrolledProducts", "one limit is compared with products or with added bits, whichever the back end counts",
		"no limit of a process applies, and synthesis is taken to be as short as without products"},
	{"KeepsState", "a run's first state and the state that one kernel hands to another are the same state",
		"every frame is computed alone"},
	{"TakesSequenceEnds", "the layer that reads the ends of sequences, and its C++, belong to layers that must be told",
		"a time step is handled as a frame"},
}
