// Package dataflow defines the integer network between the host's real-valued prefix and suffix: layers (Op) joined by
// streams, and the Design that folds them onto a device. Every value is an int64, and equality is exact.
//
// In come layers that package hlslib's folders make; out come the answers that engines need of them.
//
//   - backend.go has what layers know of a back end, op.go defines a layer, and kind.go a kind of layers
//   - cost.go has resources by part; storage.go, instance.go, steps.go and requant.go have the memories, tables and
//     fields of the C++
//   - port.go has the words on streams, fifo.go FIFOs; loop.go says when words move, nest.go and stride.go how layers
//     describe that; recurrence.go has the state that time steps hand on
//   - computation.go describes a layer's computation as data, dependence.go how parts of frames depend on each other;
//     description.go has these and the other facts that engines ask a layer for, abilities.go the list of interfaces
//     that only some layers implement
//   - graph.go, verify.go and text.go have the graph, its rules, and its text form
//   - run.go computes frames; passage.go and passing.go compute them part by part; turns.go has frames of several
//     samples, lengths.go sequences of different lengths, and ends.go the FIFOs that tell where sequences end
//   - design.go is a model with a schedule; host.go the host's part as data; probe.go makes samples at thresholds
//   - circuit.go has layers in RTL; room.go layers whose weights are loaded; external.go layers whose weights come with
//     every frame; coded.go streams that carry minifloats
//   - limits.go has sizes that nothing exceeds; unroll.go the most that one process computes; stages.go layers that may
//     be two processes; uart.go says which models have a UART top
package dataflow

import (
	"fmt"
	"iter"
	"slices"

	"hlsgen/boards"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// Shape is the extent of one frame along each axis, channels last. It has no batch axis, because frames follow each
// other.
type Shape []int

// ElementCount returns the number of elements in a frame.
func (s Shape) ElementCount() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// ChannelCount returns the extent of the last axis, or 1 for a scalar.
func (s Shape) ChannelCount() int {
	if len(s) == 0 {
		return 1
	}
	return s[len(s)-1]
}

// VectorCount returns the number of channel vectors in a frame: the size divided by the channels.
func (s Shape) VectorCount() int {
	if s.ChannelCount() == 0 {
		return 0
	}
	return s.ElementCount() / s.ChannelCount()
}

// A Tensor is one frame of integers in row-major order.
type Tensor struct {
	Shape Shape
	Data  []int64
}

// A StreamType describes the frames on a stream: their shape, the values that occur (one Range for all channels or one
// per channel), and the bits that hold them.
type StreamType struct {
	Shape Shape
	Range []num.Range
	Elem  num.Type
}

// Equal reports whether two types are the same.
func (t StreamType) Equal(o StreamType) bool {
	return t.Elem == o.Elem && slices.Equal(t.Shape, o.Shape) && slices.Equal(t.Range, o.Range)
}

// ChannelRange returns the range of the values that occur in channel c.
func (t StreamType) ChannelRange(c int) num.Range {
	if len(t.Range) == 1 {
		return t.Range[0]
	}
	return t.Range[c]
}

// UnionOfRanges returns the range of the values that occur in any channel.
func (t StreamType) UnionOfRanges() num.Range {
	r := t.Range[0]
	for _, o := range t.Range[1:] {
		r = r.Union(o)
	}
	return r
}

// An Op is one layer: what it computes, and how it may be built. Ops are immutable; Bind returns a new one. Only Kind,
// Params and Bind may be called before Bind.
type Op interface {
	LayerSemantics
	LayerSchedule
	// Describe returns the facts of a bound layer.
	Describe() LayerDescription
}

// LayerSemantics defines what a layer computes. It knows nothing of parallelism, so a fold cannot change a result.
type LayerSemantics interface {
	// Kind returns the kind's name in FINN's terms: MVAU, Thresholding, StreamingDataWidthConverter. Nodes are
	// called Kind_0, Kind_1 and so on, in topological order.
	Kind() string
	// Params returns the exported struct that made the layer, for the text form and reports. It holds everything except
	// the input types.
	Params() any
	// Bind fixes the input types, and derives the output types and the inner widths. The error says what was found and
	// what was wanted.
	Bind(in []StreamType) (Op, []StreamType, error)
	// Eval is the exact reference on whole frames, in the plainest code possible. It does not change its arguments, and
	// may return them. Nobody changes a frame that a layer got or returned.
	Eval(in []Tensor) []Tensor
}

// LayerSchedule holds the methods of a bound Op that engines use.
type LayerSchedule interface {
	// Folds yields every legal fold, in a fixed order. Layers without a choice yield one.
	Folds() FoldIterator
	// Ports returns the word format of each input and each output.
	Ports(Fold) (in, out []Port)
	// Loop returns when iterations happen and which words they move.
	Loop(Fold, Target) Loop
	// Kernel returns a new kernel, which computes one iteration of that loop after the other. It holds state.
	Kernel(Fold, Target) Kernel
	// Cost returns resources by named part. The clocks come from Loop.
	Cost(Fold, Target) Cost
	// Emit returns the data of the layer's C++ instance.
	Emit(Fold, Target) KernelInstance
}

// A Fold is a layer's schedule on the device. PE and SIMD are at least 1. Layers that do not use a field require its
// "none" value (PE or SIMD 1, NoMemory, NoMultiplier, NoStepEvaluation).
type Fold struct {
	PE      int            // outputs computed in parallel
	SIMD    int            // inputs of one output consumed in parallel
	Memory  Memory         // the memory of weights or thresholds
	Compute MultiplierKind // whether LUTs or DSP slices multiply
	Steps   StepEvaluation
}

// FoldIterator yields the possible folds of a layer, in a fixed order.
type FoldIterator = iter.Seq[Fold]

// Memory is the memory of a table, an array of a kernel, or a FIFO.
type Memory uint8

// The memory styles, with FINN's ram_style names as String.
const (
	NoMemory        Memory = iota
	MemoryLUTRAM           // distributed
	MemoryBRAM             // block
	MemoryURAM             // ultra
	MemorySRL              // shift registers in LUTs: not for tables
	MemoryRegisters        // flip-flops: for one or two words of a kernel only
)

// String returns FINN's ram_style name of the memory.
func (m Memory) String() string {
	return [...]string{"none", "distributed", "block", "ultra", "srl", "registers"}[m]
}

// MultiplierKind says whether LUTs or DSP slices multiply.
type MultiplierKind uint8

// The compute styles, with FINN's resType names as String.
const (
	NoMultiplier MultiplierKind = iota
	MultiplierInLUTs
	MultiplierInDSPs
	SharedAdders // no multiplier: outputs share the sums of a graph of adders (package adders)
)

func (c MultiplierKind) String() string { return [...]string{"none", "lut", "dsp", "adders"}[c] }

// StepEvaluation is the way in which a layer applies step functions to values, if it has the choice.
type StepEvaluation uint8

// The ways to apply step functions.
const (
	NoStepEvaluation       StepEvaluation = iota
	ParallelStepEvaluation                // one value in every clock
	// one comparator for each of PE, in as many clocks as the search for the code has steps
	SerialStepEvaluation
)

func (s StepEvaluation) String() string { return [...]string{"none", "parallel", "serial"}[s] }

// A Target is the device and clock of a design, what feeds it, the cost formulas that judge it, and the back end that
// makes its hardware.
type Target struct {
	Board       boards.Board
	ClockMHz    float64
	Formula     CostFormulaChoice
	IO          HostIO
	Backend     Backend
	Unroll      UnrollLimits             // the limits of every process
	Calibration *delay.DelayCalibration  // a user's calibration of delays; nil for hlsgen's tables
	Bound       delay.DelayRangeEnd      // which end of the range of latencies to use
	Counters    bool                     // whether circuits have counters of frames, clocks and waits
	Loader      bool                     // whether, in circuits, loaded tables have a mover of their own
	AccPerPE    bool                     // whether accumulators are as wide as each PE's channels need
	MostDSPs    int                      // if not 0: the cost of a circuit with more DSP slices may be these alone
	Outlines    bool                     // whether circuits may have outlines of functions (circuit.KeepOutlines)
	MovesOnly   bool                     // whether Loop may say 0 clocks where the latency would take a circuit
	Functions   *circuit.FunctionLibrary // keeps functions that circuits of several layers call; may be nil
}

// Builds reports whether the back end makes hardware of a fold, on any device.
func (t Target) Builds(f Fold) bool { return f.Compute != SharedAdders || t.Backend.Device.Adders }

// WithinDSPs returns the target for callers of Cost that want to know what else a fold takes only if it takes at most n
// DSP slices.
func (t Target) WithinDSPs(n int) Target {
	t.MostDSPs = n
	return t
}

// ForPrices returns the target for callers of Circuit that want to know a circuit's cost.
func (t Target) ForPrices() Target {
	t.Outlines = true
	return t
}

// ForMovesOnly returns the target for callers of Loop that ask which words an iteration moves, and not for the latency.
func (t Target) ForMovesOnly() Target {
	t.MovesOnly = true
	return t
}

// OperationDelays returns the delays of operations on the device, and the length of a stage at the clock.
func (t Target) OperationDelays() delay.StageDelayModel {
	return delay.NewStageDelayModel(delay.DelayFamily(t.Board.DSPType), t.ClockMHz, t.Calibration, t.Bound)
}

// HasUserCalibration reports whether the delays come from a user's calibration.
func (t Target) HasUserCalibration() bool {
	return t.Calibration.IsForFamily(delay.DelayFamily(t.Board.DSPType))
}

// IOLatencyClocks returns the clocks that the ends of a design add to the latency of a frame. HLS has a process and an
// AXI4-Stream at each end (delay.StageDelayModel.IOLatencyClocks); for RTL it returns 0, because nothing is known yet.
// The ends add nothing to the interval.
func (t Target) IOLatencyClocks() (in, out int) {
	if t.Backend.Ports.Bare {
		return 0, 0
	}
	return t.OperationDelays().IOLatencyClocks()
}

// HostIO says what feeds a design's inputs and takes its outputs.
type HostIO uint8

// The values of HostIO, with the names of --io as String.
const (
	HostIOMemory HostIO = iota // the processor's memory, through the board's port if the board has one
	HostIOStream               // logic inside the FPGA, which gives and takes a word in every clock
)

func (io HostIO) String() string { return [...]string{"memory", "stream"}[io] }

// HostPortBits returns the width in bits of the port to the processor's memory. It is 0 if the board has none, or if
// the design is fed from inside the FPGA.
func (t Target) HostPortBits() int {
	if t.IO == HostIOStream {
		return 0
	}
	return t.Board.HostPortBits
}

// HostClocksPerWord returns the clocks from one word to the next at the host's end of a stream with port p.
func (t Target) HostClocksPerWord(p Port) int {
	bits := t.HostPortBits()
	if bits == 0 {
		return 1
	}
	return (p.TDATABits() + bits - 1) / bits
}

// CostFormulaChoice selects the cost formulas that judge a design.
type CostFormulaChoice uint8

// The formulas, with the names of --cost as String.
const (
	FittedCostFormula CostFormulaChoice = iota // this project's formulas, fitted to synthesis results
	FINNCostFormula                            // FINN's own estimates, for comparison
)

func (f CostFormulaChoice) String() string { return [...]string{"hlsgen", "finn"}[f] }

// A Kernel computes the data of single iterations, in order. Step gets the iteration's number within the frame and one
// word per input port, nil if Loop reads none. It returns one word per output port, nil if Loop writes none. A kernel
// neither changes nor keeps its arguments. Its results are valid until the next Step, and the caller must not change
// them.
type Kernel interface {
	Step(iteration int, in []Word) (out []Word)
}

// A Word holds the elements of one stream word.
type Word []int64

// AccumulatorWidthsByRule holds the width that a layer's accumulator needs by each of the four rules of
// docs/numbers.md. It also holds the width and type that the accumulator has.
type AccumulatorWidthsByRule struct {
	DataType, L1, ZeroCentred, Exact int // in bits; ZeroCentred is 0 if some channel does not sum to zero
	Used                             int
	Type                             num.Type
	Channels                         []int // the exact width per output channel
}

// ChannelSumBounds describes the sum of products of an output channel.
type ChannelSumBounds struct {
	L1, Total int64     // the sums of its weights' magnitudes, and of its weights
	Range     num.Range // the exact range of the sum over all inputs that occur
}

// AsVectors returns t with its trailing axes merged into vectors of n elements, as for a matrix layer after a Flatten.
// ok is false if the product of no trailing axes is n.
func (t StreamType) AsVectors(n int) (v StreamType, ok bool) {
	size, k := 1, len(t.Shape)
	for k > 0 && (size < n || k == len(t.Shape)) {
		k--
		size *= t.Shape[k]
	}
	if size != n || n == 0 {
		return StreamType{}, false
	}
	v = StreamType{Shape: append(append(Shape{}, t.Shape[:k]...), n), Range: t.Range, Elem: t.Elem}
	if len(t.Range) > 1 && n != len(t.Range) {
		v.Range = make([]num.Range, n)
		for i := range v.Range {
			v.Range[i] = t.Range[i%len(t.Range)]
		}
	}
	return v, true
}

// maxSum is the width in bits of the widest sum: 63, because an unsigned type in an int64 has no more.
const maxSum = 63

// TypeOfSums returns the type of sums of n values of one channel each, channel by channel, with t's shape. It returns
// an error if a sum needs more than 63 bits.
func (t StreamType) TypeOfSums(n int) (StreamType, error) {
	s := StreamType{Shape: t.Shape, Range: make([]num.Range, len(t.Range))}
	for c, r := range t.Range {
		var ok bool
		if s.Range[c], ok = r.TimesConstant(int64(n)); !ok {
			return StreamType{}, fmt.Errorf("channel %d: the sum of %d values in %v leaves 64 bits", c, n, r)
		}
	}
	s.Elem = num.NarrowestIntTypeFor(s.UnionOfRanges())
	if s.Elem.Width > maxSum {
		return StreamType{}, fmt.Errorf("a sum needs %d bits for %v, at most %d are possible", s.Elem.Width,
			s.UnionOfRanges(),
			maxSum)
	}
	return s, nil
}
