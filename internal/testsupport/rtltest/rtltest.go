// Package rtltest runs the generated Verilog top of a project, with its FIFOs and its bench, in Verilator against the
// recorded streams. No tool for synthesising C++ is available. So for each module that Vitis HLS would make, a
// stand-in module calls the C++ of the process. In come a project's files; out come the outputs of Verilator's lint
// and of the bench.
//
//	rtltest.go  Lint, Build and Bench
//	modules.go  the stand-in modules, and their C++
package rtltest

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

//go:embed testbench
var testbench embed.FS

// Lint reports Verilator's warnings about the top with its bench as test errors.
func Lint(t testing.TB, files templates.ProjectFiles) {
	t.Helper()
	tier.Needs(t, "verilator")
	findings, err := LintOutput(t.Context(), t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	if findings != "" {
		t.Errorf("verilator --lint-only: %s", findings)
	}
}

// LintOutput returns the output of Verilator's lint. It writes files below the folder dir.
func LintOutput(ctx context.Context, dir string, files templates.ProjectFiles) (string, error) {
	w, err := prepare(ctx, dir, files)
	if err != nil {
		return "", err
	}
	out, err := w.run("verilator", append([]string{"--lint-only", "-Wall", "--timing", "--top-module", "hlsgen_clock"},
		w.sources("rtl/")...)...)
	if err != nil || out != "" {
		return fmt.Sprintf("%v\n%s", err, out), nil
	}
	return "", nil
}

// A Built is the compiled bench of a project.
type Built struct{ work }

// Build compiles the bench of a project.
func Build(t testing.TB, files templates.ProjectFiles) *Built {
	t.Helper()
	tier.Needs(t, "verilator", "g++", "make")
	w, err := prepare(t.Context(), t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	args := append(w.sources("rtl/"), "dpi.cpp", "-CFLAGS", "-I../csim -Wno-unknown-pragmas")
	if err := w.build("hlsgen_bench", args...); err != nil {
		t.Fatal(err)
	}
	return &Built{w}
}

// Run runs the bench and returns its output. pauses is the bench's parameter of that name, which makes its ends pause.
func (b *Built) Run(t testing.TB, pauses int) string {
	t.Helper()
	out, err := b.run("obj/bench", fmt.Sprintf("+pauses=%d", pauses))
	if err != nil && !strings.Contains(out, "FAIL") { // a bench that fails ends with words still on their way
		t.Fatal(err)
	}
	return out
}

// Passed reports whether the output of a bench says that it passed.
func Passed(said string) bool {
	return strings.HasPrefix(said, "PASS ") && !strings.Contains(said, "FAIL")
}

// Replace overwrites a file that the bench reads.
func (b *Built) Replace(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := (templates.ProjectFiles{{Path: path, Data: data}}).WriteBelow(filepath.Dir(b.dir)); err != nil {
		t.Fatal(err)
	}
}

// Bench compiles SystemVerilog with a top whose only port is a clock, runs it, and returns the output. Each file is
// one module.
func Bench(t testing.TB, top string, modules map[string][]byte) string {
	t.Helper()
	tier.Needs(t, "verilator", "g++", "make")
	var files templates.ProjectFiles
	for name, text := range modules {
		files = append(files, templates.GeneratedFile{Path: "hls/rtl/" + name + ".sv", Data: text})
	}
	w, err := unpack(t.Context(), t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.build(top, w.sources("rtl/")...); err != nil {
		t.Fatal(err)
	}
	out, err := w.run("obj/bench")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A work runs commands in the folder hls of a project.
type work struct {
	ctx   context.Context
	dir   string
	files templates.ProjectFiles
}

// unpack writes the files, and the C++ that every bench needs.
func unpack(ctx context.Context, dir string, files templates.ProjectFiles) (work, error) {
	files = slices.Clone(files)
	for _, name := range []string{"clock.cpp", "process.hpp"} {
		text, err := testbench.ReadFile("testbench/" + name)
		if err != nil {
			return work{}, err
		}
		files = append(files, templates.GeneratedFile{Path: "hls/" + name, Data: text})
	}
	slices.SortFunc(files, func(a, b templates.GeneratedFile) int { return strings.Compare(a.Path, b.Path) })
	return work{ctx, filepath.Join(dir, "hls"), files}, files.WriteBelow(dir)
}

// prepare unpacks a project with stand-in modules for its processes.
func prepare(ctx context.Context, dir string, files templates.ProjectFiles) (work, error) {
	modules, err := standIns(files)
	if err != nil {
		return work{}, err
	}
	return unpack(ctx, dir, slices.Concat(files, modules))
}

// sources returns the Verilog and SystemVerilog files below a folder.
func (w work) sources(below string) (list []string) {
	for _, f := range w.files {
		name := strings.TrimPrefix(f.Path, "hls/")
		if ext := path.Ext(name); strings.HasPrefix(name, below) && (ext == ".v" || ext == ".sv") {
			list = append(list, name)
		}
	}
	return list
}

// build makes the program obj/bench. It does not optimise the C++, because that would take longer than it saves.
func (w work) build(top string, args ...string) error {
	args = slices.DeleteFunc(args, func(a string) bool { return a == "rtl/hlsgen_clock.sv" })
	_, err := w.run("verilator", slices.Concat([]string{"-O1"}, rtl.VerilatorFlags(), []string{"--cc", "--exe",
		"--build", "--prefix", "Vbench", "--top-module", top, "--Mdir", "obj", "-o", "bench", "-MAKEFLAGS",
		"OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 " + maketest.OneUnit, "clock.cpp"}, args)...)
	return err
}

// run runs a program. An error contains the program's output.
func (w work) run(name string, args ...string) (string, error) {
	if strings.Contains(name, "/") {
		name = filepath.Join(w.dir, name)
	}
	c := exec.CommandContext(w.ctx, name, args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "TMPDIR="+w.dir)
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w\n%.4000s", name, err, out)
	}
	return string(out), nil
}
