package simulate

import (
	"io"
	"sync"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/ctc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
	"hlsgen/rtlsim"
)

// Options says which model to run, on which engine, with which samples. If Data is empty, the samples are those that
// the model's source comes with.
type Options struct {
	options.Source
	options.Hardware
	options.Goal
	AccBits     options.AskedAccBits // widths of accumulators that overflow, with Overflow
	Engine      engines.EngineName   // "": chosen by the model; Result.Engine tells
	LengthsFile string               // .npy with the lengths of the samples' sequences; may be empty
	Compare     string               // .npy or .npz to compare with; may be empty
	Decode      ctc.DecodingMethod   // how to decode scores to text; "" means as the model's metadata say
	// how accumulators of AccBits bits overflow, in the model as written; "": they do not
	Overflow     frontend.OverflowMode
	RandomOrders int   // number of random orders of addition to try, with Saturate
	Warm         *Warm // keeps the model for later runs; may be nil
	OutputFileOptions
}

// maxWarm limits the imports that a Warm keeps: one for each engine and shape of the data.
const maxWarm = 8

// A Warm keeps what reading, importing and compiling a model gave, so that later runs begin at once. All runs that
// share it must have the same options, but for data, labels, lengths, engines and files of outputs, and the same model
// in its file. Runs in parallel may share it. Its zero value is ready to use.
type Warm struct {
	mu     sync.Mutex
	source *source.ModelSource
	made   options.Source
	told   []diag.Diag // of reading and quantising
	kept   []*warmImport
}

// A warmImport is a model as imported for an engine and for shapes of data, and its compiled layers.
type warmImport struct {
	key    string
	engine engines.EngineName
	im     *frontend.ImportedModel
	told   []diag.Diag

	compile sync.Once
	program func() *engines.FastPredictor // nil if engine fast leaves the model to eval
	batch   int
}

// OutputFileOptions says which files a simulation writes, and how many elements of its outputs it keeps in memory.
type OutputFileOptions struct {
	Output string    // .npy or .npz, or StandardStreamPath; may be empty
	Stdout io.Writer // receives the output if Output is StandardStreamPath
	// Take returns where the .npy file of an output goes, if Output is empty; may be nil
	Take     func(output string) io.WriterAt
	MaxShown int    // number of elements of each output to keep; 0: all
	Trace    string // folder, or .npz file, for every tensor; may be empty
	Codes    string // .npz file for the integers that leave the layers; may be empty
	VCD      string // file for the waveforms of all streams, .vcd or .fst, with engine cycle; may be empty
	Timeline string // .svg or .json that shows when layers work, with engine cycle; may be empty
}

// traces reports whether files of tensors between the host and the layers are asked for. Only engines that have these
// write them.
func (o OutputFileOptions) traces() bool { return o.Trace != "" || o.Codes != "" }

// A Result holds the outputs and the measurements of a simulation.
type Result struct {
	Source         *source.ModelSource
	Engine         engines.EngineName // the engine that ran
	Samples        int
	Steps          []int // sequence lengths by sample; nil if all have the same length
	Out            []dataflow.RealTensorInfo
	Outputs        []*npy.Array      // by model output: all elements, or the first Options.MaxShown
	Texts          []string          // by sample, for a model whose scores are decoded; else nil
	Decoder        *ctc.Decoder      // the decoder of Texts
	Design         *folding.Design   // of engines cycle and csim
	Trace          *rtlsim.RunTrace  // of engine cycle
	Compare        *OutputComparison // with --compare
	Accuracy       *samples.Accuracy // with labels
	Overflow       *OverflowReport   // with narrower accumulators; then Outputs are the outputs with overflow
	StatedAccuracy *float64          // with labels: the accuracy in the info.json beside the model
	MaxCycles      int               // limit for each layer's clocks per frame if no board was given; else 0
}

// An OutputComparison counts samples by how their outputs compare with those in the file of --compare.
type OutputComparison struct {
	Samples int `json:"samples"`
	// equal in every output code; real values after the last quantiser may be rounded differently
	Equal int `json:"equal"`
	Bits  int `json:"equal_bits"` // of the equal samples, those equal to the last bit of float32
	// float32 provably rounds differently than exact arithmetic, at a rounding boundary
	NearTies int    `json:"near_ties"`
	Differ   int    `json:"differ"`
	First    string `json:"first_difference,omitempty"`
}

// An OverflowReport describes the outputs that too narrow accumulators would give. No hardware of hlsgen computes them.
type OverflowReport struct {
	Overflow frontend.OverflowMode `json:"overflow"`
	Layers   []LayerOverflow       `json:"layers"`
	Changed  int                   `json:"samples_changed"` // samples whose outputs differ from the model's
	Accuracy *samples.Accuracy     `json:"accuracy,omitempty"`
	Orders   []RandomOrderOverflow `json:"orders,omitempty"` // of --acc-order: random orders of addition
}

// A LayerOverflow describes a layer with narrower accumulators.
type LayerOverflow struct {
	Layer     string `json:"layer"`
	Node      string `json:"node"`
	Bits      int    `json:"bits"`
	Exact     int    `json:"exact_bits"` // with this width nothing overflows
	Sums      int    `json:"sums"`
	Overflows int    `json:"sums_that_overflow"`
}

// A RandomOrderOverflow holds the results of a run in which each layer adds its products in a random order of its own.
type RandomOrderOverflow struct {
	Changed  int               `json:"samples_changed"`
	Accuracy *samples.Accuracy `json:"accuracy,omitempty"`
}
