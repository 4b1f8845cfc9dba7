package rtl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// Unrolled is how often Verilator has to unroll a loop: over the bits of any word.
var Unrolled = strconv.Itoa(dataflow.MaxWord + 1)

// A Pace is how the host moves words in a bench, as rtlsim's.
type Pace struct {
	Every, Stall int
	Seed         uint64
}

// A Program is a compiled bench.
type Program struct{ dir string }

// Compile writes files below a folder and has Verilator make the bench. warnings fail it.
func Compile(ctx context.Context, dir string, files templates.Files) (*Program, error) {
	if err := files.Write(dir); err != nil {
		return nil, err
	}
	p := &Program{filepath.Join(dir, "rtl")}
	args := []string{"--cc", "--exe", "--build", "-O1", "--unroll-count", Unrolled, "-Wno-fatal", "-Wno-lint",
		"--x-assign", "unique", "--prefix", "Vbench",
		"--top-module", "hlsgen_bench", "--Mdir", "obj", "-o", "bench", "-MAKEFLAGS",
		"OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", "bench/main.cpp"}
	_, err := p.run(ctx, "verilator", append(args, Sources(files, true)...)...)
	return p, err
}

// Sources are the SystemVerilog files of a project, relative to its folder rtl, those of benches included or not.
func Sources(files templates.Files, bench bool) (list []string) {
	for _, f := range files {
		name := strings.TrimPrefix(f.Path, "rtl/")
		if path.Ext(name) == ".sv" && (bench || !strings.HasPrefix(name, "bench/")) {
			list = append(list, name)
		}
	}
	return list
}

// Run gives what the bench prints.
func (p *Program) Run(ctx context.Context, in, out Pace) (string, error) {
	args := []string{"+data=bench/data"}
	for _, side := range []struct {
		name string
		Pace
	}{{"in", in}, {"out", out}} {
		args = append(args, fmt.Sprintf("+%s_every=%d", side.name, max(1, side.Every)),
			fmt.Sprintf("+%s_stall=%d", side.name, side.Stall), fmt.Sprintf("+%s_seed=%d", side.name, side.Seed))
	}
	return p.run(ctx, filepath.Join(p.dir, "obj", "bench"), args...)
}

// run runs a command in the folder; the error has what it printed.
func (p *Program) run(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "TMPDIR="+p.dir)
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w\n%.4000s", filepath.Base(name), err, out)
	}
	return string(out), nil
}
