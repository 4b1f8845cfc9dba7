package dataflow

// A Backend holds what layers, folding and simulators read of a way to make hardware. It is the first half of a row of
// the table of back ends: package templates has the second half, what the folders of builds need, and package backend
// has the table. The zero value stands for a back end like BackendHLS.
type Backend struct {
	Name   string // the word for --backend
	Stalls StallRule
	Rate   RateSource
	Device BackendFeatures
	Ports  EndPorts
}

// RateSource says where latency and cost of a layer come from.
type RateSource uint8

// The sources of latencies and costs.
const (
	RateFromOperations RateSource = iota // a chain of operations, with the delays of a synthesis tool
	RateFromCircuit                      // the layer's circuit (HasCircuit), which the back end spells
)

// BackendFeatures says what a back end can build on a device.
type BackendFeatures struct {
	// the most bits that one process adds in a clock; 0 if only UnrollLimits limit a process
	MaxAddedBits int
	Counters     bool // counters of frames, clocks and waits
	Loads        bool // tables that are written at run time
	Adders       bool // the multiplier kind SharedAdders
}

// EndPorts describes the ends of a design, where words come from the host and go to it.
type EndPorts struct {
	Bare       bool // no process and no register slice stand there, so they add no clocks to the latency
	ExtraWords int  // the words that a FIFO which the host writes holds beyond its depth
}

// BackendHLS is C++ for Vitis HLS.
var BackendHLS = Backend{Name: "hls"}

// BackendRTL is SystemVerilog. A FIFO that the host writes holds one more word, because the word arrives a clock after
// the host saw that there is room. The clocks of its ends are not known yet.
var BackendRTL = Backend{
	Name:   "rtl",
	Stalls: StallByCredit,
	Rate:   RateFromCircuit,
	Device: BackendFeatures{MaxAddedBits: MaxAddedBitsPerProcess, Counters: true, Loads: true, Adders: true},
	Ports:  EndPorts{Bare: true, ExtraWords: 1},
}

// StallRule is the rule by which a layer waits for room. It depends on the flow that makes the hardware. docs/clock.md
// defines both rules.
type StallRule uint8

// The two rules by which layers wait.
const (
	StallFreezesPipeline StallRule = iota // HLS: a blocked write stops every stage of the pipeline
	// RTL: an iteration starts once its words have places in the FIFOs, and then nothing stops it
	StallByCredit
)

func (s StallRule) String() string { return [...]string{"frozen", "credit"}[s] }

// PlaceClocks returns the clocks for which a word at least has its place in a FIFO behind a pipeline of the given
// latency. A pipeline that freezes takes the place one clock before the word can be read. A pipeline with credits takes
// it when the iteration starts, so FIFOs also hold the words that are on their way.
func (s StallRule) PlaceClocks(latency int) int {
	if s == StallByCredit {
		return latency + 1
	}
	return 2
}

// TakesPlacesEarly reports whether a word takes its place in a FIFO when its iteration starts.
func (s StallRule) TakesPlacesEarly() bool { return s == StallByCredit }

// MaxAddedBitsPerProcess is the most bits that one process of SystemVerilog adds in a clock. Its text is modules of
// about a sixteenth of that (package rtl), for each of which Yosys takes less than 2 GiB and five minutes.
const MaxAddedBitsPerProcess = 1 << 17
