package templates_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/models"
	"hlsgen/templates"
)

// trained folds a model for a board.
func trained(t testing.TB, model, board string) *dataflow.Design {
	t.Helper()
	var d diag.List
	m, err := frontend.Import(model, models.Find(t, model).Read(t, "model.onnx"), frontend.Options{}, &d)
	if err != nil || m == nil || m.Model == nil {
		t.Fatal(err, d.Diags)
	}
	b, err := boards.FindBoard(board)
	if err != nil {
		t.Fatal(err)
	}
	target := dataflow.Target{Board: b, ClockMHz: b.ClockMHz}
	made, err := folding.FindBestDesign(context.Background(), m.Model, target, folding.Goal{FPS: 10}, &d)
	if err != nil || made == nil {
		t.Fatal(err, d.Diags)
	}
	return made.Design
}

// A setup has the settings that a script or a configuration gives the tool: values by the keys of a configuration.
type setup map[string][]string

// differs are the keys that two setups do not have in common.
func (s setup) differs(other setup) (keys []string) {
	for key := range s {
		if !slices.Equal(s[key], other[key]) {
			keys = append(keys, key)
		}
	}
	for key := range other {
		if s[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// with returns a copy of the setup in which the key has the values. Without values the copy lacks the key.
func (s setup) with(key string, values ...string) setup {
	other := maps.Clone(s)
	delete(other, key)
	if len(values) > 0 {
		other[key] = values
	}
	return other
}

// hidden is a Tcl option that has no key in a configuration file. Versions after 2024.2 are not known to have it.
const hidden = "tcl.config_compile-disable_unroll_code_size_check"

var steps = map[string]string{"csim": "csim_design", "csynth": "csynth_design", "cosim": "cosim_design",
	"export": "export_design"}

// wanted returns the settings that the scripts must give to the tool for a design.
func wanted(t *testing.T, d *dataflow.Design) setup {
	t.Helper()
	face, err := templates.IPInterfaceOf(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := setup{
		"part": {d.Target.Board.Part}, "clock": {strconv.FormatFloat(1000/d.Target.ClockMHz, 'f', 3, 64)},
		"flow_target": {"vivado"}, "syn.top": {face.Top}, "syn.file": {"top.cpp", "layers.cpp"},
		"syn.cflags": {"-std=c++14"}, "tb.file": {"tb/tb.cpp", "tb/data"},
		"tb.cflags": {"-std=c++14 -Wno-unknown-pragmas"}, "syn.dataflow.strict_mode": {"error"},
		"syn.rtl.module_auto_prefix": {"1"}, "syn.compile.pipeline_style": {"flp"}, hidden: {"1"},
		"package.output.format": {"ip_catalog"}, "step": {"csim_design", "csynth_design", "export_design"},
	}
	for _, p := range slices.Concat(face.In, face.Out) {
		s["interface"] = append(s["interface"], p.Name+" axis")
	}
	s["interface"] = append(s["interface"], "return ap_ctrl_none")
	return s
}

// ofLayer returns the settings for the synthesis of one layer's function alone.
func ofLayer(all setup, name string, arguments ...string) setup {
	s := setup{"syn.top": {name}, "syn.file": {"layers/" + name + ".cpp"}, "step": {"csynth_design"},
		"interface": append(arguments, "return ap_ctrl_none")}
	for _, key := range []string{"part", "clock", "flow_target", "syn.cflags", "syn.rtl.module_auto_prefix",
		"syn.compile.pipeline_style", hidden} {
		s[key] = all[key]
	}
	return s
}

// hls runs a stand-in in the folder hls. It returns the settings that the stand-in got, or the name of the check that
// failed.
func (w workshop) hls(t *testing.T, env []string, program string, args ...string) (s setup, check string) {
	t.Helper()
	record := filepath.Join(w.tools, "record")
	if err := os.Remove(record); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(w.tools, program), args...)
	cmd.Dir = filepath.Join(w.dir, "hls")
	cmd.Env = append(append(os.Environ(), "RAN="+w.ran, "HLS_RECORD="+record), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		said, ok := strings.CutPrefix(string(out), "CHECK ")
		if !ok {
			t.Fatalf("%s %v: %v\n%s", program, args, err, out)
		}
		check, _, _ = strings.Cut(said, ":")
		return nil, check
	}
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	s = setup{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		s[key] = append(s[key], strings.TrimPrefix(value, cmd.Dir+"/"))
	}
	return s, ""
}

// A flow is a way to have a script or a configuration carried out, by a version.
type flow struct{ script, version, program string }

var flows = []flow{
	{"run_hls.tcl", "2022.2", "vitis_hls"}, {"run_hls.tcl", "2024.1", "vitis_hls"},
	{"run_hls_unified.tcl", "2024.2", "vitis-run"}, {"run_hls_unified.tcl", "2025.2", "vitis-run"},
	{"hls_config.cfg", "2024.2", "v++"}, {"hls_config.cfg", "2025.2", "v++"},
}

func (f flow) args(top string) []string {
	switch {
	case f.program == "vitis_hls":
		return []string{"-f", f.script}
	case f.program == "vitis-run":
		return []string{"--mode", "hls", "--tcl", f.script}
	}
	return []string{"-c", "--mode", "hls", "--config", f.script, "--work_dir", top}
}

// adapted returns the settings s without those that the flow's program and version do not take.
func (f flow) adapted(s setup) setup {
	if f.program == "v++" {
		s = s.with("step", "csynth_design")
	}
	if f.program == "v++" || f.version > "2024.2" {
		s = s.with(hidden)
	}
	return s
}

// TestHLSScripts has both scripts and the configuration of trained networks carried out: each tells the tool the same.
func TestHLSScripts(t *testing.T) {
	t.Parallel()
	for model, board := range map[string]string{"digits-mlp-w2a2": "zcu104", "digits-cnn-w4a4": "pynq-z1"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			d := trained(t, model, board)
			files, _ := project(t, d, 1)
			w, all := newWorkshop(t, files), wanted(t, d)
			top := all["syn.top"][0]
			for _, f := range flows {
				version := []string{"HLS_VERSION=" + f.version}
				got, check := w.hls(t, version, f.program, f.args(top)...)
				if keys := got.differs(f.adapted(all)); check != "" || len(keys) > 0 {
					t.Errorf("%v: %s, other values of %v: %v", f, check, keys, got)
				}
			}
			for asked, names := range map[string][]string{"csim csynth": {"csim", "csynth"}, "csynth": {"csynth"},
				"csynth cosim export": {"csynth", "cosim", "export"}} {
				var list []string
				for _, name := range names {
					list = append(list, steps[name])
				}
				for _, f := range flows[1:3] {
					got, check := w.hls(t, []string{"HLS_STEPS=" + asked, "HLS_VERSION=" + f.version}, f.program,
						f.args(top)...)
					if check != "" || !slices.Equal(got["step"], list) {
						t.Errorf("%v with HLS_STEPS=%s: %s, %v", f, asked, check, got["step"])
					}
				}
			}
			w.commented(t, top)
			w.cosim(t)
		})
	}
}

// cosim has the Makefile co-simulate, with either program.
func (w workshop) cosim(t *testing.T) {
	t.Helper()
	for _, program := range []string{"vitis_hls", "vitis-run"} {
		record := filepath.Join(w.tools, "cosim."+program)
		w.said(t, []string{"HLS_RECORD=" + record}, "cosim", "HLS="+program)
		text, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		var made []string
		for line := range strings.Lines(string(text)) {
			if step, ok := strings.CutPrefix(strings.TrimSpace(line), "step\t"); ok {
				made = append(made, step)
			}
		}
		if want := []string{"csynth_design", "cosim_design"}; !slices.Equal(made, want) {
			t.Errorf("make cosim HLS=%s: %v", program, made)
		}
	}
}

// commented runs the commands that the configuration says it is for.
func (w workshop) commented(t *testing.T, top string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "hls/hls_config.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "hls", top)); err != nil {
		t.Fatal(err)
	}
	var made []string
	for line := range strings.Lines(string(text)) {
		if command, ok := strings.CutPrefix(line, "#     "); ok {
			words := strings.Fields(command)
			got, check := w.hls(t, nil, words[0], words[1:]...)
			if check != "" {
				t.Errorf("%s: %s", command, check)
			}
			made = append(made, got["step"]...)
		}
	}
	if want := []string{"csynth_design", "csim_design", "cosim_design"}; !slices.Equal(made, want) {
		t.Errorf("the commands of hls_config.cfg: %v, want %v", made, want)
	}
}

// TestHLSLayers has the script of every function of a trained network carried out, by each program and with every way
// to open a project.
func TestHLSLayers(t *testing.T) {
	t.Parallel()
	d := trained(t, "digits-mlp-w2a2", "pynq-z1")
	files, _ := project(t, d, 1)
	w, all := newWorkshop(t, files), wanted(t, d)
	functions := map[string][]string{}
	for _, n := range d.Model.Graph.Nodes {
		functions[n.Name] = append(modes("in", len(n.In)), modes("out", len(n.Out))...)
	}
	face, err := templates.IPInterfaceOf(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range face.In {
		functions[p.ConverterProcessName()] = []string{"in0 axis", "out0 ap_fifo"}
	}
	for _, p := range face.Out {
		functions[p.ConverterProcessName()] = []string{"in0 ap_fifo", "out0 axis"}
	}
	for name, arguments := range functions {
		script := "ip/" + name + ".tcl"
		for _, f := range []flow{{script, "2022.2", "vitis_hls"}, {script, "2023.2", "vitis-run"},
			{script, "2024.2", "vitis-run"}, {script, "2025.2", "vitis-run"}} {
			want := f.adapted(ofLayer(all, name, arguments...))
			got, check := w.hls(t, []string{"HLS_VERSION=" + f.version}, f.program, f.args("")...)
			if keys := got.differs(want); check != "" || len(keys) > 0 {
				t.Errorf("%v: %s, other values of %v: %v", f, check, keys, got)
			}
		}
	}
}

// modes are arguments that are FIFOs.
func modes(side string, n int) (list []string) {
	for k := range n {
		list = append(list, fmt.Sprintf("%s%d ap_fifo", side, k))
	}
	return list
}
