package layertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// A program is a fold to be compiled.
type program struct {
	*bound
	fold dataflow.Fold
}

// together is how many folds are compiled in one project.
const together = 100

// run compiles the programs with gxx, some together in a folder of dir, and holds them against the checks of the
// compiled C++; then folds of one case against each other.
func run(ctx context.Context, gxx, dir string, programs []program) error {
	if len(programs) == 0 {
		return errors.New("no fold to compile")
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

// runProject compiles the programs together in dir, calls each on its frames, and has every word it writes compared with
// Eval's, and the iterations in which it moves words with Loop's. It gives what each computes. Every warning is an error;
// the pragmas of HLS are none. A table read beyond its end is one when it happens.
func runProject(ctx context.Context, gxx, dir string, programs []program) ([]work, error) {
	trials, files, err := bench(programs)
	if err != nil {
		return nil, err
	}
	if files, err = probed(files); err != nil {
		return nil, err
	}
	if err := files.Write(dir); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	command := func(name string, args ...string) (string, error) {
		c := exec.CommandContext(ctx, name, args...)
		c.Dir = filepath.Join(dir, "hls")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := command(gxx, "-std=c++14", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fsanitize=bounds",
		"-fno-sanitize-recover=bounds", "-Icsim", "-o", "csim.out", "layers.cpp", "tb/tb.cpp")
	if err != nil {
		return nil, failed(checkCompiler, "g++: %w\n%.8000s", err, out)
	}
	out, err = command(filepath.Join(dir, "hls", "csim.out"), "tb/data")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); err == nil && strings.HasPrefix(lines[len(lines)-1], "PASS") {
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

// lint has the C++ of all folds written, which templates lint: the text against what Vitis HLS accepts, and the bindings
// in it against the instance's memories, which are priced as that says (checkStorage).
func lint(programs []program) error {
	for some := range slices.Chunk(programs, together) {
		if _, _, err := bench(some); err != nil {
			return err
		}
	}
	return nil
}

// bench is the project of the programs.
func bench(programs []program) ([]templates.Trial, templates.Files, error) {
	trials := make([]templates.Trial, len(programs))
	var headers []hlslib.Header
	for i, p := range programs {
		trials[i] = p.trial(i)
		if i == 0 || p.bound != programs[i-1].bound {
			headers = append(headers, p.Headers...)
		}
	}
	files, err := templates.Bench(trials, headers...)
	var f *templates.Findings
	switch {
	case !errors.As(err, &f):
		err = named(checkInstance, err)
	case len(f.Text) > 0:
		err = complain(checkText, f.Text)
	default:
		err = complain(checkStorage, f.Memory)
	}
	return trials, files, err
}

// complain is the findings of a lint as a failure of the check.
func complain(check string, findings []string) error {
	some := strings.Join(findings[:min(10, len(findings))], "\n")
	return failed(check, "%d findings in the C++, among them\n%s", len(findings), some)
}

// trial is the fold with what passes over its ports. Its name has leading zeros, so that none is part of another.
func (p program) trial(i int) templates.Trial {
	in, out := p.op.Ports(p.fold)
	return templates.Trial{
		Layer: templates.Layer{Name: fmt.Sprintf("%s_%04d", p.op.Kind(), i), Origin: []string{p.Name}, Instance: p.op.Emit(p.fold, target), In: in, Out: out},
		In:    byPort(p.frames),
		Out:   byPort(p.want),
	}
}

// byPort turns [frame][port] into [port][frame].
func byPort(frames [][]dataflow.Tensor) [][]dataflow.Tensor {
	ports := make([][]dataflow.Tensor, len(frames[0]))
	for _, f := range frames {
		for i, v := range f {
			ports[i] = append(ports[i], v)
		}
	}
	return ports
}
