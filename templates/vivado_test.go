package templates_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// vivado is a stand-in that runs a script and prints the commands that it gets. Files must exist.
const vivado = `#!/usr/bin/env tclsh
proc add_files {flag file} {
    if {![file isfile $file]} { error "no file $file" }
    puts [list add_files $file]
}
proc current_fileset {} { return sources_1 }
namespace eval ipx {
    proc current_core {} { return core }
    foreach name {package_project create_xgui_files update_checksums save_core} {
        proc $name {args} "puts \[list $name {*}\$args\]"
    }
}
foreach name {create_project set_property update_compile_order close_project} {
    proc $name {args} "puts \[list $name {*}\$args\]"
}
set script [lindex $argv end]
if {[lindex $argv end-1] ne "-source"} { exit 9 }
set argv {}
source $script
`

// xsim is a stand-in for the three programs of the simulator.
const xsim = `#!/bin/sh
echo "${0##*/} $*" >> "$RAN"
while [ $# -gt 0 ]; do
    case $1 in
    *.v | *.sv) [ -f "$1" ] || { echo "no file $1"; exit 1; } ;;
    --log) echo "$SAYS" > "$2" ;;
    data=*) [ -f "${1#data=}/frames.txt" ] || { echo "no recordings in ${1#data=}"; exit 1; } ;;
    esac
    shift
done
`

// install writes the same text as each of the named stand-ins. No process starts meanwhile: it would inherit the open
// file, and Linux starts no program that somebody may write.
func (w workshop) install(t *testing.T, text string, names ...string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(w.tools, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPackage checks that the IP is packed of the top, the FIFO and all results of the layers, and nothing else. Two
// files of one name are refused.
func TestPackage(t *testing.T) {
	t.Parallel()
	files, _ := project(t, twins(t), 1)
	w := newWorkshop(t, files)
	w.install(t, vivado, "vivado")
	if ran, failed := w.make(t, nil, "-j2", "package"); len(ran) != 6 || failed != "" {
		t.Fatalf("ran %v: %s", ran, failed)
	}
	said := w.said(t, nil, "package")
	want := []string{"create_project -force -part xczu7ev-ffvc1156-2-e package build.ip/package.vivado",
		"add_files rtl/twins_top.v", "add_files rtl/hlsgen_fifo.sv"}
	for _, layer := range []string{"Thresholding_0", "Thresholding_1", "m_axis_0_end", "m_axis_1_end", "s_axis_0_end",
		"s_axis_1_end"} {
		want = append(want, "add_files build.ip/"+layer+"/verilog/"+layer+".v")
	}
	want = append(want, "set_property top twins_top sources_1", "update_compile_order -fileset sources_1",
		"package_project -root_dir build.ip/twins_top_ip -vendor hlsgen -library hls -taxonomy /UserIP "+
			"-import_files -force",
		"set_property name twins_top core", "set_property display_name twins_top core", "set_property version 1.0 core",
		"create_xgui_files core", "update_checksums core", "save_core core", "close_project")
	var got []string
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "vivado") && !strings.HasPrefix(line, "make") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, layer := range []string{"Thresholding_0", "Thresholding_1"} {
		name := filepath.Join(w.dir, "hls/build.ip", layer, "verilog/mul.v")
		if err := os.WriteFile(name, []byte("module mul; endmodule\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, failed := w.make(t, nil, "package"); !strings.Contains(failed,
		"Thresholding_1 and Thresholding_0 both have a file mul.v") {
		t.Errorf("two files of one name: %s", failed)
	}
}

// TestXsim checks that every file for the simulator exists, and that the verdict of the bench decides.
func TestXsim(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	files, _ := project(t, twins(t), 1)
	w := newWorkshop(t, files)
	w.install(t, xsim, "xvlog", "xelab", "xsim")
	if _, failed := w.make(t, nil, "-j2", "ip"); failed != "" {
		t.Fatal(failed)
	}
	for said, want := range map[string]string{
		"PASS 6 streams":                    "",
		"FAIL s1: word 0\nFAIL":             "FAIL with pauses=0",
		"nothing":                           "FAIL with pauses=0",
		"PASS 6 streams\nFAIL s0: too many": "FAIL with pauses=0",
	} {
		ran, failed := w.make(t, []string{"SAYS=" + said}, "xsim")
		if (failed == "") != (want == "") || !strings.Contains(failed, want) {
			t.Errorf("%s: %s, want %q", said, failed, want)
		}
		if want == "" && (!slices.Contains(ran, "../../rtl/twins_top.v") || !slices.Contains(ran, "pauses=3")) {
			t.Errorf("ran %v", ran)
		}
	}
}
