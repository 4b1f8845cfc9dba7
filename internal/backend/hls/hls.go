// Package hls is the back end that makes a project for Vitis HLS. Package templates writes the files.
package hls

import (
	"context"
	"errors"
	"fmt"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/templates"
)

// Backend returns the row of this back end.
func Backend() *templates.Backend {
	return &templates.Backend{
		Backend:  dataflow.BackendHLS,
		Language: "C++",
		Product:  "a Vitis HLS project",
		Fits:     fits,
		Files:    files,
		Verify:   verify,
		Engine:   string(engines.EngineCSim),
		VitisHLS: true,
		Run:      templates.Run{Folder: "hls", Target: "csim"},
		Readme:   readme,
	}
}

// described is the function that makes a row of the README's table of files.
var described = templates.DescribeFiles

// readme describes the files of this back end.
var readme = []templates.ReadmeEntry{
	described("the top function: streams, and one call per layer", "hls/top.cpp", "hls/top.hpp"),
	described("a config struct and a function per layer and end of the network, all in one unit", "hls/layers.cpp",
		"hls/layers.hpp"),
	described("each of them", "hls/layers/*.cpp", "hls/layers/*.hpp"),
	described("for each of them, a script that synthesises it alone, and the files that it is made of", "hls/ip/*.tcl",
		"hls/ip/*.files"),
	described("the top that joins what comes of these scripts, with its FIFOs", "hls/rtl/*_top.v",
		"hls/rtl/hlsgen_fifo.sv"),
	described("its bench for a simulator, with the recorded streams", "hls/rtl/hlsgen_*.sv"),
	described("scripts that pack it as an IP for Vivado, and that simulate it with xsim", "hls/rtl/package.tcl",
		"hls/rtl/xsim.sh"),
	described("the vendor's types, as wide as the widest word needs them", "hls/ap_types.hpp"),
	described("weights, thresholds and other tables of the layers", "hls/tables/*.hpp"),
	described("the kernels", "hls/include/hlsgen/*.hpp", "hls/include/hlsgen/core/*.hpp"),
	described("headers that stand in for the vendor's where there are none", "hls/csim/*.h"),
	described("the test bench", "hls/tb/tb.cpp"),
	described("how many frames it runs, every word of every stream, and how often each function is called for a frame",
		"hls/tb/data/frames.txt", "hls/tb/data/s*.dat", "hls/tb/data/calls.txt"),
	described("compiles and runs the test bench without vendor tools; synthesises, packs and simulates layer by layer",
		"hls/Makefile"),
	described("script for Vitis HLS up to 2024.1", "hls/run_hls.tcl"),
	described("script and configuration for Vitis 2024.2 and later",
		"hls/run_hls_unified.tcl", "hls/hls_config.cfg"),
	described("the network as a library, for programs on this machine", "hls/lib.cpp"),
}

// fits returns why Vitis HLS makes nothing for the board, or "".
func fits(b boards.Board) string {
	if b.Family == boards.FamilyAMD {
		return ""
	}
	return fmt.Sprintf("%s has the device %s, and Vitis HLS makes nothing for devices that are not AMD's", b.Name,
		b.Part)
}

// files returns the project of a design.
func files(d *dataflow.Design, v templates.TestVectors) (templates.ProjectFiles, error) {
	files, err := templates.GenerateHLSProject(d, v, templates.Options{})
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	return files, nil
}

// verify compiles the test bench of a project and runs it.
func verify(ctx context.Context, d *dataflow.Design, files templates.ProjectFiles,
	frames [][]dataflow.Tensor) error {
	_, err := engines.RunCSim(ctx, d, files, frames)
	if missing := new(templates.NoCompilerError); errors.As(err, &missing) {
		return &templates.NotVerifiedError{Diag: diag.Diag{Severity: diag.SeverityWarning,
			Code: diag.CppCompilerMissing, Msg: "the generated C++ was not compiled and run: " + missing.Error(),
			Hint: "install g++ or clang++, or pass --no-csim"}}
	}
	return err
}
