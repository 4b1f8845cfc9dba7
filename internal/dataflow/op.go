// Package dataflow is the integer network between the host's real-valued prefix and suffix: layers (Op) joined by
// streams, and the Design that folds them onto a device. Every value is an int64 and equality is exact.
//
// In come layers that package hlslib's folders make; out come what the engines ask of them. It sees boards,
// circuit,
// delay and num.
//
//   - op.go says what a layer is, kind.go what a kind of layers is
//   - graph.go, verify.go, text.go: the graph, what must hold of it, its text form
//   - computation.go is what a layer computes, as data
//   - run.go computes frames; passage.go and passing.go, part by part; dependence.go is how their parts depend on each
//     other, turns.go is frames of several samples, lengths.go sequences of different lengths, ends.go what tells where
//     they end
//   - design.go is a model with a schedule; fifo.go its FIFOs; probe.go makes samples at thresholds
//   - port.go is words on streams; loop.go is when they move, nest.go and stride.go how layers spell that;
//     recurrence.go is what steps hand on
//   - instance.go, storage.go, steps.go, requant.go: tables, memories and fields for the C++
//   - circuit.go is layers in RTL; room.go, those whose weights are loaded; external.go, or come with every frame;
//     coded.go, streams that carry minifloats
//   - cost.go is resources by part; limits.go, sizes that nothing exceeds; unroll.go, what one process computes at
//     most; stages.go, what may be two
package dataflow

import (
	"fmt"
	"iter"
	"slices"

	"hlsgen/boards"
	"hlsgen/hlslib/delay"
	"hlsgen/internal/num"
)

// Shape is the extent of one frame along each axis, channels last. There is no batch axis: frames follow each other.
type Shape []int

// Size is the number of elements.
func (s Shape) Size() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Channels is the extent of the last axis, 1 for a scalar.
func (s Shape) Channels() int {
	if len(s) == 0 {
		return 1
	}
	return s[len(s)-1]
}

// Vectors is the number of channel vectors in a frame: the size over the channels.
func (s Shape) Vectors() int {
	if s.Channels() == 0 {
		return 0
	}
	return s.Size() / s.Channels()
}

// A Tensor is one frame of integers, row-major.
type Tensor struct {
	Shape Shape
	Data  []int64
}

// A Type is what travels on a stream: the shape of a frame, the values that occur (one Range for all channels or one
// per channel), and the bits that hold them.
type Type struct {
	Shape Shape
	Range []num.Range
	Elem  num.Type
}

// Equal reports whether two types are the same.
func (t Type) Equal(o Type) bool {
	return t.Elem == o.Elem && slices.Equal(t.Shape, o.Shape) && slices.Equal(t.Range, o.Range)
}

// Channel is the range of channel c.
func (t Type) Channel(c int) num.Range {
	if len(t.Range) == 1 {
		return t.Range[0]
	}
	return t.Range[c]
}

// Union is the range of all channels together.
func (t Type) Union() num.Range {
	r := t.Range[0]
	for _, o := range t.Range[1:] {
		r = r.Union(o)
	}
	return r
}

// An Op is one layer: what it means, and how it may be built. Ops are immutable; Bind returns a new one. Only Kind,
// Params and Bind may be called before Bind.
type Op interface {
	Meaning
	Schedule
}

// Meaning knows nothing of parallelism, so a fold cannot change a result.
type Meaning interface {
	// Kind is the layer's name in FINN's terms: MVAU, Thresholding, StreamingDataWidthConverter. Nodes are called
	// Kind_0, Kind_1 ... in topological order.
	Kind() string
	// Params is the exported struct that made the layer: text form, reports. It holds everything but the input types.
	Params() any
	// Bind fixes the input types; it derives the output types and the inner widths. The error says what was found
	// and what was wanted.
	Bind(in []Type) (Op, []Type, error)
	// Eval is the exact reference on whole frames, in the plainest code possible. It does not change its arguments,
	// and may give them again: nobody changes a frame that a layer has been given or has made.
	Eval(in []Tensor) []Tensor
}

// Schedule is what the engines ask of a bound Op.
type Schedule interface {
	// Folds yields every legal fold, in a fixed order. Layers without freedom yield one.
	Folds() Folds
	// Ports gives the words on each stream.
	Ports(Fold) (in, out []Port)
	// Loop says when iterations happen and which words they move.
	Loop(Fold, Target) Loop
	// Kernel says what one iteration of that loop computes. A kernel holds state; each call gives a fresh one.
	Kernel(Fold, Target) Kernel
	// Cost gives resources by named part. Cycles come from Loop.
	Cost(Fold, Target) Cost
	// Emit gives the data of the layer's C++ instance.
	Emit(Fold, Target) Instance
}

// A Fold is a layer's schedule on the device. PE and SIMD are at least 1; layers that do not use a field demand its
// "none" value (PE or SIMD 1, NoMemory, NoCompute, NoStepping).
type Fold struct {
	PE      int     // outputs computed in parallel
	SIMD    int     // inputs of one output consumed in parallel
	Memory  Memory  // where weights (or thresholds) lie
	Compute Compute // what multiplies
	Steps   Stepping
}

// Folds are folds of a layer, in a fixed order.
type Folds = iter.Seq[Fold]

// Memory is where a table, an array of a kernel, or a FIFO lies.
type Memory uint8

// The memory styles, with FINN's ram_style names as String.
const (
	NoMemory  Memory = iota
	LUTRAM           // distributed
	BRAM             // block
	URAM             // ultra
	SRL              // shift registers in LUTs: not for tables
	Registers        // flip-flops: of a word or two of a kernel alone
)

func (m Memory) String() string {
	return [...]string{"none", "distributed", "block", "ultra", "srl", "registers"}[m]
}

// Compute is what multiplies.
type Compute uint8

// The compute styles, with FINN's resType names as String.
const (
	NoCompute Compute = iota
	LUT
	DSP
)

func (c Compute) String() string { return [...]string{"none", "lut", "dsp"}[c] }

// Stepping is how values become codes by step functions, where a layer has the choice.
type Stepping uint8

// The ways.
const (
	NoStepping Stepping = iota
	Parallel            // a value in every clock
	Serial              // by one comparator for each of PE, in as many clocks as the search for the code has steps
)

func (s Stepping) String() string { return [...]string{"none", "parallel", "serial"}[s] }

// A Target is the device and clock a design is made for, how it is fed, the cost formulas it is judged by, and what its
// layers do where there is no room for a word.
type Target struct {
	Board       boards.Board
	ClockMHz    float64
	Formula     Formula
	IO          IO
	Stalls      Stalls
	Unroll      Envelope           // of every process
	Calibration *delay.Calibration // of delays, by a user's reports; nil for hlsgen's tables
	Bound       delay.Bound        // which end of the range of latencies is asked for
	Counters    bool               // of frames, clocks and waits, in circuits
	Loader      bool               // tables that are loaded have a mover of their own, in circuits
	AccPerPE    bool               // accumulators are as wide as each PE's channels need
}

// Delays is how long operations take on the device, and what a stage of the clock holds.
func (t Target) Delays() delay.Clock {
	return delay.At(delay.Family(t.Board.DSPType), t.ClockMHz, t.Calibration, t.Bound)
}

// Calibrated reports whether delays are those of a user's reports.
func (t Target) Calibrated() bool {
	return t.Calibration.Of(delay.Family(t.Board.DSPType))
}

// Ends is the clocks that a design's ends add to the latency of a frame, by the flow that makes hardware of it:
// HLS has a process and an AXI4-Stream at each (delay.Clock.Ends); of RTL nothing is known yet. They add nothing to the
// interval.
func (t Target) Ends() (in, out int) {
	if t.Stalls == Credit {
		return 0, 0
	}
	return t.Delays().Ends()
}

// Stalls is the rule by which a layer waits for room, which depends on the flow that makes hardware of it.
// docs/clock.md defines both.
type Stalls uint8

// The rules.
const (
	Frozen Stalls = iota // HLS: a write that is blocked stops every stage of the pipeline
	Credit               // RTL: an iteration starts once its words have places, and nothing stops it then
)

func (s Stalls) String() string { return [...]string{"frozen", "credit"}[s] }

// IO is what stands at a design's inputs and outputs.
type IO uint8

// The ends, with the names of --io as String.
const (
	FromMemory IO = iota // the processor's memory, through the board's port, where the board has one
	FromStream           // logic inside the FPGA, which gives and takes a word in every clock
)

func (io IO) String() string { return [...]string{"memory", "stream"}[io] }

// PortBits is the width of the port to the processor's memory; 0 where the design is fed from inside the FPGA, as it is
// on boards without such a port.
func (t Target) PortBits() int {
	if t.IO == FromStream {
		return 0
	}
	return t.Board.HostPortBits
}

// HostEvery is the clocks from one such word to the next at the host's end of a stream: those that it takes through the
// port.
func (t Target) HostEvery(p Port) int {
	bits := t.PortBits()
	if bits == 0 {
		return 1
	}
	return (p.TDATA() + bits - 1) / bits
}

// Formula is which cost formulas judge a design.
type Formula uint8

// The formulas, with the names of --cost as String.
const (
	Fitted Formula = iota // this project's, fitted on synthesis
	FINN                  // FINN's own estimates, for comparison
)

func (f Formula) String() string { return [...]string{"hlsgen", "finn"}[f] }

// A Kernel computes the data of single iterations, in order. Step is given the iteration's number within the frame
// and one word per input port (nil where Loop reads none); it returns one word per output port (nil where Loop writes
// none). A kernel neither changes nor keeps what it is given. What it returns is good until its next Step, and not the
// caller's to change.
type Kernel interface {
	Step(iteration int, in []Word) (out []Word)
}

// A Word is the elements of one stream word.
type Word []int64

// A Bound is a line of the accumulator report: the widths that the four rules of docs/numbers.md give for one layer.
type Bound struct {
	DataType, L1, ZeroCentred, Exact int // bits; ZeroCentred is 0 where a channel does not sum to zero
	Used                             int
	Type                             num.Type
	Channels                         []int // exact width per output channel
}

// Accumulating is implemented by layers with accumulators.
type Accumulating interface{ Accumulator() Bound }

// Weighted is implemented by layers each of whose output channels adds up products with weights of its own.
type Weighted interface {
	Accumulating
	ChannelSums() []ChannelSum // by output channel
}

// Laned is implemented by layers whose PE may have accumulators of widths of their own.
type Laned interface {
	Accumulating
	Lanes(Fold, Target) []num.Type // by PE; nil where all have the one of Accumulator
}

// A ChannelSum is the sums of products of an output channel.
type ChannelSum struct {
	L1, Total int64     // of its weights: of their magnitudes, and of themselves
	Range     num.Range // of the sums; exact, over all inputs that occur
}

// Vectors views t as vectors of n elements: its trailing axes are read as one where their product is n, as a matrix
// layer behind a Flatten does. ok is false where no trailing axes make n.
func (t Type) Vectors(n int) (v Type, ok bool) {
	size, k := 1, len(t.Shape)
	for k > 0 && (size < n || k == len(t.Shape)) {
		k--
		size *= t.Shape[k]
	}
	if size != n || n == 0 {
		return Type{}, false
	}
	v = Type{Shape: append(append(Shape{}, t.Shape[:k]...), n), Range: t.Range, Elem: t.Elem}
	if len(t.Range) > 1 && n != len(t.Range) {
		v.Range = make([]num.Range, n)
		for i := range v.Range {
			v.Range[i] = t.Range[i%len(t.Range)]
		}
	}
	return v, true
}

// maxSum is the widest sum in bits: one less than an int64, of which an unsigned type has no more.
const maxSum = 63

// Sums is the type of sums of n values of one channel each, channel by channel; the shape is t's. The error says how
// they leave 63 bits.
func (t Type) Sums(n int) (Type, error) {
	s := Type{Shape: t.Shape, Range: make([]num.Range, len(t.Range))}
	for c, r := range t.Range {
		var ok bool
		if s.Range[c], ok = r.Times(int64(n)); !ok {
			return Type{}, fmt.Errorf("channel %d: the sum of %d values in %v leaves 64 bits", c, n, r)
		}
	}
	s.Elem = num.Smallest(s.Union())
	if s.Elem.Width > maxSum {
		return Type{}, fmt.Errorf("a sum needs %d bits for %v, at most %d are possible", s.Elem.Width, s.Union(),
			maxSum)
	}
	return s, nil
}

// Counting is implemented by layers that multiply or hold parameters: operations and parameters of one frame by FINN's
// names, op_mac_INT2_INT4 and param_weight_INT4.
type Counting interface{ Counts() map[string]int64 }

// Multiplying is implemented by layers that multiply, by LUTs or by DSP slices as their folds say. FactorBits is the
// bits of the narrower factor.
type Multiplying interface{ FactorBits() int }

// Timed is implemented by layers that bound the clock. Delay is the estimated time in ns of what the layer carries from
// one clock to the next, which no pipeline stage can shorten.
type Timed interface{ Delay(Fold, Target) float64 }

// Carrying is implemented by layers whose kernels, as synthesis from C++ has them, hand a state on from clock to clock.
// Carries is the longest path from it to the next one, control included.
type Carrying interface{ Carries(Fold, Target) Path }

// A Path is operations that have to be done within a clock.
type Path struct {
	NS    float64
	Steps string // with what each takes
}
