package graph

// A Recur runs a body once per element of a sequence (ONNX Scan). Input i < States of the node is the initial value of a
// state, input States+k is scanned along Scanned[k]. Output i < States is the last value of a state, output States+k has
// what every run gave, gathered along Gathered[k].
type Recur struct {
	Body     *Program  // inputs: the states, then one element per scanned tensor; outputs: the next states, then one element per gathered tensor
	States   int       // how many of either
	Scanned  []Scanned // of the node's inputs from States on
	Gathered []Scanned // of the node's outputs from States on
	Length   int       // runs; at least 1
}

// Scanned is how a tensor is walked through: one element of an axis after the other, or from its end to its begin. The
// body's tensor lacks that axis.
type Scanned struct {
	Axis    int
	Reverse bool
}
