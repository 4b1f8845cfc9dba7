package templates

import (
	"context"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A Backend is a row of the table of back ends (package backend): a way to make hardware of a design. The embedded half
// is what layers and simulators read. The other fields are what the folder of a build needs.
type Backend struct {
	dataflow.Backend
	Language string // what it writes, such as "SystemVerilog"
	Product  string // what it makes, as text in front of ", made by hlsgen"
	// Fits returns why the back end makes nothing for a board, or an empty string.
	Fits func(boards.Board) string
	// Files returns the files of a design. The test vectors may have no frames.
	Files func(*dataflow.Design, TestVectors) (ProjectFiles, error)
	// Verify runs the files on recorded frames and returns an error if a word differs. The error is a *NotVerifiedError
	// if a program is missing. It is nil if the files cannot be run.
	Verify      func(context.Context, *dataflow.Design, ProjectFiles, [][]dataflow.Tensor) error
	Engine      string // name of what Verify runs, in reports
	WholeFrames bool   // test vectors have frames of all streams, not only of the network's inputs and outputs
	VitisHLS    bool   // the files are a project for Vitis HLS: a library for drivers, an IP per layer
	CircuitIP   bool   // the files have an IP of the whole design, and run behind the movers in Verilator
	Run         Run
	Readme      []ReadmeEntry // descriptions of its files
	Steps       []ReadmeStep  // what to do with them
}

// A Run says how a user runs the files: make with a target in a folder. It is the zero value if there is no such way.
type Run struct{ Folder, Target string }

// A NotVerifiedError is the error of Backend.Verify if a program is missing. It holds the warning about it.
type NotVerifiedError struct{ diag.Diag }

// Error returns the warning's message.
func (e *NotVerifiedError) Error() string { return e.Msg }
