// Package report makes the reports of a build: JSON, the page for a browser, and the README of its folder.
//
//	head.go         the version of all JSON, and numbers in it
//	build.go        Build holds the data of all reports
//	layers.go       layers, and FINN's estimates
//	estimate.go     resources
//	certificate.go  the proofs about the design
//	sequences.go    sequences of different lengths
//	cycles.go       the simulation: interval, latency, FIFOs, the host's port
//	loadtime.go     the time to load weights
//	board.go        from the design to the board: its clock, the steps to a bitstream
//	whatif.go       the folds that layers could have instead
//	timeline.go     what layers did over time
//	page.go         the data of the page
//	readme.go       the README
package report

import (
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
	"hlsgen/internal/verify"
	"hlsgen/templates/vivado"
)

// A Build holds the data of a build from which its reports are made.
type Build struct {
	Source   *source.ModelSource
	Imported *frontend.ImportedModel
	Design   *folding.Design
	Verified verify.VerificationReport
	Accuracy *samples.Accuracy // nil without labels
	Backend  options.Backend
	NoDriver string         // why the build has no driver; empty if it has
	System   *vivado.System // the system around the accelerator on the board; nil if there is none
	Loaded   bool           // weights are loaded, so that they are not constants of the circuit

	RealSamples bool // the samples are the user's or the example's, not random

	Version  string            // of hlsgen
	Board    string            // the board as the user named it
	AskedMHz float64           // the clock that the user asked for; 0 for the board's
	Given    map[string]string // the flags that shape the design, by name
	Flags    []string          // the same as words of a command, without the board, the clock and the folding file
}
