package build

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
)

// Options says what to build: of which model, for which hardware, with which goal.
type Options struct {
	options.Source
	options.Hardware
	options.Goal
	AccBits options.AccBits // the zero value: no audit
	options.Verification
	options.OutputFolder
}

// A Result describes a finished build: what its reports tell, and the folder written.
type Result struct {
	report.Build
	Out       string // the folder
	FileCount int
	Kept      []string // paths below Out of files that Options.KeepForeign preserved

	rooms []*dataflow.WeightRoom // by layer of the model, the room for loaded weights; nil where weights are constants
}
