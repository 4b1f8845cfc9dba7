package build_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/tier"
)

// drawnMemories looks rows up and multiplies them, with few products in a clock: what is looked up and the weights of
// so many units are in block RAM.
func drawnMemories(units int) []byte {
	d := draw()
	d.Input("x", graph.DTypeUInt8, 1, 2)
	d.Node("Gather", d.weights(256, 16), "x").Out("rows")
	d.Node("MatMul", d.quantised("rows"), d.weights(16, units)).Out("sums")
	d.Node("MatMul", d.quantised("sums"), d.weights(units, 4)).Out("more")
	d.Node("Identity", d.quantised("more")).Out("y")
	d.Output("y", graph.DTypeFloat32, 1, 2, 4)
	return d.Bytes()
}

// memories builds that network for a board as SystemVerilog in a folder.
func memories(dir, board string, units int) (*build.Result, error) {
	o := build.Options{Source: options.Source{Model: filepath.Join(dir, "drawn.onnx")},
		Hardware:     options.Hardware{Board: board, Backend: options.BackendRTL},
		Goal:         options.Goal{Interval: float64(35 * units)},
		Verification: options.Verification{Verify: 6, NoCSim: true},
		OutputFolder: options.OutputFolder{Out: filepath.Join(dir, "out")}}
	if err := os.WriteFile(o.Model, drawnMemories(units), 0o666); err != nil {
		return nil, err
	}
	var d diag.List
	built, err := build.Run(context.Background(), o, &d)
	if err == nil && built == nil {
		err = fmt.Errorf("%v", d.Diags)
	}
	return built, err
}

// onIcebreaker returns the build for that board, with rows, weights and products in cells of their own, and the folder
// of its Makefile.
func onIcebreaker(t *testing.T) (*build.Result, string) {
	t.Helper()
	built, err := memories(t.TempDir(), "icebreaker", 32)
	if err != nil {
		t.Fatal(err)
	}
	if total := built.Design.Estimate.Total; total.BRAM < 5 || total.DSP == 0 {
		t.Errorf("%+v: rows, weights and products are not in cells of their own", total)
	}
	return built, filepath.Join(built.Out, "rtl")
}

// TestUART has the project's Python script talk to the UART top in Verilator: with nothing lost, with bytes lost on
// their way, and with resets in the middle of frames (uart/simulate.py). Every result is the recorded one. The
// long tier has another speed.
func TestUART(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "make", "python3", "verilator", "clang++")
	_, dir := onIcebreaker(t)
	if said := maketest.Make(t, dir, "lint"); said != "" {
		t.Errorf("make lint: %s", said)
	}
	speeds := []string{"1000000"} // the one with fewer clocks for each bit
	if tier.Long() {
		speeds = append(speeds, "115200")
	}
	for _, baud := range speeds {
		// 6 frames, 15 of which a byte is lost or changed, 9 after half a message, 3 after half a result, 1 after noise
		said := maketest.Make(t, dir, "uart", "BAUD="+baud, "OPT=-O1", maketest.OneUnit, "CXX=clang++")
		if !strings.Contains(said, "PASS 34 frames over the UART, 22 resets") {
			t.Errorf("at %s baud: %s", baud, said)
		}
	}
}

// TestBitstream goes through Yosys, nextpnr and icepack: the network fits, follows the board's clock, and takes as many
// block RAMs as it is priced at, and one for the UART's frame. docs/uart.md does so with the embedded example.
func TestBitstream(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "make", "yosys", "nextpnr-ice40", "icepack")
	r, dir := onIcebreaker(t)
	said := maketest.Make(t, dir, "bitstream")
	info, err := os.Stat(filepath.Join(dir, "build", "drawn_top_uart.bin"))
	if err != nil || info.Size() < 100_000 {
		t.Errorf("the bitstream: %v, %v", info, err)
	}
	if mhz := maketest.Figure(t, said, `Max frequency for clock .*: ([0-9.]+) MHz`); mhz < r.Design.Target.ClockMHz {
		t.Errorf("%g MHz, want %g", mhz, r.Design.Target.ClockMHz)
	}
	if blocks := int(maketest.Figure(t, said, `ICESTORM_RAM: +(\d+)/`)); blocks != r.Design.Estimate.Total.BRAM+1 {
		t.Errorf("%d block RAMs, priced at %d and 1", blocks, r.Design.Estimate.Total.BRAM)
	}
	cells := int(maketest.Figure(t, said, `ICESTORM_LC: +(\d+)/`))
	if have := r.Design.Target.Board.LUT; cells > have {
		t.Errorf("%d logic cells of %d", cells, have)
	}
	t.Logf("%d logic cells; %d LUT estimated without the UART", cells, r.Design.Estimate.Total.LUT)
}

// TestNetlist runs the cells that Yosys makes of a network in the bench of the SystemVerilog: every word of every
// stream has to be the recorded one, and every clock the same.
func TestNetlist(t *testing.T) {
	t.Parallel()
	if !tier.Full() {
		t.Skip("it compiles a netlist: make test runs it")
	}
	tier.Needs(t, "make", "verilator", "clang++", "yosys")
	_, dir := onIcebreaker(t)
	told := func(target string) (lines []string) {
		said := maketest.Make(t, dir, append([]string{target, "VOPT=-O1"}, maketest.Soon...)...)
		for line := range strings.Lines(said) {
			for _, kind := range []string{"FRAME ", "EVENTS ", "PASS ", "FAIL "} {
				if strings.HasPrefix(line, kind) {
					lines = append(lines, line)
				}
			}
		}
		return lines
	}
	rtl, netlist := strings.Join(told("sim"), ""), strings.Join(told("netlist"), "")
	if rtl != netlist || !strings.Contains(rtl, "PASS ") || strings.Count(rtl, "FRAME ") != 6 {
		t.Errorf("the RTL says\n%sthe netlist\n%s", rtl, netlist)
	}
}

// TestSynthesis holds block RAM against its price on other families: Yosys takes the text, and has it where it is
// priced.
func TestSynthesis(t *testing.T) {
	t.Parallel()
	for board, cell := range map[string]string{"ulx3s-85f": "DP16KD", "arty-a7-35": "RAMB18E1"} {
		t.Run(board, func(t *testing.T) {
			t.Parallel()
			tier.Needs(t, "make", "yosys")
			r, err := memories(t.TempDir(), board, 64)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(r.Out, "rtl")
			blocks := int(maketest.Figure(t, maketest.Make(t, dir, "synth"), cell+` +(\d+)`))
			if want := r.Design.Estimate.Total.BRAM; blocks != want {
				t.Errorf("%d %s, priced at %d", blocks, cell, want)
			}
		})
	}
}
