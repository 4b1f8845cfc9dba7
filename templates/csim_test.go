package templates_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// project generates the files of a design with random frames.
func project(t testing.TB, d *dataflow.Design, frames int) (templates.ProjectFiles, templates.TestVectors) {
	t.Helper()
	v := vectors(t, d, frames, 9)
	files, err := templates.GenerateHLSProject(d, v, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return files, v
}

// storage is the memories of a design's layers.
func storage(d *dataflow.Design) map[string][]dataflow.Storage {
	all := map[string][]dataflow.Storage{}
	for i, n := range d.Model.Graph.Nodes {
		all[n.Name] = n.Op.Emit(d.Folds[i], d.Target).Storage
	}
	return all
}

// run compiles and runs a project.
func run(t *testing.T, files templates.ProjectFiles, c templates.CSimOptions) *templates.CSimResult {
	t.Helper()
	tier.Needs(t, "g++")
	o, err := templates.RunCSim(context.Background(), files, c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// edit replaces text in one file.
func edit(t *testing.T, files templates.ProjectFiles, path, from, to string) templates.ProjectFiles {
	t.Helper()
	files = slices.Clone(files)
	for i, f := range files {
		if f.Path == path && bytes.Contains(f.Data, []byte(from)) {
			files[i].Data = bytes.Replace(f.Data, []byte(from), []byte(to), 1)
			return files
		}
	}
	t.Fatalf("%s has no %q", path, from)
	return nil
}

// TestCSim compiles networks. It compares every layer, and the network's words after reading them back, with Eval. One
// network has its tables in the form that synthesis sees; its reads of AXI4-Streams do not wait, as in any C
// simulation.
func TestCSim(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		design func(testing.TB) *dataflow.Design
		cxx    string
	}{
		{"keeping", keeping, ""},
		{"forked", forked, ""},
		{"twins", twins, ""},
		{"tfc", tfc, ""},
		{"small as synthesised", small, "g++ -D__SYNTHESIS__"},
	}
	for _, c := range cases[:tier.CasesToRun(len(cases))] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := c.design(t)
			files, v := project(t, d, 3)
			for i, f := range files {
				if c.cxx != "" && strings.HasSuffix(f.Path, "/core/axis.hpp") {
					files[i].Data = bytes.ReplaceAll(f.Data, []byte("#ifdef __SYNTHESIS__"), []byte("#if 0"))
				}
			}
			o := run(t, files, templates.CSimOptions{CXX: c.cxx})
			if !o.Passed || len(o.Verdicts) != 1+len(d.Model.Graph.Nodes) {
				t.Fatalf("%+v", o)
			}
			got, err := o.OutputTensors(d, templates.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var want [][]dataflow.Tensor
			for _, frame := range v.Frames {
				var outs []dataflow.Tensor
				for _, s := range d.Model.Graph.Out {
					outs = append(outs, frame[s])
				}
				want = append(want, outs)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// TestCSimFinds checks that a wrong table and a wrong recording are reported with layer, stream, frame and word.
func TestCSimFinds(t *testing.T) {
	t.Parallel()
	files, _ := project(t, small(t), 2)
	files = edit(t, files, "hls/tables/MVAU_2_weights.hpp", "{0x", "{0x1+0x")
	text := string(files.ContentsOf("hls/tb/data/s3.dat")) // two digits a line, eight words a frame
	at := 3 * (8 + 4)
	right := text[at : at+2]
	wrong := right[:1] + string("0123456789abcdef"[strings.IndexByte("0123456789abcdef", right[1])^1])
	files = edit(t, files, "hls/tb/data/s3.dat", text, text[:at]+wrong+text[at+2:])
	o := run(t, files, templates.CSimOptions{})
	if o.Passed || len(o.Verdicts) != 7 {
		t.Fatalf("%+v", o)
	}
	for _, verdict := range o.Verdicts {
		want := map[string]string{
			"small_top":                     "stream s6, frame 0, word 0: got 0x",
			"MVAU_0":                        "stream s3, frame 1, word 4: got 0x" + right + ", want 0x" + wrong,
			"StreamingDataWidthConverter_1": "stream s4, frame 1, word 3: got 0x",
			"MVAU_2":                        "stream s6, frame 0, word 0: got 0x",
		}[verdict.Name]
		if verdict.OK != (want == "") || !strings.HasPrefix(verdict.Message, want) {
			t.Errorf("got %+v, want %q", verdict, want)
		}
	}
	if !strings.HasSuffix(o.Log, "FAIL 4 of 7 checks on 2 frames\n") {
		t.Errorf("got %s", o.Log)
	}
}

// TestCSimEnds checks that a layer that reads a missing word ends the program, and that the verdict names it and its
// stream. The layers stand alone in a bench.
func TestCSimEnds(t *testing.T) {
	t.Parallel()
	d := small(t)
	v := vectors(t, d, 2, 4)
	var trials []templates.LayerTestCase
	for i, n := range d.Model.Graph.Nodes[:2] {
		in, out := n.Op.Ports(d.Folds[i])
		trial := templates.LayerTestCase{
			Layer: templates.Layer{Name: "Trial_" + n.Name, Origin: n.Origin, Instance: n.Op.Emit(d.Folds[i], d.Target),
				In: in, Out: out, Calls: slices.Repeat([]int{n.Op.Loop(d.Folds[i], d.Target).IterationsPerFrame()}, 2)},
			In: make([][]dataflow.Tensor, 1), Out: make([][]dataflow.Tensor, 1),
		}
		for _, f := range v.Frames {
			trial.In[0], trial.Out[0] = append(trial.In[0], f[n.In[0]]), append(trial.Out[0], f[n.Out[0]])
		}
		trials = append(trials, trial)
	}
	trials[0], trials[1] = trials[1], trials[0]
	files, err := templates.GenerateLayerBench(trials)
	if err != nil {
		t.Fatal(err)
	}
	files = edit(t, files, "hls/include/hlsgen/threshold.hpp", "if (in.empty()) return;\n", "")
	o := run(t, files, templates.CSimOptions{})
	want := []templates.LayerVerdict{
		{Name: "Trial_StreamingDataWidthConverter_0", OK: true},
		{Name: "Trial_Thresholding_0",
			Message: "hls::stream Trial_Thresholding_0.in is empty and is read, words so far: 16"},
	}
	if o.Passed || !slices.Equal(o.Verdicts, want) {
		t.Errorf("got %+v, want %+v", o, want)
	}
}

func TestCSimErrors(t *testing.T) {
	t.Parallel()
	files := templates.ProjectFiles{{Path: "hls/layers.cpp", Data: []byte("#error broken\n")}}
	var missing *templates.NoCompilerError
	if _, err := templates.RunCSim(context.Background(), files,
		templates.CSimOptions{CXX: "no-such-compiler -O1"}); !errors.As(err, &missing) ||
		err.Error() != "no C++ compiler found: tried no-such-compiler -O1" {
		t.Errorf("got %v", err)
	}
	escape := templates.ProjectFiles{{Path: "../outside"}}
	if err := escape.WriteBelow(t.TempDir()); err == nil {
		t.Error("a path that leaves the folder was written")
	}
}

// TestCSimFails checks that messages of the compiler are passed on, and that a run ends when its time is over.
func TestCSimFails(t *testing.T) {
	t.Parallel()
	files := templates.ProjectFiles{{Path: "hls/layers.cpp", Data: []byte("#error broken\n")}}
	t.Run("broken", func(t *testing.T) {
		tier.Needs(t, "g++")
		_, err := templates.RunCSim(context.Background(), files, templates.CSimOptions{})
		if err == nil || !strings.Contains(err.Error(), "error broken") {
			t.Errorf("got %v", err)
		}
	})
	sh := tier.Needs(t, "sh")[0]
	slow := filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(slow, []byte("#!"+sh+"\nsleep 1000000 | cat\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := templates.RunCSim(context.Background(), files, templates.CSimOptions{CXX: slow,
		Timeout: 100 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := templates.RunCSim(ctx, files, templates.CSimOptions{CXX: slow}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestMakefile builds as a user does, with the headers from another folder. It runs the test bench in the folder where
// Vitis runs it, beside a copy of the folder data.
func TestMakefile(t *testing.T) {
	t.Parallel()
	make := tier.Needs(t, "make", "g++")[0]
	files, _ := project(t, small(t), 2)
	dir := t.TempDir()
	if err := files.WriteBelow(dir); err != nil {
		t.Fatal(err)
	}
	hls, include := filepath.Join(dir, "hls"), filepath.Join(dir, "the vendor's include")
	if err := os.Rename(filepath.Join(hls, "csim"), include); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(make, "-j2", "csim", "HLS_INCLUDE="+include, "CXXFLAGS=-O0", "RUN=", "BUILD=build")
	cmd.Dir = hls
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("\nPASS 7 checks on 2 frames\n")) {
		t.Fatalf("%v\n%s", err, out)
	}
	words, err := os.ReadFile(filepath.Join(hls, "build", "output.txt"))
	if err != nil || bytes.Count(words, []byte("m_axis_0 ")) != 2*2 {
		t.Errorf("%v\n%s", err, words)
	}
	bench := exec.Command(filepath.Join(hls, "build", "csim"))
	bench.Dir = filepath.Join(hls, "tb")
	if out, err := bench.CombinedOutput(); err != nil || !bytes.HasSuffix(out, []byte("PASS 7 checks on 2 frames\n")) {
		t.Errorf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{"s2.dat": "zzzz\n", "s3.dat": "00\n", "frames.txt": "x"} {
		if err := os.WriteFile(filepath.Join(hls, "tb", "data", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		broken := exec.Command(filepath.Join(hls, "build", "csim"), "tb/data")
		broken.Dir = hls
		out, err := broken.CombinedOutput()
		if err == nil || !strings.HasPrefix(lastLine(string(out)), "FAIL ") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// TestSyntax has compilers read the project as synthesis sees it, with every warning an error.
func TestSyntax(t *testing.T) {
	t.Parallel()
	cases := []struct {
		cxx    string
		design func(testing.TB) *dataflow.Design
	}{{"clang++", small}, {"g++", small}, {"clang++", forked}, {"g++", forked}}
	for _, c := range cases[:tier.CasesToRun(len(cases))] {
		d := c.design(t)
		t.Run(c.cxx+" "+d.Model.Name, func(t *testing.T) {
			t.Parallel()
			tier.Needs(t, c.cxx)
			files, _ := project(t, d, 1)
			dir := t.TempDir()
			if err := files.WriteBelow(dir); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"top.cpp", "layers.cpp", "tb/tb.cpp"} {
				args := []string{"-std=c++14", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
					"-Wno-unused-label", "-fsyntax-only", "-Icsim", file}
				if file != "tb/tb.cpp" {
					args = append(args, "-D__SYNTHESIS__")
				}
				cmd := exec.Command(c.cxx, args...)
				cmd.Dir = filepath.Join(dir, "hls")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%.3000s", file, err, out)
				}
			}
		})
	}
}
