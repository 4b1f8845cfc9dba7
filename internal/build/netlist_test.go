package build_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/folding"
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

// memories builds that network for a board as SystemVerilog, and returns the folder of its Makefile.
func memories(t *testing.T, board string, units int) (*build.Result, string) {
	t.Helper()
	dir := t.TempDir()
	o := build.Options{Source: options.Source{Model: filepath.Join(dir, "drawn.onnx")},
		Hardware:     options.Hardware{Board: board, Backend: options.BackendRTL},
		Goal:         options.Goal{Interval: float64(35 * units), Least: folding.ResourceMeasureLUT},
		Verification: options.Verification{Verify: 6, NoCSim: true},
		OutputFolder: options.OutputFolder{Out: filepath.Join(dir, "out")}}
	if err := os.WriteFile(o.Model, drawnMemories(units), 0o666); err != nil {
		t.Fatal(err)
	}
	var d diag.List
	built, err := build.Run(context.Background(), o, &d)
	if err != nil || built == nil {
		t.Fatal(err, d.Diags)
	}
	return built, filepath.Join(o.Out, "rtl")
}

// TestNetlist runs the cells that Yosys makes of a network in the bench of the SystemVerilog: every word of every
// stream has to be the recorded one, and every clock the same.
func TestNetlist(t *testing.T) {
	t.Parallel()
	if !tier.Full() {
		t.Skip("it compiles a netlist: make test runs it")
	}
	tier.Needs(t, "make", "verilator", "clang++", "yosys")
	compareNetlist(t)
}

// TestNetlistPyPI does what TestNetlist does, with the Yosys of PyPI and its cells.
func TestNetlistPyPI(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	tier.Needs(t, "make", "verilator", "clang++")
	compareNetlist(t, maketest.PyPI(t))
}

// compareNetlist runs a network and its netlist in the bench, by make with the arguments.
func compareNetlist(t *testing.T, args ...string) {
	t.Helper()
	built, dir := memories(t, "icebreaker", 32)
	if total := built.Design.Estimate.Total; total.BRAM < 5 || total.DSP == 0 {
		t.Errorf("%+v: rows, weights and products are not in cells of their own", total)
	}
	told := func(target string) (lines []string) {
		said := maketest.Make(t, dir, slices.Concat([]string{target, "VOPT=-O1"}, maketest.Soon, args)...)
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
			if board == "ulx3s-85f" { // TestPlaced has this family, too
				tier.NeedsLong(t)
			}
			tier.Needs(t, "make", "yosys")
			r, dir := memories(t, board, 64)
			blocks := int(maketest.Figure(t, maketest.Make(t, dir, "synth"), cell+` +(\d+)`))
			if want := r.Design.Estimate.Total.BRAM - r.Design.Estimate.Host.Total().BRAM; blocks != want {
				t.Errorf("%d %s, priced at %d", blocks, cell, want)
			}
		})
	}
}
