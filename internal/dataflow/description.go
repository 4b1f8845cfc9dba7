package dataflow

import "hlsgen/internal/num"

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
	// Minifloats says what the layer does with minifloats as inputs.
	Minifloats MinifloatUse
	// Coded returns the layer with minifloats as outputs, not bound; ok is false if minifloats do not pay. Without it,
	// outputs are no minifloats, unless inputs are passed on.
	Coded func() (coded Op, ok bool)

	// Stretch returns the layer, not bound, for sequences of another length; the error says why there is none. Without
	// it, the parameters suit every length.
	Stretch func(from, to int) (Op, error)
	// HoldsFrame reports that the layer takes in a whole frame before it gives its first word.
	HoldsFrame bool
	// Recurrences returns what each time step hands on to a later one. Without it, the layer has no time steps.
	Recurrences func(Fold, Target) []RecurrenceTiming

	// Accumulators returns the widths of accumulators that the report compares. Without it, the layer has none.
	Accumulators func() AccumulatorWidthsByRule
	// ChannelSums returns bounds per output channel, for a layer in which each output channel sums products with
	// weights of its own. Without it, the layer computes something else.
	ChannelSums func() []ChannelSumBounds
	// PEAccumulators returns a type per PE, or nil if all have that of Accumulators. Without it, all have.
	PEAccumulators func(Fold, Target) []num.Type

	// Storage returns the memories of tables and arrays in a fold. Without it, no table of the layer is large.
	Storage func(Fold) []Storage
	// Counts returns operations and parameters per frame, with FINN's names, such as op_mac_INT2_INT4 and
	// param_weight_INT4. Without it, the layer neither multiplies nor holds parameters.
	Counts func() map[string]int64
	// NarrowerFactorBits returns the bits of the narrower factor, for a layer that multiplies in LUTs or in DSP slices,
	// as its folds say. Without it, the layer does not multiply.
	NarrowerFactorBits func() int

	// CarriedDelayNS returns the estimated time in ns of the logic from one clock's state to the next, which no
	// pipeline stage can shorten. Without it, the layer does not limit the clock.
	CarriedDelayNS func(Fold, Target) float64
	// CarriedStatePath returns the longest path from one state to the next of a kernel that carries a state from clock
	// to clock when synthesised from C++, including control. Without it, no such path is known.
	CarriedStatePath func(Fold, Target) TimingPath
}

// A TimingPath is a chain of operations that must be done within a clock.
type TimingPath struct {
	NS    float64
	Steps string // the operations with the time of each
}
