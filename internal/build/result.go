package build

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
)

// Options says which model to build, for which hardware and with which goal.
type Options struct {
	options.Source
	options.Hardware
	options.Goal
	AccBits options.AskedAccBits // the zero value: no audit
	options.Verification
	options.OutputFolder
	// Summary, if not nil, returns what report/build.json has of the build. The folder then has the model, too.
	Summary func(*Result) any
}

// A Result describes a finished build: the data of its reports, and the folder written.
type Result struct {
	report.Build
	Out       string // the folder
	FileCount int
	Kept      []string // paths below Out of files that Options.KeepForeign preserved

	onnx []byte // the model that was built, if the folder has it

	// by layer of the model, the room for loaded weights; nil where weights are constants
	rooms []*dataflow.LoadableWeightLimits
}
