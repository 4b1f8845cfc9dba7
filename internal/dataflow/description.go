package dataflow

// A LayerDescription holds the facts of a bound layer that engines ask for, beside what it computes and when. Where the
// answer takes time, a field is a function. A nil function says that the layer has nothing of that kind: the zero value
// describes a layer of which nothing more is known.
type LayerDescription struct {
	// Dependence returns how parts of the outputs depend on parts of the inputs. Without it, the layer computes with
	// several vectors at a time (DependenceOf).
	Dependence func() Dependence
	// Computation returns the computation as data, or nil. Without it, engines call Eval.
	Computation func() Computation
	// EvalRows returns the rows from, from+1 and so on up to to-1 of the result of Eval, for a layer of one input and
	// one output. A row is the elements of one index along the first axis. in returns a row of the input, which the
	// layer must not keep. It is meant for layers that make windows, whose output is many times as large as their
	// input. Without it, frames are computed as a whole.
	EvalRows func(in func(row int) []int64, from, to int) []int64
}
