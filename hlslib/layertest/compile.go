package layertest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// A program is a fold to be compiled.
type program struct {
	*bound
	fold dataflow.Fold
}

// run compiles the programs together, calls each on its frames, and has every word it writes compared with Eval's. The
// warnings that count are those of synthesis: a pragma that g++ does not know is not one.
func run(t *testing.T, programs []program) {
	t.Helper()
	gxx, err := exec.LookPath("g++")
	if err != nil {
		t.Fatal("this test compiles generated C++: it needs g++ in the PATH")
	}
	if len(programs) == 0 {
		t.Fatal("no fold to compile")
	}
	trials := make([]templates.Trial, len(programs))
	who := map[string]string{}
	for i, p := range programs {
		name := fmt.Sprintf("%s_%d", p.op.Kind(), i)
		who[name] = fmt.Sprintf("%s, fold %+v", p.Name, p.fold)
		trials[i] = p.trial(name)
	}
	files, err := templates.Bench(trials)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	hls := filepath.Join(dir, "hls")
	command := func(name string, args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir = hls
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := command(gxx, "-std=c++14", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
		"-fsanitize=bounds", "-fno-sanitize-recover=bounds", "-Icsim", "-o", "csim.out", "layers.cpp", "tb/tb.cpp"); err != nil {
		t.Fatalf("g++: %v\n%.8000s", err, out)
	}
	out, err := command(filepath.Join(hls, "csim.out"), "tb/data")
	if err != nil || !strings.HasPrefix(lastLine(out), "PASS") {
		t.Errorf("%v\n%.4000s", err, out)
		for name, what := range who {
			if strings.Contains(out, name) {
				t.Errorf("%s is %s", name, what)
			}
		}
	}
}

// trial is the fold with what passes over its ports.
func (p program) trial(name string) templates.Trial {
	in, out := p.op.Ports(p.fold)
	return templates.Trial{
		Layer: templates.Layer{Name: name, Origin: []string{p.Name}, Instance: p.op.Emit(p.fold, target), In: in, Out: out},
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

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}
