package templates_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// standIn stands in for vitis_hls, vitis-run and v++. It uses testdata/hls, and writes a line into the file RAN for
// each function. It fails, is killed or renames a port for functions that variables name. With TOGETHER it waits until
// another one runs at the same time.
const standIn = `#!/usr/bin/env tclsh
source {%s}
proc named {name top} { return [expr {[info exists ::env($name)] && $::env($name) eq $top}] }
proc begins {top} {
    global env
    set ran [open $env(RAN) a]
    puts $ran $top
    close $ran
    if {[info exists env(TOGETHER)]} {
        set file [open $env(TOGETHER)/$top w]
        close $file
        for {set i 0} {[llength [glob $env(TOGETHER)/*]] < 2} {incr i} {
            if {$i > 1000} { error "nobody else runs" }
            after 10
        }
    }
}
proc module {top text} { return [expr {[named RENAMES $top] ? [string map {ap_rst ap_reset} $text] : $text}] }
proc ends {top folder} {
    if {[named FAILS $top]} { error "it fails" }
    if {[named KILLED $top]} { exec kill -9 [pid] }
}
carry_out_program [file tail [info script]] $argv
`

// A workshop is a project in a folder, with a stand-in for the tools.
type workshop struct {
	dir, tools, ran string
}

func newWorkshop(t *testing.T, files templates.ProjectFiles) workshop {
	t.Helper()
	tier.Needs(t, "make", "tclsh", "sha256sum", "sh")
	w := workshop{dir: filepath.Join(t.TempDir(), "a [b] $c"), tools: t.TempDir()}
	w.ran = filepath.Join(w.tools, "ran")
	if err := files.WriteBelow(w.dir); err != nil {
		t.Fatal(err)
	}
	model, err := filepath.Abs("testdata/hls/hls.tcl")
	if err != nil {
		t.Fatal(err)
	}
	w.install(t, fmt.Sprintf(standIn, model), "vitis_hls", "vitis-run", "v++")
	return w
}

// run runs a target.
func (w workshop) run(env []string, args ...string) (string, error) {
	cmd := exec.Command("make", args...)
	cmd.Dir = filepath.Join(w.dir, "hls")
	cmd.Env = append(append(os.Environ(), "PATH="+w.tools+":"+os.Getenv("PATH"), "RAN="+w.ran, "MAKEFLAGS="), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// said runs make with the arguments and returns its output. The test fails if make fails.
func (w workshop) said(t *testing.T, env []string, args ...string) string {
	t.Helper()
	out, err := w.run(env, args...)
	if err != nil {
		t.Fatalf("make %v: %v\n%s", args, err, out)
	}
	return out
}

// make runs a target. It returns the functions that were synthesised, sorted, and the output of a failure.
func (w workshop) make(t *testing.T, env []string, args ...string) (ran []string, failed string) {
	t.Helper()
	if err := os.RemoveAll(w.ran); err != nil {
		t.Fatal(err)
	}
	if out, err := w.run(env, args...); err != nil {
		failed = out
	}
	text, _ := os.ReadFile(w.ran)
	ran = strings.Fields(string(text))
	slices.Sort(ran)
	return ran, failed
}

// TestMakeIP checks that every process is synthesised once, and again only if one of its sources has changed.
func TestMakeIP(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	files, _ := project(t, small(t), 1)
	w := newWorkshop(t, files)
	var all []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Path, ".files"); ok {
			all = append(all, filepath.Base(name))
		}
	}
	want := func(what string, env []string, layers []string, complaint string, args ...string) {
		t.Helper()
		ran, failed := w.make(t, env, append([]string{"ip"}, args...)...)
		if !slices.Equal(ran, layers) || (failed != "") != (complaint != "") || !strings.Contains(failed, complaint) {
			t.Errorf("%s: ran %v, want %v; %s, want %q", what, ran, layers, failed, complaint)
		}
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(w.dir, path), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	change := func(path, from, to string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(w.dir, path))
		if err != nil || !bytes.Contains(text, []byte(from)) {
			t.Fatalf("%s has no %q: %v", path, from, err)
		}
		write(path, strings.Replace(string(text), from, to, 1))
	}
	together := t.TempDir()
	want("two at once", []string{"TOGETHER=" + together}, all, "", "-j2")
	want("nothing has changed", nil, nil, "", "-j4")
	if err := files.WriteBelow(w.dir); err != nil {
		t.Fatal(err)
	}
	want("written again", nil, nil, "")
	change("hls/tables/MVAU_1_weights.hpp", "0x", "0x0")
	want("a table", nil, []string{"MVAU_1"}, "")
	change("hls/include/hlsgen/mvau.hpp", "namespace hlsgen", "\nnamespace hlsgen")
	want("a kernel", nil, []string{"MVAU_0", "MVAU_1", "MVAU_2"}, "")
	change("hls/ip/flow.tcl", "create_clock", " create_clock")
	want("the clock", nil, all, "", "-j2")
	change("hls/layers/MVAU_2.cpp", "void", "\nvoid")
	want("a failure", []string{"FAILS=MVAU_2"}, []string{"MVAU_2"}, "FAIL MVAU_2: see hls/build.ip/MVAU_2/log")
	want("which is not forgotten", nil, []string{"MVAU_2"}, "")
	change("hls/layers/MVAU_2.hpp", "struct", "\nstruct")
	want("an interruption", []string{"KILLED=MVAU_2"}, []string{"MVAU_2"}, "FAIL MVAU_2")
	want("which is not forgotten", nil, []string{"MVAU_2"}, "")
	change("hls/ip/m_axis_0_end.tcl", "synthesise", "\nsynthesise")
	want("other names", []string{"RENAMES=m_axis_0_end"}, []string{"m_axis_0_end"},
		"module m_axis_0_end has no port ap_rst_n: this version of the tool names ports in another way")
	want("another tool", nil, []string{"m_axis_0_end"}, "", "HLS="+filepath.Join(w.tools, "vitis-run"))
	if err := os.RemoveAll(filepath.Join(w.dir, "hls/build.ip/MVAU_0/verilog")); err != nil {
		t.Fatal(err)
	}
	want("a result that is gone", nil, []string{"MVAU_0"}, "")
	if ran, failed := w.make(t, nil, "clean"); failed != "" || len(ran) > 0 {
		t.Errorf("clean: %s", failed)
	}
	want("make clean leaves results", nil, nil, "")
}

// TestIncluded compares the list of files of a process with the files that the compiler reads.
func TestIncluded(t *testing.T) {
	t.Parallel()
	gxx := tier.Needs(t, "g++")[0]
	for _, design := range []*dataflow.Design{small(t), keeping(t)} {
		files, _ := project(t, design, 1)
		dir := t.TempDir()
		if err := files.WriteBelow(dir); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			unit, ok := strings.CutSuffix(f.Path, ".files")
			if !ok {
				continue
			}
			name := filepath.Base(unit)
			cmd := exec.Command(gxx, "-std=c++14", "-MM", "-isystem", "csim", "layers/"+name+".cpp")
			cmd.Dir = filepath.Join(dir, "hls")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"ip/" + name + ".tcl", "ip/flow.tcl"}
			for _, path := range strings.Fields(strings.ReplaceAll(string(out), "\\\n", ""))[1:] {
				want = append(want, filepath.Clean(path))
			}
			slices.Sort(want)
			if got := strings.Fields(string(f.Data)); !slices.Equal(got, slices.Compact(want)) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
}

// keywords are the words of C++, Verilog, SystemVerilog and VHDL that might name an argument. VHDL ignores case.
var keywords = strings.Fields(`abs accept_on access after alias all always and architecture array assert assign
	assume attribute automatic
	auto before begin bind bins bit block body bool break buf buffer bus byte case catch cell char chandle checker
	class clocking component config configuration const constant constraint context continue cover cross data
	deassign default define delete design disable disconnect dist do double downto edge else elsif end endcase
	entity enum event exit expect explicit export extends extern false file final first_match float for force
	forever fork friend function generate generic genvar global goto group guarded if iff ifnone impure in
	inertial initial inline inout input inside instance int integer interface intersect is join label large let
	liblist library linkage literal local logic long loop map matches medium mod modport module mutable namespace
	nand negedge new next nexttime nor not null of on open operator or others out output package packed parameter
	port posedge postponed primitive priority private procedure process program property protected public pull0
	pull1 pure rand range real record ref reg register reject rem repeat report restrict return rol ror scalared
	select sequence severity shared short signal signed sizeof sla sll small solve specify sra srl static string
	strong struct subtype super supply0 supply1 switch table tagged task template then this throw time to
	transport tri true try type typedef typename union unique units unsigned until use using var variable vectored
	virtual void wait weak when while wildcard wire with within wor xnor xor`)

// TestPortNames checks that no argument has a name that a tool would change, because HDL ports are named after
// arguments.
func TestPortNames(t *testing.T) {
	t.Parallel()
	prototype, argument := regexp.MustCompile(`(?m)^void .*\);$`), regexp.MustCompile(`& (\w+)[,)]`)
	for _, design := range []*dataflow.Design{small(t), twins(t), forked(t), keeping(t)} {
		files, _ := project(t, design, 1)
		declared := prototype.FindAll(slices.Concat(files.JoinProcessFiles(".hpp"), files.ContentsOf("hls/top.hpp")),
			-1)
		found := argument.FindAllSubmatch(bytes.Join(declared, nil), -1)
		if len(found) == 0 {
			t.Error("no arguments")
		}
		for _, m := range found {
			if name := string(m[1]); slices.Contains(keywords, strings.ToLower(name)) {
				t.Errorf("an argument is called %s", name)
			}
		}
	}
}

// TestEndsAreAsCounted checks that the written ends of a network are those that delay.StageDelayModel.Ends counts. Only
// processes of their own have AXI4-Streams; they are pipelined and move words. Each has the register slice that the
// tool makes where no mode is given. Layers have none.
func TestEndsAreAsCounted(t *testing.T) {
	t.Parallel()
	mode := regexp.MustCompile(`(?m)^    (\w+) (axis|ap_fifo) `)
	call := regexp.MustCompile(`(?m)^#pragma HLS PIPELINE II=1 style=flp\n    hlsgen::axis_(in|out)(_steps)?<`)
	for _, design := range []*dataflow.Design{small(t), twins(t), forked(t), keeping(t)} {
		files, _ := project(t, design, 1)
		streams := 0
		for _, f := range files {
			if bytes.Contains(f.Data, []byte("register_mode")) {
				t.Errorf("%s says how AXI4-Streams are registered: the table has slices of all signals", f.Path)
			}
			if ok, err := path.Match("hls/ip/*_*.tcl", f.Path); !ok || err != nil {
				continue
			}
			name := strings.TrimSuffix(path.Base(f.Path), ".tcl")
			axis := 0
			for _, m := range mode.FindAllSubmatch(f.Data, -1) {
				if string(m[2]) == "axis" {
					axis++
				}
			}
			streams += axis
			if end := call.Match(files.ContentsOf("hls/layers/" + name + ".cpp")); end != (axis == 1) || axis > 1 {
				t.Errorf("%s has %d AXI4-Streams, and moves words of one: %t", name, axis, end)
			}
		}
		if g := design.Model.Graph; streams != len(g.In)+len(g.Out) {
			t.Errorf("%d AXI4-Streams for %d inputs and %d outputs", streams, len(g.In), len(g.Out))
		}
	}
}
