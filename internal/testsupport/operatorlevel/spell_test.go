package operatorlevel_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/operatorlevel"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// benchOf returns the bench of a fold of a layer over the given number of frames.
func benchOf(t testing.TB, l layerOf, f dataflow.Fold, frames int) templates.ProjectFiles {
	r := rand.New(rand.NewPCG(7, 7))
	trial := templates.LayerTestCase{In: make([][]dataflow.Tensor, 1), Out: make([][]dataflow.Tensor, 1)}
	loop := l.op.Loop(f, dataflow.Target{})
	in, out := l.op.Ports(f)
	trial.Layer = templates.Layer{Name: "layer_0", Instance: l.op.Emit(f, dataflow.Target{}), In: in, Out: out}
	for range frames {
		x := dataflow.Tensor{Shape: l.in[0].Shape, Data: make([]int64, l.in[0].Shape.ElementCount())}
		for i := range x.Data {
			x.Data[i] = layertest.RandomInRange(r, l.in[0].ChannelRange(i%l.in[0].Shape.ChannelCount()))
			if !l.in[0].Elem.Holds(x.Data[i]) {
				x.Data[i] = l.in[0].ChannelRange(i % l.in[0].Shape.ChannelCount()).Lo
			}
		}
		trial.In[0] = append(trial.In[0], x)
		trial.Out[0] = append(trial.Out[0], l.op.Eval([]dataflow.Tensor{x})[0])
		trial.Calls = append(trial.Calls, loop.IterationsPerFrame())
	}
	files, err := templates.GenerateLayerBench([]templates.LayerTestCase{trial})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// spelled returns the files with the header of the layer's graph in the place of the kernel's.
func spelled(t testing.TB, files templates.ProjectFiles, l layerOf, f dataflow.Fold) templates.ProjectFiles {
	i := l.op.Emit(f, dataflow.Target{})
	g, _ := operatorlevel.GraphOf(l.op, l.in, f, dataflow.Target{})
	var list templates.ProjectFiles
	found := false
	for _, file := range files {
		if filepath.Base(file.Path) == i.Header {
			file.Data, found = []byte(g.Header(i)), true
		}
		list = append(list, file)
	}
	if !found {
		t.Fatalf("the bench has no %s", i.Header)
	}
	return list
}

// compiled compiles a bench with g++ and returns the folder that has it.
func compiled(t testing.TB, files templates.ProjectFiles, flags ...string) string {
	dir := t.TempDir()
	files = append(files[:len(files):len(files)], templates.GeneratedFile{Path: "hls/one.cpp",
		Data: []byte("#include \"layers.cpp\"\n#include \"tb/tb.cpp\"\n")})
	if err := files.WriteBelow(dir); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "g++", append(flags, "-std=c++14", "-Wno-unknown-pragmas", "-Icsim", "-I.",
		"-o", "csim.out", "one.cpp")...)
	c.Dir = filepath.Join(dir, "hls")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	return c.Dir
}

// execute runs a compiled bench, and returns the CPU time that it took.
func execute(t testing.TB, dir string) time.Duration {
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "csim.out"), "tb/data")
	c.Dir = dir
	out, err := c.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || !strings.HasPrefix(lines[len(lines)-1], "PASS") {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// TestSpelled runs the C++ that is spelled from graphs of drawn layers against Eval.
func TestSpelled(t *testing.T) {
	tier.Needs(t, "g++")
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	times := 1
	if tier.Long() {
		times = 8
	}
	for n := range times {
		for k, draw := range []func(*rand.Rand) layertest.Case{randomtest.MVAU, randomtest.DrawRequantMVAU,
			randomtest.Threshold, randomtest.Pool} {
			c := draw(r)
			op, _, err := c.Op.Bind(c.In)
			if err != nil {
				continue
			}
			folds := foldsOf(op)
			f := folds[r.IntN(len(folds))]
			if f.Steps == dataflow.SerialStepEvaluation {
				continue
			}
			t.Run(fmt.Sprint(n, k), func(t *testing.T) {
				l := layerOf{op, c.In}
				files := spelled(t, benchOf(t, l, f, 3), l, f)
				execute(t, compiled(t, files, "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-label"))
			})
		}
	}
}
