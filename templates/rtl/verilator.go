package rtl

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// VerilatorUnrollLimit is the number of iterations up to which Verilator must unroll a loop: one over the bits of any
// word.
var VerilatorUnrollLimit = strconv.Itoa(dataflow.MaxWordBits + 1)

// VerilatorFlags returns the flags with which Verilator compiles every model. They have to stand behind an -O, which
// would undo the last: Verilator 5.006 makes some trees of bit operations to others that compute something else.
func VerilatorFlags() []string {
	return []string{"--unroll-count", VerilatorUnrollLimit, "-Wno-fatal", "-Wno-lint", "--x-assign", "unique",
		"--x-initial", "unique", "-fno-const-bit-op-tree"}
}

// A BenchPace says how often the host moves words at one side of a bench: one in Every clocks at most, where 0 counts
// as 1. It pauses in Stall percent of the clocks, at random from Seed.
type BenchPace struct {
	Every, Stall int
	Seed         uint64
}

// A CompiledBench is a bench that has been compiled, in its folder.
type CompiledBench struct{ dir string }

// compilers lists the compilers for benches; the first one that works is used. Without optimisation, clang++ takes
// half as long as g++.
var compilers = []string{"clang++", "g++"}

// The most clocks of a bench for which optimisation does not pay. For unrolled code, Verilator takes a minute to
// optimise a second of simulation, and a compiler minutes.
const (
	briefly                   = 20_000  // Verilator
	MaxUnoptimisedBenchClocks = 131_072 // the compiler
)

// CompileBench writes the files of a bench below the folder dir, and compiles it with Verilator and a C++ compiler.
// clocks is the number that the bench will run in total, by which it decides whether to optimise. Files that depend on
// no design are kept in the user's cache.
func CompileBench(ctx context.Context, dir string, files templates.ProjectFiles, clocks int) (*CompiledBench, error) {
	if err := files.WriteBelow(dir); err != nil {
		return nil, err
	}
	p := &CompiledBench{filepath.Join(dir, "rtl")}
	optimise := "-O3"
	if clocks <= briefly {
		optimise = "-O0"
	}
	args := slices.Concat([]string{optimise}, VerilatorFlags(), []string{"--cc", "--prefix", "Vbench", "--top-module",
		"hlsgen_bench", "--Mdir", "obj"}, ListSourcePaths(files, true))
	if _, err := p.run(ctx, "verilator", args...); err != nil {
		return nil, err
	}
	include, err := p.include(ctx)
	if err != nil {
		return nil, err
	}
	made, err := p.prebuilt(ctx, include)
	if err != nil {
		return nil, err
	}
	objects, err := p.objects(ctx, made, include, clocks > MaxUnoptimisedBenchClocks)
	if err != nil {
		return nil, err
	}
	args = slices.Concat([]string{"-o", "obj/bench"}, objects, made.objects, []string{"-pthread", "-latomic"})
	_, err = p.run(ctx, made.compiler, args...)
	return p, err
}

// include returns the folder of Verilator's headers.
func (p *CompiledBench) include(ctx context.Context) (string, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, "obj", "Vbench.mk"))
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if root, ok := strings.CutPrefix(line, "VERILATOR_ROOT = "); ok {
			return filepath.Join(strings.TrimSpace(root), "include"), ctx.Err()
		}
	}
	return "", fmt.Errorf("verilator: no VERILATOR_ROOT in Vbench.mk")
}

// kept returns the folder for files that depend on no design. It is in the user's cache or, if that is not possible, in
// the project.
func (p *CompiledBench) kept() string {
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "hlsgen")
		if os.MkdirAll(dir, 0o777) == nil && writable(dir) {
			return dir
		}
	}
	return filepath.Join(p.dir, "obj")
}

// writable reports whether files can be made in a folder, which must exist.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, "try-*")
	if err != nil {
		return false
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}

// A prebuilt holds the files that depend on no design: objects, and precompiled headers for unoptimised code.
type prebuilt struct {
	compiler, headers string
	objects           []string
}

// prebuilt returns the prebuilt files of the first compiler that can make them.
func (p *CompiledBench) prebuilt(ctx context.Context, include string) (*prebuilt, error) {
	var errs []error
	for _, name := range compilers {
		if _, err := exec.LookPath(name); err != nil {
			errs = append(errs, err)
			continue
		}
		made, err := p.prebuiltBy(ctx, name, include)
		if err == nil {
			return made, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// prebuiltBy makes the prebuilt files with a compiler, unless the cache has them. The name of the folder is a hash of
// everything that they depend on.
func (p *CompiledBench) prebuiltBy(ctx context.Context, compiler, include string) (*prebuilt, error) {
	version, err := p.run(ctx, compiler, "--version")
	if err != nil {
		return nil, err
	}
	sources := []string{filepath.Join(include, "verilated.cpp"), filepath.Join(include, "verilated_threads.cpp"),
		filepath.Join(p.dir, "bench", "bench.cpp")}
	h := sha256.New()
	fmt.Fprintln(h, compiler, version, flags(include))
	own := filepath.Join(p.dir, "bench", "bench.hpp")
	headers := []string{filepath.Join(include, "verilated_config.h"), filepath.Join(include, "verilated.h"), own}
	for _, s := range append(headers, sources...) {
		text, err := os.ReadFile(s)
		if err != nil {
			return nil, err
		}
		h.Write(text)
	}
	dir := filepath.Join(p.kept(), fmt.Sprintf("verilated-%x", h.Sum(nil)[:8]))
	made := &prebuilt{compiler: compiler, headers: filepath.Join(dir, "all.hpp")}
	for _, s := range sources {
		made.objects = append(made.objects, filepath.Join(dir, strings.TrimSuffix(filepath.Base(s), ".cpp")+".o"))
	}
	if _, err := os.Stat(made.headers + ".gch"); err == nil {
		return made, nil
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "verilated-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(fresh)
	for i, s := range sources {
		object := filepath.Join(fresh, filepath.Base(made.objects[i]))
		args := slices.Concat([]string{"-O1", "-c"}, flags(include), []string{"-o", object, s})
		if _, err := p.run(ctx, compiler, args...); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(own)
	if err != nil {
		return nil, err
	}
	text = append([]byte("#include \"verilated.h\"\n"), text...)
	if err := os.WriteFile(filepath.Join(fresh, filepath.Base(made.headers)), text, 0o666); err != nil {
		return nil, err
	}
	if err := os.Rename(fresh, dir); err != nil {
		if _, there := os.Stat(dir); there != nil { // otherwise another process was faster
			return nil, err
		}
	}
	return made, p.precompile(ctx, made, include)
}

// precompile compiles the headers at their final path, because clang++ looks for them there when it uses the result.
// Both g++ and clang++ use the result if the headers are included first, by option.
func (p *CompiledBench) precompile(ctx context.Context, made *prebuilt, include string) error {
	fresh, err := os.CreateTemp(filepath.Dir(made.headers), "all-*")
	if err != nil {
		return err
	}
	fresh.Close()
	defer os.Remove(fresh.Name())
	args := slices.Concat([]string{"-O0"}, flags(include),
		[]string{"-x", "c++-header", "-o", fresh.Name(), made.headers})
	if _, err := p.run(ctx, made.compiler, args...); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), made.headers+".gch")
}

// ListSourcePaths returns the SystemVerilog files of a project, relative to its folder rtl, with or without those of
// benches.
func ListSourcePaths(files templates.ProjectFiles, bench bool) (list []string) {
	for _, f := range files {
		name := strings.TrimPrefix(f.Path, "rtl/")
		if path.Ext(name) == ".sv" && (bench || !strings.HasPrefix(name, "bench/")) {
			list = append(list, name)
		}
	}
	return list
}

// Run runs the bench, with the host's paces at inputs and outputs, and returns its output. A bench that reports a
// failure is no error.
func (p *CompiledBench) Run(ctx context.Context, in, out BenchPace) (string, error) {
	args := []string{"+data=bench/data"}
	for _, side := range []struct {
		name string
		BenchPace
	}{{"in", in}, {"out", out}} {
		args = append(args, fmt.Sprintf("+%s_every=%d", side.name, max(1, side.Every)),
			fmt.Sprintf("+%s_stall=%d", side.name, side.Stall), fmt.Sprintf("+%s_seed=%d", side.name, side.Seed))
	}
	said, err := p.run(ctx, filepath.Join(p.dir, "obj", "bench"), args...)
	if err != nil && strings.Contains(said, "FAIL") { // the output reports the failure
		err = nil
	}
	return said, err
}

// run runs a command in the bench's folder and returns its output. An error contains the output.
func (p *CompiledBench) run(ctx context.Context, name string, args ...string) (string, error) {
	c := templates.NewKillableCommand(ctx, p.dir, append([]string{name}, args...))
	c.Env = append(os.Environ(), "TMPDIR="+p.dir)
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w\n%.4000s", filepath.Base(name), err, out)
	}
	return string(out), nil
}
