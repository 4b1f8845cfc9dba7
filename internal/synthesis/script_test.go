package synthesis

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// standIn has the commands of Vivado that a synthesis of a layer needs. Each refuses what would give another result in
// Vivado without a word: synthesis without a clock, ports with buffers, reports on a design that is not placed.
const standIn = `
proc create_project args {}
proc read_verilog args { set ::read 1 }
proc get_ips args { return {} }
proc get_ports args { return [lindex $args end] }
proc create_clock args {
    set ::clocked [dict get [lrange $args 0 3] -period]
}
proc read_xdc args {
    if {[lrange $args 0 1] ne {-mode out_of_context}} { error "the clock is for the module alone" }
    if {[info exists ::synthesised]} { error "the clock comes after synthesis" }
    source [lindex $args end]
}
proc synth_design args {
    if {![info exists ::read]} { error "there is nothing to synthesise" }
    if {![info exists ::clocked]} { error "synthesis has no clock" }
    if {$::clocked != 4.5} { error "the period is $::clocked" }
    if {[lsearch $args out_of_context] < 0} { error "ports get buffers" }
    if {[dict get $args -top] ne "layer" || [dict get $args -part] ne "part"} { error "synthesised $args" }
    set ::synthesised 1
}
proc opt_design args { if {![info exists ::synthesised]} { error "nothing is synthesised" } }
proc place_design args { opt_design; set ::placed 1 }
proc report_utilization args { report utilization $args }
proc report_timing_summary args { report timing $args }
proc report {name list} {
    if {![info exists ::placed]} { error "$name of a design that is not placed" }
    set ::reported($name) [file tail [lindex $list end]]
}
set argv [lassign $argv script]
if {[catch {source $script} said]} { puts "ERROR $said" } else {
    foreach name {utilization timing} {
        if {![info exists ::reported($name)] || $::reported($name) ne "$name.rpt"} { puts "ERROR no $name" }
    }
    puts DONE
}
`

// TestScripts has a stand-in for Vivado run the scripts that synthesise a layer. Planted mistakes are found.
func TestScripts(t *testing.T) {
	t.Parallel()
	tcl := tier.Needs(t, "tclsh")[0]
	layer, err := os.ReadFile("vivado.tcl")
	if err != nil {
		t.Fatal(err)
	}
	job, err := os.ReadFile(filepath.Join(tier.Root(t), "folding", "sweep", "synthesise.tcl"))
	if err != nil {
		t.Fatal(err)
	}
	const read, synth = "read_xdc -mode out_of_context clock.xdc\n", "synth_design -top $top -part "
	for _, script := range []struct {
		name, text string
		args       []string
		part       string // in the call of synth_design
	}{
		{"vivado.tcl", strings.NewReplacer("@PART@", "part", "@PERIOD@", "4.5").Replace(string(layer)),
			[]string{"layer", "layer.v"}, "part"},
		{"synthesise.tcl", string(job), []string{"layer", "part", "4.5"}, "$part"},
	} {
		whole := synth + script.part + " -mode out_of_context\n"
		for _, c := range []struct{ from, to, want string }{
			{"", "", "DONE"},
			{read, "", "synthesis has no clock"},
			{read + whole, whole + read, "synthesis has no clock"},
			{read, "read_xdc clock.xdc\n", "the clock is for the module alone"},
			{"create_clock -period ", "create_clock -period 1", "the period is 1"},
			{whole, synth + script.part + "\n", "ports get buffers"},
			{whole, "", "nothing is synthesised"},
			{"place_design\n", "", "utilization of a design that is not placed"},
			{"utilization.rpt", "utilisation.rpt", "no utilization"},
			{"report_timing_summary", "#", "no timing"},
		} {
			if !strings.Contains(script.text, c.from) {
				t.Errorf("%s has no %q", script.name, c.from)
				continue
			}
			dir := t.TempDir()
			for name, text := range map[string]string{"run.tcl": standIn, "layer.v": "",
				"layer/solution/syn/verilog/layer.v": "",
				script.name:                          strings.Replace(script.text, c.from, c.to, 1)} {
				at := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			run := exec.Command(tcl, append([]string{"run.tcl", script.name}, script.args...)...)
			run.Dir = dir
			said, err := run.CombinedOutput()
			wrong := strings.Contains(string(said), "ERROR") != (c.from != "")
			if err != nil || wrong || !strings.Contains(string(said), c.want) {
				t.Errorf("%s, %q for %q: %v\n%s\nwant %s", script.name, c.to, c.from, err, said, c.want)
			}
		}
	}
}
