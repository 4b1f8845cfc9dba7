// Package rtl is the back end that makes SystemVerilog. Package templates/rtl writes the files.
package rtl

import (
	"context"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// Backend returns the row of this back end.
func Backend() *templates.Backend {
	return &templates.Backend{
		Backend:     dataflow.BackendRTL,
		Language:    "SystemVerilog",
		Product:     "SystemVerilog",
		Fits:        func(boards.Board) string { return "" },
		Files:       files,
		Verify:      verify,
		Engine:      string(engines.EngineRTL),
		WholeFrames: true,
		CircuitIP:   true,
		Run:         templates.Run{Folder: "rtl", Target: "sim"},
		Readme:      readme,
		Steps: []templates.ReadmeStep{{Title: "Run the SystemVerilog",
			Text: "In Verilator, on the recorded frames: every word of every stream is compared. `make lint` and\n" +
				"`make synth` hold the text against Verilator's warnings and Yosys' checks.",
			Commands: []string{"make -C rtl sim"}}},
	}
}

// described is the function that makes a row of the README's table of files.
var described = templates.DescribeFiles

// readme describes the files of this back end.
var readme = []templates.ReadmeEntry{
	described("the accelerator behind its movers, in Verilator, as a library that drivers take for a device",
		"rtl/axi/*.sv", "rtl/axi/lib.cpp", "rtl/axi/Makefile"),
	described("the network in SystemVerilog: the top, and its streams of FIFOs", "rtl/*_top.sv", "rtl/shared/*.sv"),
	described("the same with a flag for packets of wrong length", "rtl/*_checked.v"),
	described("the same as an IP of Vivado's block designs: its top, and the script that packs it", "rtl/ip/*_ip.v",
		"rtl/ip/package.tcl"),
	described("a module per layer, and the functions that it uses", "rtl/layers/*.sv"),
	described("its tables, as $readmemh reads them", "rtl/tables/*.mem"),
	described("a bench in Verilator, with every word of every stream", "rtl/bench/*", "rtl/bench/data/*.dat"),
	described("runs the bench, and checks the text with Verilator and Yosys; makes a bitstream "+
		"of the UART top", "rtl/Makefile"),
	described("the network behind a UART, for the board: the top, its parts, its pins", "rtl/uart/*.sv",
		"rtl/uart/pins.*", "rtl/uart/vivado.tcl"),
	described("sends frames to the board over a serial port (pyserial); the same in Verilator, with losses",
		"rtl/uart/talk.py", "rtl/uart/simulate.py", "rtl/uart/simulated.cpp"),
}

// files returns the SystemVerilog of a design, with its bench.
func files(d *dataflow.Design, v templates.TestVectors) (templates.ProjectFiles, error) {
	n, err := rtl.New(d, templates.Options{})
	if err != nil {
		return nil, err
	}
	return n.GenerateProject(v.Frames)
}

// verify runs the SystemVerilog of a design in Verilator. It makes the files again, for a bench of other paces.
func verify(ctx context.Context, d *dataflow.Design, _ templates.ProjectFiles, frames [][]dataflow.Tensor) error {
	if program := engines.FindMissingRTLProgram(); program != "" {
		return &templates.NotVerifiedError{Diag: diag.Diag{Severity: diag.SeverityWarning,
			Code: diag.VerilatorMissing, Msg: "the generated SystemVerilog was not run: there is no " + program,
			Hint: "install verilator and g++, or pass --no-csim"}}
	}
	return engines.CheckDesignInVerilator(ctx, engines.EngineRTL, d, engines.SelectStreams(frames, d.Model.Graph.In),
		frames)
}
