package rtl

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

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

// Compile writes the files of a bench below a folder, and has Verilator and g++ make it. optimise is for benches that
// run long: it takes g++ several times as long.
func Compile(ctx context.Context, dir string, files templates.Files, optimise bool) (*Program, error) {
	if err := files.Write(dir); err != nil {
		return nil, err
	}
	p := &Program{filepath.Join(dir, "rtl")}
	args := []string{"--cc", "--unroll-count", Unrolled, "-Wno-fatal", "-Wno-lint", "--x-assign", "unique",
		"--x-initial", "unique", "--prefix", "Vbench", "--top-module", "hlsgen_bench", "--Mdir", "obj"}
	if _, err := p.run(ctx, "verilator", append(args, Sources(files, true)...)...); err != nil {
		return nil, err
	}
	include, err := p.include(ctx)
	if err != nil {
		return nil, err
	}
	flags := []string{"-std=gnu++17", "-I", include, "-I", filepath.Join(include, "vltstd"), "-I", "obj", "-I", "bench",
		"-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE=0", "-w"}
	shared, err := p.runtime(ctx, include, flags)
	if err != nil {
		return nil, err
	}
	objects, err := p.objects(ctx, flags, optimise)
	if err != nil {
		return nil, err
	}
	_, err = p.run(ctx, "g++", slices.Concat([]string{"-o", "obj/bench"}, objects, shared, []string{"-pthread"})...)
	return p, err
}

// unitBytes is how much text g++ optimises at once: it takes more than twice as long for twice as much.
const unitBytes = 1 << 20

// objects compiles what Verilator has made of a design.
func (p *Program) objects(ctx context.Context, flags []string, optimise bool) (objects []string, err error) {
	texts, err := filepath.Glob(filepath.Join(p.dir, "obj", "Vbench*.cpp"))
	if err != nil {
		return nil, err
	}
	slices.Sort(texts)
	// As few units as can be: to read the headers takes longer than to compile most texts. What Verilator calls slow
	// runs once.
	units := []unit{{level: "-O0", text: "#include \"main.cpp\"\n"}}
	for _, text := range texts {
		info, err := os.Stat(text)
		if err != nil {
			return nil, err
		}
		to := 0
		if optimise && !strings.HasSuffix(text, "Slow.cpp") {
			if to = len(units) - 1; to == 0 || units[to].bytes+info.Size() > unitBytes {
				units = append(units, unit{level: "-O1"})
				to++
			}
		}
		units[to].text += fmt.Sprintf("#include \"%s\"\n", filepath.Base(text))
		units[to].bytes += info.Size()
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, u := range units {
		name := fmt.Sprintf("obj/unit%d", i)
		objects = append(objects, name+".o")
		if err := os.WriteFile(filepath.Join(p.dir, name+".cpp"), []byte(u.text), 0o666); err != nil {
			return nil, err
		}
		g.Go(func() error {
			args := slices.Concat([]string{u.level, "-c"}, flags, []string{"-o", name + ".o", name + ".cpp"})
			_, err := p.run(ctx, "g++", args...)
			return err
		})
	}
	return objects, g.Wait()
}

// A unit is texts that are compiled as one.
type unit struct {
	level string // of optimisation
	text  string // that includes them
	bytes int64
}

// include is where Verilator's headers are.
func (p *Program) include(ctx context.Context) (string, error) {
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

// kept is the folder for what does not depend on a design: in the user's cache, or where none can be made, that of the
// project.
func (p *Program) kept() string {
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "hlsgen")
		if os.MkdirAll(dir, 0o777) == nil && writable(dir) {
			return dir
		}
	}
	return filepath.Join(p.dir, "obj")
}

// writable reports whether files can be made in a folder.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, "try-*")
	if err != nil {
		return false
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}

// runtime compiles what does not depend on a design, once: it is kept in the user's cache.
func (p *Program) runtime(ctx context.Context, include string, flags []string) (objects []string, err error) {
	sources := []string{filepath.Join(include, "verilated.cpp"), filepath.Join(include, "verilated_threads.cpp"),
		filepath.Join(p.dir, "bench", "bench.cpp")}
	h := sha256.New()
	fmt.Fprintln(h, flags)
	headers := []string{filepath.Join(include, "verilated.h"), filepath.Join(p.dir, "bench", "bench.hpp")}
	for _, s := range append(headers, sources...) {
		text, err := os.ReadFile(s)
		if err != nil {
			return nil, err
		}
		h.Write(text)
	}
	dir := filepath.Join(p.kept(), fmt.Sprintf("verilated-%x", h.Sum(nil)[:8]))
	for _, s := range sources {
		objects = append(objects, filepath.Join(dir, strings.TrimSuffix(filepath.Base(s), ".cpp")+".o"))
	}
	if _, err := os.Stat(dir); err == nil {
		return objects, nil
	}
	own, err := os.MkdirTemp(filepath.Dir(dir), "verilated-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(own)
	for i, s := range sources {
		object := filepath.Join(own, filepath.Base(objects[i]))
		args := slices.Concat([]string{"-O1", "-c"}, flags, []string{"-o", object, s})
		if _, err := p.run(ctx, "g++", args...); err != nil {
			return nil, err
		}
	}
	if err := os.Rename(own, dir); err != nil {
		if _, there := os.Stat(dir); there != nil { // else somebody else was first
			return nil, err
		}
	}
	return objects, nil
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
	said, err := p.run(ctx, filepath.Join(p.dir, "obj", "bench"), args...)
	if err != nil && strings.Contains(said, "FAIL") { // which is what it has to say
		err = nil
	}
	return said, err
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
