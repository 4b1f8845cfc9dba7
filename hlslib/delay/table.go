package delay

// A SourceGrade is the kind of an entry's source.
type SourceGrade int

// The grades.
const (
	Guess SourceGrade = iota
	DataSheet
	Measured
)

func (g SourceGrade) String() string { return [...]string{"guess", "data sheet", "measured"}[g] }

// A DelayEntry is the time of an operation on the given bits.
type DelayEntry struct {
	Op     DelayOp
	Bits   int
	NS     float64
	Grade  SourceGrade
	Source string
}

// A UnitEntry holds the clocks between a unit's inputs and outputs, and the ns that it takes of the first and the last
// stage.
type UnitEntry struct {
	Unit    RegisteredUnit
	Clocks  int
	In, Out float64
	Grade   SourceGrade
	Source  string
}

// The sources. Schedule reports give the delay of every operation (*.verbose.sched.rpt).
const (
	yolo  = "github.com/windy07/PDS_YOLO: FINN's MVAU_hls_6, Vitis HLS 2022.2, xc7z020-1, 10 ns"
	width = "github.com/windy07/PDS_YOLO: FINN's width converter 0, Vitis HLS 2022.2, xc7z020-1, 10 ns"
	lenet = "github.com/CNStanLee/EF-US-Engine...: FINN's MVAU_hls_0, Vitis HLS 2022.2, xczu7ev-2, 10 ns"
	none  = "no report at hand"
	slice = "UG1399, Registered AXI4-Stream Interfaces, and regslice_both, which Vitis HLS 2022.1 writes for it: " +
		"github.com/Xilinx/Vitis-Tutorials, polar_clip"
)

// Entries returns a family's entries, by operation and increasing width.
func Entries(f DelayFamily) []DelayEntry {
	switch f {
	case Series7:
		return series7
	case Versal:
		return guessed(ultraScale)
	}
	return ultraScale
}

// guessed returns the entries of another family as guesses, until somebody measures this one.
func guessed(list []DelayEntry) (out []DelayEntry) {
	for _, e := range list {
		e.Grade, e.Source = Guess, "as UltraScale+"
		out = append(out, e)
	}
	return out
}

var series7 = []DelayEntry{
	{OpRead, 1, 3.63, Measured, width},
	{OpWrite, 1, 3.63, Measured, width + ", the same core"},
	{OpAdd, 2, 1.56, Measured, yolo},
	{OpAdd, 14, 1.67, Measured, yolo},
	{OpAdd, 17, 2.10, Measured, width},
	{OpAdd, 18, 2.13, Measured, yolo},
	{OpAdd, 32, 2.55, Measured, yolo},
	{OpAdd, 64, 3.5, Guess, none},
	{OpCompare, 17, 2.43, Measured, yolo},
	{OpCompare, 32, 2.47, Measured, yolo},
	{OpSelect, 17, 0.78, Measured, yolo},
	{OpKeep, 1, 1.58, Measured, yolo},
	{OpGate, 1, 0.97, Measured, yolo},
	{OpMultiply, 2, 0.97, Guess, "a gate"},
	{OpMultiply, 11, 4.17, Measured, yolo + ", 8 by 3 bits"},
	{OpMultiply, 64, 8.5, Guess, none},
}

var ultraScale = []DelayEntry{
	{OpRead, 1, 1.8, Guess, none},
	{OpWrite, 1, 1.8, Guess, none},
	{OpAdd, 2, 0.7, Guess, "the entries beside it, straight on"},
	{OpAdd, 13, 0.82, Measured, lenet},
	{OpAdd, 32, 1.01, Measured, lenet},
	{OpAdd, 64, 1.4, Guess, none},
	{OpCompare, 13, 1.00, Measured, lenet},
	{OpCompare, 17, 1.09, Measured, lenet},
	{OpSelect, 32, 0.44, Measured, lenet},
	{OpKeep, 1, 0.42, Measured, lenet},
	{OpGate, 1, 0.28, Guess, none},
	{OpMultiply, 2, 0.28, Guess, "a gate"},
	{OpMultiply, 16, 1.65, Measured, lenet + ", 8 by 8 bits"},
	{OpMultiply, 64, 3.5, Guess, none},
}

// UnitEntries returns a family's units.
func UnitEntries(f DelayFamily) []UnitEntry {
	switch f {
	case Series7:
		return []UnitEntry{
			{DSP, 3, 1.05, 2.15, Measured, yolo},
			{LUTMemory, 1, 2.32, 2.32, Measured, yolo},
			{BlockMemory, 1, 3.25, 3.25, Guess, none},
			{UltraMemory, 2, 3.25, 3.25, Guess, "there is none in this family"},
			{RegisterSlice, 1, 0, 0, DataSheet, slice},
		}
	case Versal:
		list := UnitEntries(UltraScale)
		for i := range list {
			list[i].Grade, list[i].Source = Guess, "as UltraScale+"
		}
		return list
	}
	return []UnitEntry{
		{DSP, 3, 0.99, 0.53, Measured, lenet},
		{LUTMemory, 1, 0.67, 0.67, Measured, lenet},
		{BlockMemory, 1, 1.2, 1.2, Guess, none},
		{UltraMemory, 2, 1.3, 1.3, Guess, none},
		{RegisterSlice, 1, 0, 0, DataSheet, slice},
	}
}
