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

	"hlsgen/hlslib/cost"
	"hlsgen/internal/tier"
	"hlsgen/templates/mover"
)

// texts writes the files of both movers, and gives their names.
func texts(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	if err := mover.Files().Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range mover.Files() {
		names = append(names, f.Path)
	}
	return dir, names
}

// TestLint: Verilator has nothing to say of any mover, and Config gives all of its parameters.
func TestLint(t *testing.T) {
	t.Parallel()
	verilator := tier.Needs(t, "verilator")[0]
	dir, names := texts(t)
	for _, i := range configs() {
		args := []string{"--lint-only", "-Wall", "--top-module", i.Module()}
		for _, p := range i.Parameters() {
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

// took is the lookup tables of both movers with such parameters, the one that reads first, as Yosys maps them to AMD's
// cells, those of memories and shift registers included.
func took(t *testing.T, c mover.Config, yosys string) (luts [2]int) {
	t.Helper()
	dir, _ := texts(t)
	script := []string{
		"read_verilog -lib -specify +/xilinx/cells_sim.v", "read_verilog -lib +/xilinx/cells_xtra.v",
		"read_verilog -sv -defer hlsgen_mover_*.sv hlsgen_stream.sv hlsgen_last.sv",
		"read_verilog -sv hlsgen_read.sv hlsgen_write.sv",
	}
	for k := range luts {
		c.Writes = k == 1
		set := ""
		for _, p := range c.Parameters() {
			set += fmt.Sprintf(" -set %s %s", p.Name, p.Value)
		}
		script = append(script, fmt.Sprintf("chparam%s %s", set, c.Module()))
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
	var made struct {
		Modules map[string]struct {
			Cells map[string]struct{ Type string }
		}
	}
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	for k, name := range []string{mover.Read, mover.Write} {
		for _, x := range made.Modules[name].Cells {
			switch {
			case x.Type == "RAM32M" || x.Type == "RAM64M":
				luts[k] += 4
			case strings.HasPrefix(x.Type, "SRL"), lut.MatchString(x.Type):
				luts[k]++
			}
		}
	}
	return luts
}

// TestSynthesis: at a port of 128 bits, a ZynqMP's, Yosys makes of each mover what the estimate counts for one, give or
// take a fifth.
func TestSynthesis(t *testing.T) {
	t.Parallel()
	yosys := tier.Needs(t, "yosys")[0]
	price := cost.Host{Inputs: 1, Outputs: 1}.Fitted() // of inputs, outputs, and the shell
	c := mover.Config{DataBits: 128, StreamBytes: 8, MaxBeats: 64, Outstanding: 4, FrameBytes: 64, Steps: 1}
	for k, luts := range took(t, c, yosys) {
		want := float64(price[k].LUT)
		t.Logf("%d LUT; %s is estimated as %g", luts, price[k].Name, want)
		if math.Abs(float64(luts)-want) > 0.2*want {
			t.Errorf("%d LUT; %s is estimated as %g", luts, price[k].Name, want)
		}
	}
}
