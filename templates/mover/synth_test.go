package mover_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/mover"
)

// texts writes the files of both movers, and gives their names.
func texts(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	if err := mover.SourceFiles().WriteBelow(dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range mover.SourceFiles() {
		names = append(names, f.Path)
	}
	return dir, names
}

// TestLint checks that Verilator has no message about any mover, and that Config gives all parameters.
func TestLint(t *testing.T) {
	t.Parallel()
	verilator := tier.Needs(t, "verilator")[0]
	dir, names := texts(t)
	for _, i := range configs() {
		args := []string{"--lint-only", "-Wall", "--top-module", i.ModuleName()}
		for _, p := range i.ModuleParameters() {
			args = append(args, "-G"+p.Name+"="+p.Value)
		}
		c := exec.CommandContext(t.Context(), verilator, append(args, names...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", i.name, err, out)
		}
	}
}

var lut = regexp.MustCompile(`^LUT[1-6]$`)

// took returns the resources of both movers with the parameters of c, the reading mover first. Yosys maps the movers to
// AMD's cells. The counts are LUTs, including those of memories and shift registers, flip-flops and RAMB18.
func took(t *testing.T, c mover.Config, yosys string) (made [2]cost.Resources) {
	t.Helper()
	dir, _ := texts(t)
	script := []string{
		"read_verilog -lib -specify +/xilinx/cells_sim.v", "read_verilog -lib +/xilinx/cells_xtra.v",
		"read_verilog -sv -defer hlsgen_mover_*.sv hlsgen_stream.sv hlsgen_last.sv",
		"read_verilog -sv hlsgen_read.sv hlsgen_write.sv",
	}
	for k := range made {
		c.Writes = k == 1
		set := ""
		for _, p := range c.ModuleParameters() {
			set += fmt.Sprintf(" -set %s %s", p.Name, p.Value)
		}
		script = append(script, fmt.Sprintf("chparam%s %s", set, c.ModuleName()))
	}
	script = append(script, "hierarchy -check", "proc", "flatten",
		"delete =*hlsgen_mover_* =*hlsgen_stream* =*hlsgen_last*",
		"synth_xilinx -flatten -noiopad -noclkbuf -run prepare:check", "json -o cells.json")
	y := exec.CommandContext(t.Context(), yosys, "-q", "-p", strings.Join(script, "; "))
	y.Dir = dir
	if out, err := y.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "cells.json"))
	if err != nil {
		t.Fatal(err)
	}
	var design struct {
		Modules map[string]struct {
			Cells map[string]struct{ Type string }
		}
	}
	if err := json.Unmarshal(text, &design); err != nil {
		t.Fatal(err)
	}
	for k, name := range []string{mover.ReaderModuleName, mover.WriterModuleName} {
		for _, x := range design.Modules[name].Cells {
			switch {
			case x.Type == "RAM32M" || x.Type == "RAM64M":
				made[k].LUT += 4
			case strings.HasPrefix(x.Type, "SRL"), lut.MatchString(x.Type):
				made[k].LUT++
			case strings.HasPrefix(x.Type, "FD"):
				made[k].FF++
			case strings.HasPrefix(x.Type, "RAMB36"):
				made[k].BRAM += 2
			case strings.HasPrefix(x.Type, "RAMB18"):
				made[k].BRAM++
			}
		}
	}
	return made
}

// TestSynthesis compares the estimate of each mover, at the boards' ports, with Yosys' figures. LUTs and flip-flops may
// differ by a fifth, block RAM must be equal.
func TestSynthesis(t *testing.T) {
	t.Parallel()
	yosys := tier.Needs(t, "yosys")[0]
	for _, board := range []string{"zcu104", "pynq-z1", "alveo-u250"} {
		t.Run(board, func(t *testing.T) {
			t.Parallel()
			if board != "zcu104" {
				tier.NeedsLong(t)
			}
			b, err := boards.FindBoard(board)
			if err != nil {
				t.Fatal(err)
			}
			c := mover.Config{DataBits: b.HostPortBits, StreamBytes: 8, MaxBeats: b.MaxBurstBeats(), Outstanding: 4,
				FrameBytes: 64, Steps: 1, Reports: b.Platform != ""}
			price := cost.HostPortShape{Inputs: 1, Outputs: 1, Bits: c.DataBits, Beats: c.MaxBeats,
				Card: true}.FittedCost()
			for k, made := range took(t, c, yosys) {
				want := price[k].Resources
				near := func(made, want int) bool { return math.Abs(float64(made-want)) <= 0.2*float64(want) }
				t.Logf("%s: %+v, estimated as %+v", price[k].Name, made, want)
				if !near(made.LUT, want.LUT) || !near(made.FF, want.FF) || made.BRAM != want.BRAM {
					t.Errorf("%s are %+v, estimated as %+v", price[k].Name, made, want)
				}
			}
		})
	}
}
