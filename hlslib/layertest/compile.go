package layertest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
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

// run compiles the programs together in dir with gxx, calls each on its frames, and has every word it writes compared
// with Eval's, and the iterations in which it moves words with Loop's. Every warning is an error; the pragmas of HLS are none. A table read beyond its end is one when it
// happens.
func run(ctx context.Context, gxx, dir string, programs []program) error {
	if len(programs) == 0 {
		return errors.New("no fold to compile")
	}
	trials, files, err := bench(programs)
	if err != nil {
		return err
	}
	if files, err = probed(files); err != nil {
		return err
	}
	if err := files.Write(dir); err != nil {
		return err
	}
	command := func(name string, args ...string) (string, error) {
		c := exec.CommandContext(ctx, name, args...)
		c.Dir = filepath.Join(dir, "hls")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := command(gxx, "-std=c++14", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fsanitize=bounds",
		"-fno-sanitize-recover=bounds", "-Icsim", "-o", "csim.out", "layers.cpp", "tb/tb.cpp")
	if err != nil {
		return failed(checkCompiler, "g++: %w\n%.8000s", err, out)
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
	return failed(checkOutput, "compiled C++: %v\n%.4000s%s", err, out, who.String())
}

// lint holds the C++ of the folds against what Vitis HLS accepts, and their memories, which are priced as the instance
// says (checkCost), against the bindings in the text.
func lint(programs []program) error {
	trials, files, err := bench(programs)
	if err != nil {
		return err
	}
	storage := map[string][]dataflow.Storage{}
	for _, t := range trials {
		storage[t.Name] = t.Instance.Storage
	}
	if err := complain(checkText, templates.Lint(files)); err != nil {
		return err
	}
	return complain(checkStorage, templates.LintStorage(files, storage))
}

// complain is the problems of a lint as a failure of the check; nil where there are none.
func complain(check string, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	some := strings.Join(problems[:min(10, len(problems))], "\n")
	return failed(check, "%d problems in the C++ of all folds, among them\n%s", len(problems), some)
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
	return trials, files, err
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
