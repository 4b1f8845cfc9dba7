// Package options holds the options that several commands share, in parts: a command embeds the parts that it needs.
// Methods convert a part to the types of other packages, and read the files that it names.
//
//	backend.go       Backend: C++, SystemVerilog, or another row of the table of back ends
//	weightsource.go  WeightSource: where hardware gets its weights
//	accbits.go       AskedAccBits: the accumulator widths that the user asks for
//	options.go       the parts
//	hardware.go      Hardware: the board, the calibration of delays, the target of the search
//	goal.go          Goal: folding files, the goal of the search
//	imports.go       Source: the options of the front end
//	flags.go         Source: its flags, with their values
package options

import (
	"time"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/samples"
)

// Source says which model a command reads, and how.
type Source struct {
	Model string // path; empty means the embedded example
	ModelInputs
	Quantisation
	SampleFiles
	Dump   string // folder for the graph after each pass; may be empty
	Passes int    // run only this number of passes; 0: all

	Progress func(stage string, done, total int) // receives the progress of a stage; may be nil
}

// ModelInputs describes the axes, inputs, states and outputs of a model beyond what its file says.
type ModelInputs struct {
	Dims       map[string]int                    // --dim: sizes of axes by name
	Shapes     frontend.GivenInputShapes         // --shape
	Lengths    *frontend.AxisLengthRange         // range of sequence lengths; nil: one length
	InputType  *frontend.IntegerInputType        // --input-type
	InputQuant *frontend.AddedInputQuantiser     // --input-quant
	Initial    frontend.InitialStateModesByInput // --initial-state
	Outputs    []string                          // --outputs; nil: the model's own
	LSTM       string                            // path of --lstm-config; may be empty
	Cells      string                            // path of --cell-config; may be empty
	States     []frontend.StateFeedback          // --state
	Stateful   bool                              // samples are pieces of one stream
	Interleave int                               // samples that recurrences interleave (--interleave); 0 or 1: none
}

// Quantisation says how a model in real numbers is quantised before anything else is done with it.
type Quantisation struct {
	Calibrate   string                       // file of samples; empty: the model is not quantised
	Recipe      *frontend.QuantisationRecipe // bit widths; nil: DefaultQuantisationRecipe
	Scales      quantise.ScaleRule           // rule for choosing scales; "" is the default
	Equalise    bool                         // give channels their own scales where that costs nothing
	Lookup      quantise.LookupPlace         // where rows of tables are looked up; empty: products on the device alone
	CorrectBias bool                         // correct biases for the mean error of rounded weights
	// for recipes that search bit widths: the share of samples that must keep the float model's class
	KeepShare float64
	SaveModel string // where to write the quantised model; may be empty
}

// SampleFiles names the files of a model's samples and labels.
type SampleFiles struct {
	Data       string              // samples, .npy or .npz, or StandardStreamPath; may be empty
	LabelsFile string              // .npy with a class per sample; may be empty
	Stdin      *samples.StdinArray // standard input, for StandardStreamPath; may be nil
}

// Hardware describes the device of a design, its clock, and what its circuits are made of.
type Hardware struct {
	Board     string // name or path of a board file
	ClockMHz  float64
	Latencies string // path of a file that hlsgen latencies wrote; empty: the built-in delay tables
	IO        dataflow.HostIO
	Backend   Backend
	Counters  bool                  // --counters: the RTL counts frames, clocks and waits
	ILA       []string              // --ila: streams that a logic analyser watches
	SAIF      bool                  // --saif: write the switching activity of the simulation
	Weights   WeightSource          // --weights: constants, or loaded at run time
	MaxUnroll dataflow.UnrollLimits // --max-unroll: the largest size of one process
	Formula   dataflow.CostFormulaChoice
	AccPerPE  bool // make accumulators only as wide as the channels of each PE need
}

// Goal says what the folding search looks for, how far it goes, and what it must keep.
type Goal struct {
	FPS         float64
	Interval    float64 // clocks per frame to reach; 0: not asked
	MaxUse      folding.MaxUseFractions
	OverBudget  bool                    // accept a design over the budget if none is within it
	Folding     string                  // path of a folding file
	FoldingFile *folding.FoldingFile    // content of a folding file, instead of a path; may be nil
	Latency     bool                    // minimise the latency at the asked rate, or at any rate if none is asked
	MaxLatency  int                     // clocks of latency to keep; 0: not asked
	Least       folding.ResourceMeasure // the resource that the search minimises
	SearchTime  time.Duration           // time limit; 0: an effort that is the same on every machine
	FIFO        folding.FIFODepthPolicy
	// FIFO was given as a flag, and overrides the FIFOs of a folding file
	FIFOAsked      bool
	SearchProgress func(folding.BestDesignSoFarSummary) // receives the progress of the search; may be nil
	// ends the search early; the best design found so far is built; may be nil
	Interrupt *folding.SearchStopper
}

// Verification says how a build compares its engines.
type Verification struct {
	Verify int // number of samples to compare; AutoSelectSamples: chosen by size
	NoCSim bool
}

// OutputFolder describes the folder that a command writes.
type OutputFolder struct {
	Out         string // path; empty means the default name
	Force       bool   // replace the folder if hlsgen wrote all that is in it
	KeepForeign bool   // with Force: keep files that hlsgen did not write, or that were changed since
	Version     string // of hlsgen, for the manifest
}

// ReportProgress calls o.Progress, unless it is nil. total is 0 if the amount of work is unknown.
func (o Source) ReportProgress(stage string, done, total int) {
	if o.Progress != nil {
		o.Progress(stage, done, total)
	}
}

// ReplacePolicy returns the rule by which --force replaces an existing folder.
func (o OutputFolder) ReplacePolicy() outputdir.ReplacePolicy {
	switch {
	case o.KeepForeign:
		return outputdir.ReplaceKeepingForeign
	case o.Force:
		return outputdir.ReplaceOurs
	}
	return outputdir.ReplaceNothing
}
