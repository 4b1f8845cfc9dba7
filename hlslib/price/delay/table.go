package delay

// A SourceReliability says how reliable the source of an entry is: a guess, a data sheet, or a measurement.
type SourceReliability int

// The kinds of sources, the least reliable first.
const (
	gradeGuess SourceReliability = iota
	gradeDataSheet
	gradeMeasured
)

func (g SourceReliability) String() string { return [...]string{"guess", "data sheet", "measured"}[g] }

// An OpDelay is the delay in ns of an operation on the given bits, with its source.
type OpDelay struct {
	Op     PipelineOp
	Bits   int
	NS     float64
	Grade  SourceReliability
	Source string
}

// A UnitTiming holds the clocks from a unit's inputs to its outputs, and the ns that it takes of its first and last
// stage. It also says where these numbers come from.
type UnitTiming struct {
	Unit    RegisteredUnit
	Clocks  int
	In, Out float64
	Grade   SourceReliability
	Source  string
}

// The sources of entries. Schedule reports (*.verbose.sched.rpt) give the delay of every operation.
const (
	yolo  = "github.com/windy07/PDS_YOLO: FINN's MVAU_hls_6, Vitis HLS 2022.2, xc7z020-1, 10 ns"
	width = "github.com/windy07/PDS_YOLO: FINN's width converter 0, Vitis HLS 2022.2, xc7z020-1, 10 ns"
	lenet = "github.com/CNStanLee/EF-US-Engine...: FINN's MVAU_hls_0, Vitis HLS 2022.2, xczu7ev-2, 10 ns"
	none  = "no report at hand"
	slice = "UG1399, Registered AXI4-Stream Interfaces, and regslice_both, which Vitis HLS 2022.1 writes for it: " +
		"github.com/Xilinx/Vitis-Tutorials, polar_clip"
)

// OpDelaysOf returns the delays of a family's operations, by operation and increasing bits. An unknown family has those
// of UltraScale+; Versal has the same, graded as guesses. The caller must not change the result.
func OpDelaysOf(f DelayFamily) []OpDelay {
	switch f {
	case FamilySeries7:
		return series7
	case FamilyVersal:
		return guessed(ultraScale)
	}
	return ultraScale
}

// guessed returns copies of the entries of another family, graded as guesses: they stand in until somebody measures
// this family.
func guessed(list []OpDelay) (out []OpDelay) {
	for _, e := range list {
		e.Grade, e.Source = gradeGuess, "as UltraScale+"
		out = append(out, e)
	}
	return out
}

var series7 = []OpDelay{
	{OpStreamRead, 1, 3.63, gradeMeasured, width},
	{OpStreamWrite, 1, 3.63, gradeMeasured, width + ", the same core"},
	{OpAdd, 2, 1.56, gradeMeasured, yolo},
	{OpAdd, 14, 1.67, gradeMeasured, yolo},
	{OpAdd, 17, 2.10, gradeMeasured, width},
	{OpAdd, 18, 2.13, gradeMeasured, yolo},
	{OpAdd, 32, 2.55, gradeMeasured, yolo},
	{OpAdd, 64, 3.5, gradeGuess, none},
	{OpCompare, 17, 2.43, gradeMeasured, yolo},
	{OpCompare, 32, 2.47, gradeMeasured, yolo},
	{OpSelect, 17, 0.78, gradeMeasured, yolo},
	{OpHoldMux, 1, 1.58, gradeMeasured, yolo},
	{OpLogicGate, 1, 0.97, gradeMeasured, yolo},
	{OpMultiplyInLUTs, 2, 0.97, gradeGuess, "a gate"},
	{OpMultiplyInLUTs, 11, 4.17, gradeMeasured, yolo + ", 8 by 3 bits"},
	{OpMultiplyInLUTs, 64, 8.5, gradeGuess, none},
}

var ultraScale = []OpDelay{
	{OpStreamRead, 1, 1.8, gradeGuess, none},
	{OpStreamWrite, 1, 1.8, gradeGuess, none},
	{OpAdd, 2, 0.7, gradeGuess, "the entries beside it, straight on"},
	{OpAdd, 13, 0.82, gradeMeasured, lenet},
	{OpAdd, 32, 1.01, gradeMeasured, lenet},
	{OpAdd, 64, 1.4, gradeGuess, none},
	{OpCompare, 13, 1.00, gradeMeasured, lenet},
	{OpCompare, 17, 1.09, gradeMeasured, lenet},
	{OpSelect, 32, 0.44, gradeMeasured, lenet},
	{OpHoldMux, 1, 0.42, gradeMeasured, lenet},
	{OpLogicGate, 1, 0.28, gradeGuess, none},
	{OpMultiplyInLUTs, 2, 0.28, gradeGuess, "a gate"},
	{OpMultiplyInLUTs, 16, 1.65, gradeMeasured, lenet + ", 8 by 8 bits"},
	{OpMultiplyInLUTs, 64, 3.5, gradeGuess, none},
}

// UnitTimingsOf returns the delays of a family's units. An unknown family has those of UltraScale+; Versal has the
// same, graded as guesses.
func UnitTimingsOf(f DelayFamily) []UnitTiming {
	switch f {
	case FamilySeries7:
		return []UnitTiming{
			{UnitDSP, 3, 1.05, 2.15, gradeMeasured, yolo},
			{UnitLUTMemory, 1, 2.32, 2.32, gradeMeasured, yolo},
			{UnitBlockRAM, 1, 3.25, 3.25, gradeGuess, none},
			{UnitUltraRAM, 2, 3.25, 3.25, gradeGuess, "there is none in this family"},
			{UnitRegisterSlice, 1, 0, 0, gradeDataSheet, slice},
		}
	case FamilyVersal:
		list := UnitTimingsOf(FamilyUltraScale)
		for i := range list {
			list[i].Grade, list[i].Source = gradeGuess, "as UltraScale+"
		}
		return list
	}
	return []UnitTiming{
		{UnitDSP, 3, 0.99, 0.53, gradeMeasured, lenet},
		{UnitLUTMemory, 1, 0.67, 0.67, gradeMeasured, lenet},
		{UnitBlockRAM, 1, 1.2, 1.2, gradeGuess, none},
		{UnitUltraRAM, 2, 1.3, 1.3, gradeGuess, none},
		{UnitRegisterSlice, 1, 0, 0, gradeDataSheet, slice},
	}
}
