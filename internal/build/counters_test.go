package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// TestCounters reads the counters of Verilated designs, after frames at full speed and where results are taken now and
// then: they are those of the simulation, for every stream. Where frames are through they stand still; a word that is
// written clears them, and part of one does not. The frames that come then count as those behind a reset, but where a
// layer has begun the next frame meanwhile, padding or products of what it keeps: there they count as those after them.
func TestCounters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model    string
		interval int
		early    bool // a layer begins a frame before its first word
		long     bool
	}{
		{"digits-mlp-w2a2", 24, false, false},
		{"digits-conv1d-w4a4", 3000, true, false},
		{"digits-cnn-w4a4", 10_000, true, true},
		{"bilstm-h32-w4a4", 10_000, true, true},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			if c.long {
				tier.NeedsLong(t)
			}
			tools := tier.Needs(t, "verilator", "g++", "clang++")
			m := models.Find(t, c.model)
			o := Options{Source: options.Source{Model: m.Path("model.onnx")},
				Hardware: options.Hardware{Board: "zcu104",
					Backend: options.BackendRTL, Counters: true}, Goal: options.Goal{Interval: float64(c.interval)},
				Verification: options.Verification{NoCSim: true, Verify: 1},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
			var d diag.List
			r, err := Run(context.Background(), o, &d)
			if err != nil || r == nil {
				t.Fatal(err, d.Diags)
			}
			design := r.Design.Design
			program := countersBench(t, tools[0], design, filepath.Join(o.Out, "rtl"))
			waited := rtlsim.StreamWaitClocks{}
			for _, stall := range []int{0, 60} {
				const frames, seed = 3, 5
				trace, err := rtlsim.RunFrames(context.Background(), design, nil,
					rtlsim.Options{Frames: frames, Out: rtlsim.HostSlowdown{Stall: stall, Seed: seed}})
				if err != nil {
					t.Fatal(err)
				}
				want := trace.AcceleratorCounters(design)
				run := exec.Command(program, fmt.Sprint(frames), fmt.Sprint(stall), fmt.Sprint(seed))
				run.Dir = filepath.Join(o.Out, "rtl")
				said, err := run.CombinedOutput()
				if err != nil || strings.Contains(string(said), "FAIL") {
					t.Fatalf("%v\n%s", err, said)
				}
				all := words(want)
				wants := map[string][]int{"reset": all, "kept": all, "again": all, "later": all}
				if c.early {
					wants["again"] = countersSaid(t, string(said), "later")
					delete(wants, "later")
				}
				for when, want := range wants {
					if got := countersSaid(t, string(said), when); !slices.Equal(got, want) {
						t.Errorf("stall %d, %s:\n%d, want\n%d", stall, when, got, want)
					}
				}
				if got := countersSaid(t, string(said), "clear"); slices.Max(got) != 0 {
					t.Errorf("after a write: %d", got)
				}
				for _, s := range want.Streams {
					waited.Stalled, waited.Starved = waited.Stalled+s.Stalled, waited.Starved+s.Starved
				}
			}
			if waited.Stalled == 0 || waited.Starved == 0 {
				t.Errorf("nothing waits: %+v", waited)
			}
		})
	}
}

// words are counters in the order of the registers.
func words(c rtlsim.AcceleratorCounters) []int {
	list := []int{c.Frames, c.Clocks}
	for _, s := range c.Streams {
		list = append(list, s.Stalled, s.Starved)
	}
	return list
}

// countersSaid is what testdata/counters.cpp has read.
func countersSaid(t *testing.T, said, when string) (list []int) {
	t.Helper()
	for _, line := range strings.Split(said, "\n") {
		var k, value int
		if n, _ := fmt.Sscanf(line, when+" %d %d", &k, &value); n == 2 && k == len(list) {
			list = append(list, value)
		}
	}
	if len(list) == 0 {
		t.Fatalf("nothing of %s: %s", when, said)
	}
	return list
}

// countersBench is testdata/counters.cpp with an accelerator.
func countersBench(t *testing.T, verilator string, d *dataflow.Design, dir string) string {
	t.Helper()
	face, err := templates.IPInterfaceOf(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	window, ok := templates.RegisterMapOf(d).FindWindow(templates.CountersWindowName)
	if !ok || window.Offset != 0 {
		t.Fatalf("counters are at %+v", window)
	}
	text := fmt.Sprintf("static void ports() {\n    registers = %d;\n", window.Words)
	for _, p := range face.In {
		text += fmt.Sprintf("    inputs.push_back({top.%s_TVALID, top.%[1]s_TREADY, nullptr, %d, %d});\n", p.Name,
			p.Port.Words, d.Target.HostClocksPerWord(p.Port))
	}
	for _, p := range face.Out {
		text += fmt.Sprintf("    outputs.push_back({top.%s_TVALID, top.%[1]s_TREADY, %d, %d});\n", p.Name,
			p.Port.Words, d.Target.HostClocksPerWord(p.Port))
	}
	build := t.TempDir()
	if err := os.WriteFile(filepath.Join(build, "ports.hpp"), []byte(text+"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	main, err := filepath.Abs("testdata/counters.cpp")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*/*.sv"))
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O0"}, rtl.VerilatorFlags()...)
	args = append(args, "--cc", "--exe", "--build", "--prefix", "Vtop", "--top-module", face.Top, "--Mdir", build,
		"-CFLAGS", "-O0 -w -I"+build,
		"-MAKEFLAGS", strings.Join(maketest.Soon, " "), "-o", "counters", main, filepath.Join(dir, face.Top+".sv"))
	for _, s := range sources {
		if folder := filepath.Base(filepath.Dir(s)); folder == "shared" || folder == "layers" {
			args = append(args, s)
		}
	}
	c := exec.Command(verilator, args...)
	c.Dir = dir
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return filepath.Join(build, "counters")
}

// TestCountersDriver has the drivers read counters: of an accelerator behind its movers, in Verilator, and of a
// stand-in for a bitstream. The header in C++ compiles.
func TestCountersDriver(t *testing.T) {
	t.Parallel()
	tools := tier.Needs(t, "make", "verilator", "g++", "numpy")
	m := models.Find(t, "digits-mlp-w2a2")
	o := Options{Source: options.Source{Model: m.Path("model.onnx")}, Hardware: options.Hardware{Board: "zcu104",
		Backend:  options.BackendBoth,
		Counters: true}, Goal: options.Goal{Interval: 300}, Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
	var d diag.List
	if r, err := Run(context.Background(), o, &d); err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	deploy := filepath.Join(o.Out, "deploy")
	main := filepath.Join(t.TempDir(), "main.cpp")
	text := "#include \"counters.hpp\"\nint main() {\n" +
		"    hlsgen::counters c([](unsigned at) { return at; }, [](unsigned, std::uint32_t) {});\n" +
		"    c.clear();\n    return c.read().streams[0].stalled == 8 && c.table().size() > 200 ? 0 : 1;\n}\n"
	if err := os.WriteFile(main, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "main")
	said, err := exec.Command(tools[2], "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", deploy, "-o", program,
		main).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if err := exec.Command(program).Run(); err != nil {
		t.Error(err)
	}
	maketest.Make(t, filepath.Join(o.Out, "rtl", "axi"), maketest.OneUnit)
	libs, err := filepath.Glob(filepath.Join(o.Out, "rtl", "axi", "build", "lib*.so"))
	if err != nil || len(libs) != 1 {
		t.Fatal(libs, err)
	}
	said, err = exec.Command(tools[3], "testdata/counters.py", deploy, libs[0], m.Path("inputs.npy")).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "PASS") {
		t.Errorf("%v\n%s", err, said)
	}
	t.Logf("%s", said)
}

// TestCountersRefused: layers of Vitis HLS tell nothing, and the hint helps.
func TestCountersRefused(t *testing.T) {
	t.Parallel()
	iris := filepath.Join(samplefiles.Examples(t), examples.IrisName, "model.onnx")
	o := Options{Source: options.Source{Model: iris},
		Hardware: options.Hardware{Board: "zcu104", Counters: true}, Goal: options.Goal{FPS: 1000},
		Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(),
			"out")}}
	var d diag.List
	if r, err := Run(context.Background(), o, &d); err != nil || r != nil ||
		!strings.Contains(fmt.Sprint(d.WithStrictApplied()), "--backend rtl") {
		t.Fatal(r, err, d.WithStrictApplied())
	}
	o.Backend = options.BackendRTL
	if r, err := Run(context.Background(), o, &diag.List{}); err != nil || r == nil {
		t.Fatal(r, err)
	}
}
