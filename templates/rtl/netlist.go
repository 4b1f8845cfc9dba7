package rtl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// A cellLibrary says how Yosys makes cells for a family of devices, and which files have the models of these cells. The
// first file comes first, followed by those that it includes. The command keeps modules apart, so that benches see the
// streams between them.
type cellLibrary struct {
	synth    string
	models   []string
	define   string // macro to define before the models
	blockRAM bool   // the models include block RAM
}

// libraryOf returns the way to make cells for a family.
func libraryOf(f boards.Family) cellLibrary {
	if row := f.Row(); row != nil {
		t := &row.Tools
		return cellLibrary{t.Netlist, t.Models, t.Define, t.BlockRAM}
	}
	return cellLibrary{"synth_xilinx -nobram -nodsp -noiopad", []string{"xilinx/cells_sim.v"}, "", false}
}

// conflict is a warning of Yosys that must be an error: of two drivers of a wire Yosys drops one.
const conflict = "Driver-driver conflict"

// The bits of memory blocks, and the bits of a block that one LUT replaces if there is no model of the block.
const (
	blockBits = 18 << 10
	ultraBits = 288 << 10
	lutBits   = 64
)

// EstimateNetlistLUTs returns an estimate of the LUTs in the netlist of a design with the resources r. Block RAM and
// multipliers without a model in Yosys become LUTs.
func EstimateNetlistLUTs(b boards.Board, r dataflow.Resources) int {
	if libraryOf(b.Family).blockRAM {
		return r.LUT
	}
	return r.LUT + (r.BRAM*blockBits+r.URAM*ultraBits)/lutBits + 300*r.DSP
}

// SynthesiseNetlist writes files, those of a bench, below the folder dir, and makes cells of the network with Yosys. It
// returns them with the cells in place of the network's modules, and with Yosys' models of the cells. Yosys must be
// installed.
func (n *Network) SynthesiseNetlist(ctx context.Context, dir string,
	files templates.ProjectFiles) (templates.ProjectFiles, error) {
	if err := files.WriteBelow(dir); err != nil {
		return nil, err
	}
	p := &CompiledBench{filepath.Join(dir, "rtl")}
	lib := libraryOf(n.design.Target.Board.Family)
	plain := ""
	if !lib.blockRAM {
		plain = "proc; setattr -unset ram_style -unset rom_style */m:* */t:$mem*; "
	}
	script := fmt.Sprintf("read_verilog -sv -defer %s; hierarchy -top %s; %s%s -top %[2]s; "+
		"write_verilog -noattr netlist.sv",
		strings.Join(ListSourcePaths(files, false), " "), n.Top, plain, lib.synth)
	if _, err := p.run(ctx, "yosys", "-q", "-e", conflict, "-p", script); err != nil {
		return nil, err
	}
	cells, err := os.ReadFile(filepath.Join(p.dir, "netlist.sv"))
	if err != nil {
		return nil, err
	}
	var made templates.ProjectFiles
	for _, f := range files {
		if path.Ext(f.Path) != ".sv" || strings.HasPrefix(f.Path, "rtl/bench/") {
			made = append(made, f)
		}
	}
	made = append(made, templates.GeneratedFile{Path: "rtl/netlist.sv", Data: cells})
	models, err := lib.read()
	return append(made, models...), err
}

// read returns the models of cells from the installed Yosys. Files that others include get the path at which Verilator
// looks.
func (l cellLibrary) read() (files templates.ProjectFiles, err error) {
	yosys, err := exec.LookPath("yosys")
	if err != nil {
		return nil, err
	}
	if yosys, err = filepath.EvalSymlinks(yosys); err != nil {
		return nil, err
	}
	for i, m := range l.models {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(yosys), "..", "share", "yosys", filepath.FromSlash(m)))
		if err != nil {
			return nil, fmt.Errorf("the models of yosys' cells: %w", err)
		}
		name := path.Base(m)
		if i == 0 {
			name = "cells.sv"
			if l.define != "" {
				text = append([]byte("`define "+l.define+"\n"), text...)
			}
		}
		files = append(files, templates.GeneratedFile{Path: "rtl/" + name, Data: text})
	}
	return files, nil
}
