package diag

// A Code is the stable identifier of a kind of diagnostic. docs/diagnostics/<code>.md is its page.
type Code string

// The codes. Each has a row in CodeMeanings, a page under docs/diagnostics and a golden test.
const (
	FileUnreadable             Code = "file-unreadable"
	ModelMalformed             Code = "model-malformed"
	ModelTooLarge              Code = "model-too-large"
	ExternalTensorUnreadable   Code = "external-data"
	OpUnsupported              Code = "op-unsupported"
	OpInvalid                  Code = "op-invalid"
	ShapeUnknown               Code = "shape-unknown"
	QuantiserInvalid           Code = "quant-invalid"
	RoundingUndecided          Code = "rounding-undecided"
	NothingQuantised           Code = "nothing-quantised"
	NodeNotMapped              Code = "not-mapped"
	ProductsOnHost             Code = "products-on-host"
	WeightsNotInteger          Code = "weights-not-integer"
	WeightsRecovered           Code = "weights-recovered"
	ScalePerInputChannel       Code = "scale-per-input-channel"
	PaddingNotMultipleOfScale  Code = "padding-not-integer"
	AccumulatorTooWide         Code = "accumulator-too-wide"
	ActivationRangeTooWide     Code = "range-too-wide"
	BoardUnknown               Code = "board-unknown"
	BoardInvalid               Code = "board-invalid"
	BoardResourcesUnverified   Code = "board-unverified"
	BudgetExceeded             Code = "budget-exceeded"
	FPSUnreachable             Code = "fps-unreachable"
	LatencyUnreachable         Code = "latency-unreachable"
	SearchInterrupted          Code = "search-interrupted"
	LayerTooSlowForClock       Code = "clock-unreachable"
	GivenFIFODepthsSlow        Code = "fifo-slow"
	LargeTableInLUTs           Code = "table-large"
	FoldingFileInvalid         Code = "folding-invalid"
	FoldingFileLayerUnknown    Code = "folding-unknown-layer"
	UnrollLimitExceeded        Code = "unroll-exceeded"
	StreamWordTooWide          Code = "word-too-wide"
	InputDataInvalid           Code = "data-invalid"
	SamplesHeldInMemory        Code = "data-held"
	InputQuantiserAdded        Code = "input-quantised"
	InputFlagsUnfit            Code = "input-unfit"
	InitialStateChangedOrUnfit Code = "initial-state"
	ModelRequantised           Code = "model-quantised"
	ModelCutAtOutputs          Code = "model-cut"
	AskedOutputUnknown         Code = "output-unknown"
	ModelNotQuantisable        Code = "quantise-unfit"
	AskedAccBitsExceeded       Code = "acc-bits-exceeded"
	AccBitsFlagUnfit           Code = "acc-bits-unfit"
	OutputFolderUnusable       Code = "output-exists"
	OutputHasForeignFiles      Code = "output-foreign"
	OutputFolderBusy           Code = "output-busy"
	SweepJournalDamaged        Code = "journal-damaged"
	LSTMGateFormatsMissing     Code = "lstm-cell-formats"
	GRUOrRNNGateFormatsMissing Code = "cell-formats"
	StatefulFlagUnfit          Code = "state-not-kept"
	EngineUnfitForModel        Code = "engine-unfit"
	SamplesNotInterleaved      Code = "not-interleaved"
	SequenceLengthsUnfit       Code = "length-fixed"
	CppCompilerMissing         Code = "compiler-missing"
	VerilatorMissing           Code = "verilator-missing"
	YosysMissing               Code = "yosys-missing"
	NetlistTooLarge            Code = "netlist-too-large"
	BackendUnfitForBoard       Code = "backend-unfit"
	InputBatchFixed            Code = "fixed-batch"
	VendorToolMissing          Code = "tool-missing"
	SynthesisFailed            Code = "synthesis-failed"
	WeightsNotLoadable         Code = "weights-unfit"
	StreamUnknown              Code = "stream-unknown"
	NodeNotConvertible         Code = "not-convertible"
)

// CodeMeanings maps each code to its one-line meaning, which `hlsgen explain` lists.
var CodeMeanings = map[Code]string{
	FileUnreadable:             "a file could not be opened or read",
	ModelMalformed:             "the bytes are not a valid ONNX model",
	ModelTooLarge:              "a size in the model goes beyond what hlsgen accepts",
	ExternalTensorUnreadable:   "a tensor that the model keeps in another file cannot be read",
	OpUnsupported:              "an operator, or a form of it, that hlsgen does not know",
	OpInvalid:                  "a node contradicts its operator's definition",
	ShapeUnknown:               "a shape cannot be derived",
	QuantiserInvalid:           "a quantiser's parameters make no sense",
	RoundingUndecided:          "a rounding could not be decided exactly",
	NothingQuantised:           "the model has no quantised layer to put into hardware",
	NodeNotMapped:              "a node between integer layers that no layer can compute",
	ProductsOnHost:             "products of the model stay on the host",
	WeightsNotInteger:          "a matrix operand is not a constant that quantisation made integer",
	WeightsRecovered:           "weights were taken as integers times a scale, without float32's rounding",
	ScalePerInputChannel:       "the scale of an input varies along the reduced channels",
	PaddingNotMultipleOfScale:  "a value that pads an activation is no multiple of its scale",
	AccumulatorTooWide:         "an accumulator needs more than 63 bits",
	ActivationRangeTooWide:     "an activation has more integer steps than a layer can hold",
	BoardUnknown:               "no board of that name",
	BoardInvalid:               "a board file is not valid",
	BoardResourcesUnverified:   "a board's resources were not compared with a data sheet",
	BudgetExceeded:             "no folding fits the board's budget",
	FPSUnreachable:             "the asked frame rate cannot be reached",
	LatencyUnreachable:         "no design has a latency as short as asked",
	SearchInterrupted:          "the search for the folding was interrupted, and its best design is built",
	LayerTooSlowForClock:       "a layer cannot follow the asked clock",
	LargeTableInLUTs:           "a large table lies in LUTs",
	GivenFIFODepthsSlow:        "depths that a folding file gives FIFOs make the design slower",
	FoldingFileInvalid:         "a folding file asks for something that a layer cannot do",
	FoldingFileLayerUnknown:    "a folding file names a layer that the design does not have",
	UnrollLimitExceeded:        "a process would compute more products than --max-unroll allows",
	StreamWordTooWide:          "a stream word is wider than Vitis HLS accepts",
	InputDataInvalid:           "input data do not fit the model",
	SamplesHeldInMemory:        "all samples are held in memory at once",
	InputQuantiserAdded:        "a quantiser was put in front of an input",
	InputFlagsUnfit:            "the flags for the inputs' integers do not fit the model",
	InitialStateChangedOrUnfit: "an initial state that arrives on an input was changed, or cannot be",
	ModelRequantised:           "the model was given other quantisers, on samples",
	ModelCutAtOutputs:          "the model was cut at the tensors that --outputs names",
	AskedOutputUnknown:         "--outputs names something that is no tensor of the model",
	ModelNotQuantisable:        "the model cannot be given other quantisers",
	AskedAccBitsExceeded:       "an accumulator does not fit the asked width",
	AccBitsFlagUnfit:           "--acc-bits does not fit the model",
	LSTMGateFormatsMissing:     "the gates of an ONNX LSTM have no integer formats of their own",
	GRUOrRNNGateFormatsMissing: "the gates of an ONNX GRU or RNN have no integer formats of their own",
	SequenceLengthsUnfit:       "sequences of different lengths do not fit the model",
	SamplesNotInterleaved:      "samples cannot take turns in the layers of this model",
	EngineUnfitForModel:        "an engine does not run the model",
	StatefulFlagUnfit:          "--stateful does not fit the model",
	OutputFolderUnusable:       "the output folder exists and is not empty, or cannot be written",
	OutputHasForeignFiles:      "the output folder holds what hlsgen did not write",
	OutputFolderBusy:           "another hlsgen is writing to the output folder",
	SweepJournalDamaged:        "a line of a sweep's journal is not as it was written",
	CppCompilerMissing:         "no C++ compiler was found",
	VerilatorMissing:           "Verilator was not found",
	YosysMissing:               "Yosys was not found",
	NetlistTooLarge:            "a design's netlist is too large to be simulated",
	BackendUnfitForBoard:       "the back end makes nothing for the board",
	VendorToolMissing:          "a tool of the vendor's, or a program that calls it, was not found",
	SynthesisFailed:            "a layer, or the whole design, did not come through the vendor's tools",
	InputBatchFixed:            "the first axis of an input is fixed to more than one element",
	WeightsNotLoadable:         "weights cannot be loaded into the hardware",
	StreamUnknown:              "--ila names something that is no stream of the accelerator",
	NodeNotConvertible:         "a dialect of quantisation cannot express a node",
}
