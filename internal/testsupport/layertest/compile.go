package layertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hlsgen/templates"
)

// unit joins layers and test bench to one translation unit, which compiles in two thirds of the time of two.
const unit = "#include \"layers.cpp\"\n#include \"tb/tb.cpp\"\n"

// run compiles the programs with gxx, several together in a folder of dir, and runs the checks of compiled C++. Then
// it compares the folds of each case with each other.
func run(ctx context.Context, gxx, dir string, programs []program) error {
	if len(programs) == 0 {
		return fmt.Errorf("no fold to compile")
	}
	var done []work
	for some := range slices.Chunk(programs, together) {
		works, err := runProject(ctx, gxx, filepath.Join(dir, strconv.Itoa(len(done))), some)
		if err != nil {
			return err
		}
		done = append(done, works...)
	}
	return checkGrowths(programs, done)
}

// runProject compiles the programs together in dir, and calls each on its frames. It compares every written word with
// Eval, and the iterations that move words with Loop. It returns the work of each program. Every compiler warning is
// an error, except unknown pragmas; a read beyond the end of a table fails at run time.
func runProject(ctx context.Context, gxx, dir string, programs []program) ([]work, error) {
	trials, files, err := bench(programs)
	if err != nil {
		return nil, err
	}
	return compile(ctx, gxx, dir, programs, trials, files)
}

// compile is runProject for trials and files that bench has returned for the programs.
func compile(ctx context.Context, gxx, dir string, programs []program, trials []templates.LayerTestCase,
	files templates.ProjectFiles) ([]work, error) {
	files, err := probed(files)
	if err != nil {
		return nil, err
	}
	files = append(files, templates.GeneratedFile{Path: "hls/one.cpp", Data: []byte(unit)})
	if err := files.WriteBelow(dir); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	command := func(name string, args ...string) (string, error) {
		c := exec.CommandContext(ctx, name, args...)
		c.Dir = filepath.Join(dir, "hls")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := command(gxx, "-std=c++14", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
		"-Wno-unused-label", "-fsanitize=bounds", "-fno-sanitize-recover=bounds", "-Icsim", "-I.", "-o", "csim.out",
		"one.cpp")
	if err != nil {
		return nil, failed(checkCompiler, "g++: %w\n%.8000s", err, out)
	}
	out, err = command(filepath.Join(dir, "hls", "csim.out"), "tb/data")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err == nil && strings.HasPrefix(lines[len(lines)-1], "PASS") {
		return checkLoops(dir, trials, programs)
	}
	var who strings.Builder
	for i, t := range trials {
		if strings.Contains(out, t.Name) {
			fmt.Fprintf(&who, "\n%s is %q, fold %+v", t.Name, programs[i].Name, programs[i].fold)
		}
	}
	return nil, failed(checkOutput, "compiled C++: %v\n%.4000s%s", err, out, who.String())
}
