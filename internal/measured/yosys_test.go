package measured

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hlsgen/internal/circuit"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A flow is Yosys' script for a family: what reads the family's cells, and what synthesises from there on.
type flow struct {
	cells []string
	synth string
}

var flows = map[string]flow{
	"xilinx": {[]string{"read_verilog -lib -specify +/xilinx/cells_sim.v", "read_verilog -lib +/xilinx/cells_xtra.v"},
		"synth_xilinx -flatten -noiopad -noclkbuf -run prepare:check"},
	"ice40": {[]string{"read_verilog -D ICE40_U -lib -specify +/ice40/cells_sim.v"},
		"synth_ice40 -dsp -device u -run flatten:check"},
	"ecp5": {[]string{"read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v"},
		"synth_ecp5 -run coarse:check"},
}

// layers is the cells of circuits, by name: many at once, as most of the time of a small one goes into what Yosys reads
// first.
func layers(ctx context.Context, dir, family string, circuits map[string]*circuit.Module) (map[string]map[string]int,
	time.Duration, error) {
	files := rtl.Library()
	for name, m := range circuits {
		files = append(files, rtl.Layer(name, "", m)...)
	}
	s := []string{"hierarchy -check", "proc", "flatten", "delete =*hlsgen_multiply*"}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f.Path), ".sv")
		if strings.HasPrefix(f.Path, "rtl/layers/") && circuits[name] == nil {
			s = append(s, "delete "+name) // a function, which is in its layer now
		}
	}
	read := []string{"read_verilog -sv -defer lib/hlsgen_multiply.sv"}
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Path, "rtl/layers/"); ok {
			read = append(read, "read_verilog -sv layers/"+name)
		}
	}
	return run(ctx, dir, family, files, append(read, s...))
}

// whole is the cells of a network.
func whole(ctx context.Context, dir, family string, n *rtl.Network) (map[string]map[string]int, time.Duration, error) {
	files := append(rtl.Library(), n.Files...)
	return run(ctx, dir, family, files, []string{"read_verilog -sv -defer *.sv lib/*.sv layers/*.sv",
		"hierarchy -check -top " + n.Top, "proc", "flatten"})
}

// run has Yosys synthesise files that a script has read.
func run(ctx context.Context, dir, family string, files templates.Files, read []string) (map[string]map[string]int,
	time.Duration, error) {
	if err := files.Write(dir); err != nil {
		return nil, 0, err
	}
	dir = filepath.Join(dir, "rtl")
	script := append(slices.Concat(flows[family].cells, read), flows[family].synth, "tee -q -o stat.txt stat")
	lines := []byte(strings.Join(script, "\n") + "\n")
	if err := os.WriteFile(filepath.Join(dir, "script.ys"), lines, 0o666); err != nil {
		return nil, 0, err
	}
	c := exec.CommandContext(ctx, "yosys", "-q", "-s", "script.ys")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("yosys: %w\n%.3000s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "stat.txt"))
	return statistics(string(text)), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), err
}

var (
	moduleLine = regexp.MustCompile(`^=== (\S+) ===$`)
	cellLine   = regexp.MustCompile(`^     (\S+) +(\d+)$`)
)

// statistics reads what stat says.
func statistics(text string) map[string]map[string]int {
	all := map[string]map[string]int{}
	var of map[string]int
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := moduleLine.FindStringSubmatch(line); m != nil {
			of = map[string]int{}
			all[m[1]] = of
		} else if m := cellLine.FindStringSubmatch(line); m != nil && of != nil {
			of[m[1]], _ = strconv.Atoi(m[2])
		}
	}
	return all
}
