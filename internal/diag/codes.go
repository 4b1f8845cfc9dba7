package diag

// A Code is the stable identifier of a kind of diagnostic. docs/diagnostics/<code>.md is its page.
type Code string

// The codes. Each has a row in Codes, a page under docs/diagnostics and a golden test.
const (
	FileUnreadable     Code = "file-unreadable"
	ModelMalformed     Code = "model-malformed"
	ModelTooLarge      Code = "model-too-large"
	ExternalData       Code = "external-data"
	OpUnsupported      Code = "op-unsupported"
	OpInvalid          Code = "op-invalid"
	ShapeUnknown       Code = "shape-unknown"
	QuantInvalid       Code = "quant-invalid"
	RoundingUndecided  Code = "rounding-undecided"
	NothingQuantised   Code = "nothing-quantised"
	NotMapped          Code = "not-mapped"
	HostProducts       Code = "products-on-host"
	WeightsNotInteger  Code = "weights-not-integer"
	WeightsRecovered   Code = "weights-recovered"
	ScalePerInput      Code = "scale-per-input-channel"
	PaddingNotInteger  Code = "padding-not-integer"
	AccumulatorWide    Code = "accumulator-too-wide"
	RangeTooWide       Code = "range-too-wide"
	BoardUnknown       Code = "board-unknown"
	BoardInvalid       Code = "board-invalid"
	BoardUnverified    Code = "board-unverified"
	BudgetExceeded     Code = "budget-exceeded"
	FPSUnreachable     Code = "fps-unreachable"
	SearchInterrupted  Code = "search-interrupted"
	ClockUnreachable   Code = "clock-unreachable"
	FIFOSlow           Code = "fifo-slow"
	TableLarge         Code = "table-large"
	FoldingInvalid     Code = "folding-invalid"
	FoldingUnknown     Code = "folding-unknown-layer"
	UnrollExceeded     Code = "unroll-exceeded"
	WordTooWide        Code = "word-too-wide"
	DataInvalid        Code = "data-invalid"
	DataHeldInMemory   Code = "data-held"
	InputQuantised     Code = "input-quantised"
	InputUnfit         Code = "input-unfit"
	InitialStateChange Code = "initial-state"
	ModelQuantised     Code = "model-quantised"
	ModelCut           Code = "model-cut"
	OutputUnknown      Code = "output-unknown"
	QuantiseUnfit      Code = "quantise-unfit"
	AccBitsExceeded    Code = "acc-bits-exceeded"
	AccBitsUnfit       Code = "acc-bits-unfit"
	OutputExists       Code = "output-exists"
	OutputForeign      Code = "output-foreign"
	OutputBusy         Code = "output-busy"
	JournalDamaged     Code = "journal-damaged"
	LSTMFormatsMissing Code = "lstm-cell-formats"
	CellFormatsMissing Code = "cell-formats"
	StateNotKept       Code = "state-not-kept"
	EngineUnfit        Code = "engine-unfit"
	NotInterleaved     Code = "not-interleaved"
	LengthFixed        Code = "length-fixed"
	CompilerMissing    Code = "compiler-missing"
	VerilatorMissing   Code = "verilator-missing"
	YosysMissing       Code = "yosys-missing"
	NetlistTooLarge    Code = "netlist-too-large"
	BackendUnfit       Code = "backend-unfit"
	FixedBatch         Code = "fixed-batch"
	ToolMissing        Code = "tool-missing"
	SynthesisFailed    Code = "synthesis-failed"
	WeightsUnfit       Code = "weights-unfit"
	NotConvertible     Code = "not-convertible"
)

// Codes maps each code to its one-line meaning, which `hlsgen explain` lists.
var Codes = map[Code]string{
	FileUnreadable:     "a file could not be opened or read",
	ModelMalformed:     "the bytes are not a valid ONNX model",
	ModelTooLarge:      "a size in the model goes beyond what hlsgen accepts",
	ExternalData:       "a tensor that the model keeps in another file cannot be read",
	OpUnsupported:      "an operator, or a form of it, that hlsgen does not know",
	OpInvalid:          "a node contradicts its operator's definition",
	ShapeUnknown:       "a shape cannot be derived",
	QuantInvalid:       "a quantiser's parameters make no sense",
	RoundingUndecided:  "a rounding could not be decided exactly",
	NothingQuantised:   "the model has no quantised layer to put into hardware",
	NotMapped:          "a node between integer layers that no layer can compute",
	HostProducts:       "products of the model stay on the host",
	WeightsNotInteger:  "a matrix operand is not a constant that quantisation made integer",
	WeightsRecovered:   "weights were taken as integers times a scale, without float32's rounding",
	ScalePerInput:      "the scale of an input varies along the reduced channels",
	PaddingNotInteger:  "a value that pads an activation is no multiple of its scale",
	AccumulatorWide:    "an accumulator needs more than 63 bits",
	RangeTooWide:       "an activation has more integer steps than a layer can hold",
	BoardUnknown:       "no board of that name",
	BoardInvalid:       "a board file is not valid",
	BoardUnverified:    "a board's resources were not compared with a data sheet",
	BudgetExceeded:     "no folding fits the board's budget",
	FPSUnreachable:     "the asked frame rate cannot be reached",
	SearchInterrupted:  "the search for the folding was interrupted, and its best design is built",
	ClockUnreachable:   "a layer cannot follow the asked clock",
	TableLarge:         "a large table lies in LUTs",
	FIFOSlow:           "depths that a folding file gives FIFOs make the design slower",
	FoldingInvalid:     "a folding file asks for something that a layer cannot do",
	FoldingUnknown:     "a folding file names a layer that the design does not have",
	UnrollExceeded:     "a process would compute more products than --max-unroll allows",
	WordTooWide:        "a stream word is wider than Vitis HLS accepts",
	DataInvalid:        "input data do not fit the model",
	DataHeldInMemory:   "all samples are held in memory at once",
	InputQuantised:     "a quantiser was put in front of an input",
	InputUnfit:         "the flags for the inputs' integers do not fit the model",
	InitialStateChange: "an initial state that arrives on an input was changed, or cannot be",
	ModelQuantised:     "the model was given other quantisers, on samples",
	ModelCut:           "the model was cut at the tensors that --outputs names",
	OutputUnknown:      "--outputs names something that is no tensor of the model",
	QuantiseUnfit:      "the model cannot be given other quantisers",
	AccBitsExceeded:    "an accumulator does not fit the asked width",
	AccBitsUnfit:       "--acc-bits does not fit the model",
	LSTMFormatsMissing: "the gates of an ONNX LSTM have no integer formats of their own",
	CellFormatsMissing: "the gates of an ONNX GRU or RNN have no integer formats of their own",
	LengthFixed:        "sequences of different lengths do not fit the model",
	NotInterleaved:     "samples cannot take turns in the layers of this model",
	EngineUnfit:        "an engine does not run the model",
	StateNotKept:       "--stateful does not fit the model",
	OutputExists:       "the output folder exists and is not empty, or cannot be written",
	OutputForeign:      "the output folder holds what hlsgen did not write",
	OutputBusy:         "another hlsgen is writing to the output folder",
	JournalDamaged:     "a line of a sweep's journal is not as it was written",
	CompilerMissing:    "no C++ compiler was found",
	VerilatorMissing:   "Verilator was not found",
	YosysMissing:       "Yosys was not found",
	NetlistTooLarge:    "a design's netlist is too large to be simulated",
	BackendUnfit:       "the back end makes nothing for the board",
	ToolMissing:        "a tool of the vendor's, or a program that calls it, was not found",
	SynthesisFailed:    "a layer, or the whole design, did not come through the vendor's tools",
	FixedBatch:         "the first axis of an input is fixed to more than one element",
	WeightsUnfit:       "weights cannot be loaded into the hardware",
	NotConvertible:     "a dialect of quantisation cannot express a node",
}
