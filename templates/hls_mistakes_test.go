package templates_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A mistake is a change of a script, with the check that catches it, or the key that gets another value. The first
// occurrence of old becomes new.
type mistake struct{ what, old, new, check string }

// ofScript are mistakes in run_hls.tcl of a small network on the ZCU104, and where the text allows it in
// run_hls_unified.tcl.
var ofScript = []mistake{
	{"a misspelt command", "{ csynth_design }", "{ csynt_design }", "unknown-command"},
	{"a command of Vivado", "set_part", "create_project -part", "unknown-command"},
	{"a misspelt command, caught by the script", "set_param hls", "set_parm hls", "unknown-command"},
	{"a misspelt switch", "-module_auto_prefix", "-modules_auto_prefix", "unknown-switch"},
	{"a switch of another command", "add_files -tb tb/data", "add_files -reset tb/data", "unknown-switch"},
	{"a misspelt parameter", "hls.enable_hidden_option_error", "hls.enable_hidden_options", "unknown-param"},
	{"a switch without its value", "-period 5.000 -name default", "-name default -period", "wrong-type"},
	{"a switch given twice", "-name default", "-name default -period 5.000", "given-twice"},
	{"a value that is none of the list", "-strict_mode error", "-strict_mode strict", "wrong-type"},
	{"a style that there is not", "-pipeline_style flp", "-pipeline_style flush", "wrong-type"},
	{"a flag that is neither", "-module_auto_prefix", "-module_auto_prefix=on", "wrong-type"},
	{"a flow that there is not", "-flow_target vivado", "-flow_target ip", "wrong-type"},
	{"a format that there is not", "-format ip_catalog", "-format ip", "wrong-type"},
	{"flags that are none", `"-std=c++14"`, `"std=c++14"`, "wrong-type"},
	{"an argument too many", "{ csim_design }", "{ csim_design now }", "wrong-type"},
	{"an argument too few", "set_part xczu7ev-ffvc1156-2-e", "set_part", "wrong-type"},
	{"a top with a double underscore", "set_top small_top", "set_top small__top", "wrong-type"},
	{"no top", "set_top small_top\n", "", "no-top"},
	{"a top that no source defines", "set_top small_top", "set_top smaller_top", "top"},
	{"the bench's top", "set_top small_top", "set_top main", "top"},
	{"no sources", "add_files top.cpp -cflags \"-std=c++14\"\nadd_files layers.cpp -cflags \"-std=c++14\"\n", "",
		"no-sources"},
	{"the layers left out", "add_files layers.cpp -cflags \"-std=c++14\"\n", "", "syn.file"},
	{"a source that does not exist", "add_files top.cpp", "add_files tops.cpp", "no-file"},
	{"a path that is a list for Tcl", "add_files top.cpp", "add_files [file normalize top.cpp]", "no-file"},
	{"a folder as a source", "add_files -tb tb/data", "add_files tb/data", "no-file"},
	{"recordings that do not exist", "tb/data", "tb/date", "no-file"},
	{"no test bench", "add_files -tb tb/tb.cpp -cflags \"-std=c++14 -Wno-unknown-pragmas\"\n", "", "no-bench"},
	{"the test bench as a source", "add_files -tb tb/tb.cpp", "add_files tb/tb.cpp", "no-bench"},
	{"other flags", `"-std=c++14"`, `"-std=c++17"`, "syn.cflags"},
	{"no part", "set_part xczu7ev-ffvc1156-2-e\n", "", "no-part"},
	{"a part that no board has", "xczu7ev-ffvc1156-2-e", "xczu7ev-ffvc1156-2", "wrong-part"},
	{"the part of another board", "xczu7ev-ffvc1156-2-e", "xc7z020clg400-1", "part"},
	{"a clock of 0", "-period 5.000", "-period 0", "wrong-period"},
	{"a clock that runs backwards", "-period 5.000", "-period -5.000", "wrong-period"},
	{"a clock in another unit", "-period 5.000", "-period 5000ps", "wrong-period"},
	{"another clock", "-period 5.000", "-period 50.00", "clock"},
	{"MHz as ns", "-period 5.000", "-period 200", "clock"},
	{"no clock", "create_clock -period 5.000 -name default\n", "", "clock"},
	{"the flow of kernels", "-flow_target vivado", "-flow_target vitis", "flow_target"},
	{"a setting that is left out", "config_dataflow -strict_mode error\n", "", "syn.dataflow.strict_mode"},
	{"an option that stays hidden", "    set_param hls.enable_hidden_option_error false\n", "", hidden},
	{"no synthesis before the export", `"csynth" in $steps`, `"synth" in $steps`, "no-synthesis"},
	{"csynth after export", "if {\"csynth\" in $steps} { csynth_design }\n",
		"if {\"export\" in $steps} { export_design -format ip_catalog; csynth_design; exit }\n", "no-synthesis"},
	{"a setting after synthesis", "{ csynth_design }", "{ csynth_design; config_rtl -reset all }", "stale"},
	{"a setting after everything", "exit", "set_part xc7z020clg400-1\nexit", "stale"},
	{"an error of Tcl", "cd [file", "cd [fil", "unknown-command"},
	{"a variable that is not set", "in $steps", "in $step", "script"},
}

// ofClassic has mistakes that only the script for vitis_hls can have, ofUnified those of the other script.
var ofClassic = []mistake{
	{"no solution", "open_solution -reset solution1 -flow_target vivado\n", "", "no-solution"},
	{"a top before the project", "open_project -reset small_top\nset_top small_top\n",
		"set_top small_top\nopen_project -reset small_top\n", "no-project"},
	{"a part before the solution", "open_solution", "set_part xczu7ev-ffvc1156-2-e\nopen_solution", "no-solution"},
	{"a project that is opened again", "if {\"csim\"", "open_project small_top\nif {\"csim\"", "no-solution"},
	{"a command of later versions", "open_project -reset small_top", "open_component -reset small_top",
		"wrong-version"},
}
var ofUnified = []mistake{
	{"a top before the component", "open_component -reset small_top -flow_target vivado\nset_top small_top\n",
		"set_top small_top\nopen_component -reset small_top -flow_target vivado\n", "no-project"},
	{"no component", "open_component -reset small_top -flow_target vivado\n", "", "no-project"},
}

// ofConfiguration are mistakes in hls_config.cfg.
var ofConfiguration = []mistake{
	{"a misspelt key", "syn.cflags=", "syn.cflag=", "unknown-key"},
	{"the name that Tcl has", "clock=", "period=", "unknown-key"},
	{"a misspelt section", "[hls]", "[HLS]", "unknown-section"},
	{"no section", "[hls]\n", "", "wrong-section"},
	{"the part below the section", "part=xczu7ev-ffvc1156-2-e\n\n[hls]\n", "[hls]\npart=xczu7ev-ffvc1156-2-e\n",
		"wrong-section"},
	{"a line that is none", "flow_target=vivado", "flow_target vivado", "syntax"},
	{"a key without a value", "flow_target=vivado", "flow_target=", "syntax"},
	{"a clock of 0", "clock=5.000ns", "clock=0ns", "wrong-period"},
	{"a clock in another unit", "clock=5.000ns", "clock=5000ps", "wrong-period"},
	{"another clock", "clock=5.000ns", "clock=50.00ns", "clock"},
	{"a flow that there is not", "flow_target=vivado", "flow_target=ip", "wrong-type"},
	{"a value that is none of the list", "strict_mode=error", "strict_mode=fatal", "wrong-type"},
	{"a style that there is not", "pipeline_style=flp", "pipeline_style=flush", "wrong-type"},
	{"a flag that is neither", "module_auto_prefix=1", "module_auto_prefix=yes", "wrong-type"},
	{"a format that there is not", "=ip_catalog", "=zip", "wrong-type"},
	{"flags that are none", "syn.cflags=-std", "syn.cflags=std", "wrong-type"},
	{"a source that does not exist", "syn.file=top.cpp", "syn.file=tops.cpp", "no-file"},
	{"two sources in one line", "syn.file=top.cpp\nsyn.file=layers.cpp", "syn.file=top.cpp layers.cpp", "no-file"},
	{"recordings that do not exist", "tb.file=tb/data", "tb.file=tb/date", "no-file"},
	{"no recordings", "tb.file=tb/data\n", "", "tb.file"},
	{"no sources", "syn.file=top.cpp\nsyn.file=layers.cpp\n", "", "no-sources"},
	{"no top", "syn.top=small_top\n", "", "no-top"},
	{"two tops", "syn.top=small_top", "syn.top=small_top\nsyn.top=small_top", "given-twice"},
	{"a top that no source defines", "syn.top=small_top", "syn.top=smaller_top", "top"},
	{"no part", "part=xczu7ev-ffvc1156-2-e\n", "", "no-part"},
	{"a part that no board has", "xczu7ev-ffvc1156-2-e", "xczu7ev-ffvc1156-2", "wrong-part"},
	{"the part of another board", "xczu7ev-ffvc1156-2-e", "xc7z020clg400-1", "part"},
}

// ofLayers has mistakes in the part that the scripts of all functions share, ofOne mistakes in the script of MVAU_0.
var ofLayers = []mistake{
	{"a misspelt command", "set_directive_interface", "set_directive_interfaces", "unknown-command"},
	{"a misspelt switch", "-mode $mode", "-modes $mode", "unknown-switch"},
	{"no mode", "-mode ap_ctrl_none $top return", "$top return", "wrong-type"},
	{"the mode of a block for an argument", "-mode $mode", "-mode ap_ctrl_none", "wrong-type"},
	{"the mode of an argument for a block", "ap_ctrl_none", "ap_fifo", "wrong-type"},
	{"a block with handshakes", "    set_directive_interface -mode ap_ctrl_none $top return\n", "", "interface"},
	{"an interface of another function", "-mode $mode $top", "-mode $mode top", "top"},
	{"interfaces before the solution", "    if {!$component} {",
		"    set_directive_interface -mode ap_ctrl_none $top return\n    if {!$component} {", "no-solution"},
	{"a source in another folder", "../../layers/", "../layers/", "no-file"},
	{"a source in the folder's name", "../../layers/", "$hls/layers/", "no-file"},
	{"a clock of 0", "-period 5.000", "-period 0.0", "wrong-period"},
	{"a part that no board has", "xczu7ev-ffvc1156-2-e", "xczu7ev", "wrong-part"},
	{"no synthesis", "    csynth_design\n", "", "script"},
	{"a synthesis that comes too early", "    config_rtl", "    csynth_design\n    config_rtl -reset all\n    return\n",
		"stale"},
}
var ofOne = []mistake{
	{"a misspelt argument", "in0 ap_fifo", "in1 ap_fifo", "unknown-argument"},
	{"a mode that there is not", "in0 ap_fifo", "in0 fifo", "wrong-type"},
	{"the mode of another flow", "in0 ap_fifo", "in0 axis", "script"},
	{"another function's script", "synthesise MVAU_0", "synthesise MVAU_1", "syn.top"},
	{"a function that there is not", "synthesise MVAU_0", "synthesise MVAU_9", "no-file"},
}

// catch plants mistakes in a file, each by itself, and wants its check to object when a flow carries it out.
func (w workshop) catch(t *testing.T, f flow, file string, want setup, list []mistake) {
	t.Helper()
	path := filepath.Join(w.dir, "hls", file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	caught := func() []string {
		if err := os.RemoveAll(filepath.Join(w.dir, "hls/build.ip")); err != nil {
			t.Fatal(err)
		}
		got, check := w.hls(t, []string{"HLS_VERSION=" + f.version}, f.program, f.args("small_top")...)
		if check != "" {
			return []string{check}
		}
		return got.differs(want)
	}
	if said := caught(); len(said) > 0 {
		t.Fatalf("%s as it is written: %v", file, said)
	}
	for _, m := range list {
		if !strings.Contains(string(text), m.old) {
			t.Errorf("%s: %s has no %q", m.what, file, m.old)
			continue
		}
		write(strings.Replace(string(text), m.old, m.new, 1))
		if said := caught(); !slices.Contains(said, m.check) {
			t.Errorf("%s in %s: caught by %v, want %s", m.what, file, said, m.check)
		}
	}
	write(string(text))
}

// TestHLSMistakes checks that each planted mistake in a script or a configuration is found by the check that it names.
func TestHLSMistakes(t *testing.T) {
	t.Parallel()
	d := small(t)
	files, _ := project(t, d, 1)
	all := wanted(t, d)
	layer := ofLayer(all, "MVAU_0", "in0 ap_fifo", "out0 ap_fifo")
	for _, c := range []struct {
		flow flow
		file string
		want setup
		list []mistake
	}{
		{flows[0], "run_hls.tcl", all, slices.Concat(ofScript, ofClassic)},
		{flows[2], "run_hls_unified.tcl", all, slices.Concat(ofScript, ofUnified)},
		{flows[4], "hls_config.cfg", all, ofConfiguration},
		{flow{"ip/MVAU_0.tcl", "2022.2", "vitis_hls"}, "ip/flow.tcl", layer, ofLayers},
		{flow{"ip/MVAU_0.tcl", "2022.2", "vitis_hls"}, "ip/MVAU_0.tcl", layer, ofOne},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			newWorkshop(t, files).catch(t, c.flow, c.file, c.flow.adapted(c.want), c.list)
		})
	}
}

// TestHLSOutside checks that mistakes outside the scripts are found as well: in files, versions and command lines.
func TestHLSOutside(t *testing.T) {
	t.Parallel()
	files, _ := project(t, small(t), 1)
	w := newWorkshop(t, files)
	config := []string{"--config", "hls_config.cfg", "--work_dir", "none"}
	for _, c := range []struct {
		what, check, env, program string
		args                      []string
	}{
		{"a version that has no vitis_hls", "wrong-version", "HLS_VERSION=2025.1", "vitis_hls", flows[0].args("")},
		{"a version that has no components", "wrong-version", "HLS_VERSION=2023.2", "vitis-run", flows[2].args("")},
		{"a script that does not exist", "no-file", "", "vitis_hls", []string{"-f", "run.tcl"}},
		{"the switch of the other program", "command-line", "", "vitis-run", []string{"-f", "run_hls.tcl"}},
		{"no mode", "command-line", "", "vitis-run", append([]string{"--csim"}, config...)},
		{"another mode", "wrong-type", "", "v++", append([]string{"-c", "--mode", "aie"}, config...)},
		{"no -c", "command-line", "", "v++", append([]string{"--mode", "hls"}, config...)},
		{"no folder", "command-line", "", "v++", append([]string{"-c", "--mode", "hls"}, config[:2]...)},
		{"cosim before csynth", "no-synthesis", "", "vitis-run",
			append([]string{"--mode", "hls", "--cosim"}, config...)},
		{"package before csynth", "no-synthesis", "", "vitis-run",
			append([]string{"--mode", "hls", "--package"}, config...)},
		{"export alone", "no-synthesis", "HLS_STEPS=export", "vitis_hls", flows[0].args("")},
		{"cosim alone", "no-synthesis", "HLS_STEPS=csim cosim", "vitis_hls", flows[0].args("")},
	} {
		if _, check := w.hls(t, []string{c.env}, c.program, c.args...); check != c.check {
			t.Errorf("%s: caught by %q, want %s", c.what, check, c.check)
		}
	}
	if err := os.Remove(filepath.Join(w.dir, "hls/layers/MVAU_1.hpp")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []flow{flows[0], flows[2], flows[4]} {
		_, check := w.hls(t, []string{"HLS_VERSION=" + f.version}, f.program, f.args("none")...)
		if check != "no-file" {
			t.Errorf("%v without a header: caught by %q", f, check)
		}
	}
}

// TestHLSSources checks that every row of the table about Vitis HLS has a source, and the versions that it is true for.
func TestHLSSources(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/hls/table.tcl")
	if err != nil {
		t.Fatal(err)
	}
	from := regexp.MustCompile(`^from ".{8,}" 20\d\d\.\d-20\d\d\.\d$`)
	kinds := []string{"program", "command", "option", "hidden", "param", "key", "parts"}
	sources, rows := 0, 0
	for line := range strings.Lines(string(table)) {
		line = strings.TrimSuffix(line, "\n")
		word, _, _ := strings.Cut(line, " ")
		switch {
		case word == "from" && !from.MatchString(line):
			t.Errorf("no source with versions: %s", line)
		case word == "from":
			sources++
		case slices.Contains(kinds, word):
			if rows++; sources == 0 {
				t.Errorf("no source: %s", line)
			}
		case word != "" && word != "#" && word != "}":
			t.Errorf("a row of no kind: %s", line)
		}
	}
	if sources < 10 || rows < 50 {
		t.Errorf("%d sources, %d rows", sources, rows)
	}
}
