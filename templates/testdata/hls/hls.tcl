# Vitis HLS's stand-in: carries out a script, or reads a configuration, as far as table.tcl knows the tool, and keeps a model of the
# project. What the tool would not do is an error "CHECK name: what", also where a script catches it.
#
# A program that stands in for vitis_hls, vitis-run or v++ sources this file, says by begins, module and ends what else its test
# wants of a synthesis, and calls carry_out_program. HLS_VERSION is the tool's, HLS_RECORD a file for what was set: lines of a key, a tab
# and a value; keys are those of a configuration, and `step`, `interface`, and tcl.* for what a configuration does not know.
set here [file dirname [file normalize [info script]]]
set root [file dirname [file dirname [file dirname $here]]]
namespace eval do {}
interp create hls
set failed {}
set rows {}

proc begins {top} {}
proc module {top text} { return $text }
proc ends {top folder} {}

# getdef is a value of a dict below some keys, or else the last argument.
proc getdef {dict args} {
    set keys [lrange $args 0 end-1]
    return [expr {[dict exists $dict {*}$keys] ? [dict get $dict {*}$keys] : [lindex $args end]}]
}
proc fail {check what} {
    lappend ::failed "CHECK $check: $what"
    error "CHECK $check: $what"
}

# --- The table.
proc from {source versions} { set ::row [list $source $versions] }
proc row {kind args} {
    dict set ::rows $kind {*}[lrange $args 0 end-1] [linsert [lindex $args end] 0 $::row]
}
proc program {name switches} { row program $name [list $switches] }
proc command {name switches types needs} {
    row command $name [list $types $needs]
    foreach {switch type key} $switches { option $name $switch $type $key }
}
proc option {command switch type key} {
    row option $command $switch [list $type $key]
    if {$key ne ""} { row key $key [list hls $type ""] }
}
proc hidden {command switch type} { row hidden $command $switch [list $type tcl.$command$switch] }
proc param {name type} { row param $name [list $type] }
proc key {section name type {many ""}} { row key $name [list $section $type $many] }
proc parts {folder} {
    foreach file [glob [file join $::root $folder *.json]] {
        set in [open $file]
        if {[regexp {"part": "([^"]*)"} [read $in] - part]} { row part $part {} }
        close $in
    }
}

# has says whether there is a row, for this version.
proc has {args} {
    if {![dict exists $::rows {*}$args]} { return 0 }
    lassign [split [lindex [dict get $::rows {*}$args] 0 1] -] first last
    return [expr {[package vcompare $first $::version] <= 0 && [package vcompare $::version $last] <= 0}]
}
proc the {args} { return [lrange [dict get $::rows {*}$args] 1 end] }
# know looks for a row; what there is of other versions is called so.
proc know {what args} {
    if {[has {*}$args]} { return [the {*}$args] }
    if {[dict exists $::rows {*}$args]} {
        fail wrong-version "[lindex $args end] is of [lindex [dict get $::rows {*}$args] 0 1], this is $::version"
    }
    fail unknown-$what $args
}

# --- Values have types.
proc is {type value} {
    set rest [lassign [split $type :] kind]
    switch $kind {
        text { return 1 }
        name { return [expr {[regexp {^[A-Za-z][A-Za-z0-9_]*$} $value] && ![string match *__* $value]}] }
        flags { return [expr {[string is list $value] && [lsearch -not $value -*] < 0}] }
        file { return [file isfile $value] }
        path { return [file exists $value] }
        paths { return [expr {[string is list $value] && [llength $value] > 0 && [lsearch [lmap f $value { file exists $f }] 0] < 0}] }
        period { return [expr {[nanoseconds $value] > 0}] }
        int { return [expr {[string is entier -strict $value] && $value >= [lindex $rest 0] && $value <= [lindex $rest 1]}] }
        one { return [expr {$value in $rest}] }
        bool { return [expr {$value in {0 1 true false}}] }
        part { return [has part $value] }
    }
    error "there is no type $type"
}
proc want {type value what} {
    if {[is $type $value]} return
    set check [getdef {file no-file path no-file paths no-file part wrong-part period wrong-period} $type wrong-type]
    fail $check "$what is no $type: [list $value]"
}
proc nanoseconds {period} {
    if {![regexp {^([0-9]+(?:\.[0-9]+)?)(ns|MHz)?$} $period - number unit] || $number == 0} { return 0 }
    return [expr {$unit eq "MHz" ? 1000.0 / $number : double($number)}]
}
# shown is a value as the record has it.
proc shown {type value} {
    switch $type {
        period { return [format %.3f [nanoseconds $value]] }
        bool { return [expr {$value in {1 true}}] }
        file - path { return [file normalize $value] }
    }
    return $value
}

# --- A project is what has been set, and what there is.
proc fresh {} {
    set ::set {}
    set ::interface {}
    set ::there {}
    set ::synthesised ""
}
fresh
proc put {key value} { dict set ::set $key [list $value] }
proc add {key value} { if {![dict exists $::set $key] || $value ni [dict get $::set $key]} { dict lappend ::set $key $value } }
proc values {key} { return [getdef $::set $key {}] }
# state is what synthesis depends on.
proc state {} {
    return [list [dict filter $::set script {key value} { expr {![regexp {^(csim|cosim|package|vivado)\.} $key]} }] $::interface]
}

proc need {what command} {
    switch $what {
        project - solution { set there [dict exists $::there $what] }
        part { set there [dict exists $::set part] }
        top { set there [dict exists $::set syn.top] }
        sources { set there [dict exists $::set syn.file] }
        bench { set there [expr {[regexp {\mint\s+main\s*\(} [join [lmap f [values tb.file] { text_of $f }]]]}] }
        synthesis {
            set there [expr {$::synthesised ne ""}]
            if {$there && $::synthesised ne [state]} { fail stale "$command: something was set after csynth_design" }
        }
    }
    if {!$there} { fail no-$what $command }
}

# text_of is a file with all that it includes of the project: each has to be there.
proc text_of {file {seen_name ""}} {
    if {$seen_name ne ""} { upvar 1 $seen_name seen } else { set seen {} }
    if {![file isfile $file] || [file extension $file] ni {.cpp .hpp}} { return "" }
    set file [file normalize $file]
    if {[dict exists $seen $file]} { return "" }
    dict set seen $file 1
    set in [open $file]
    set text [read $in]
    close $in
    set all $text
    foreach {line name} [regexp -all -inline -line {^#include "([^"]*)"} $text] {
        set included [file join [file dirname $file] $name]
        if {![file isfile $included]} { fail no-file "$file includes $name" }
        append all \n [text_of $included seen]
    }
    return $all
}
# arguments are the names of those of the function that is the top.
proc arguments {} {
    set top [lindex [values syn.top] 0]
    set text [join [lmap f [values syn.file] { text_of $f }] \n]
    if {![regexp "\\mvoid\\s+$top\\s*\\((\[^;{}\]*)\\)\\s*\\\{" $text - list]} { fail top "no source defines [list $top]" }
    foreach {pragma mode name} [regexp -all -inline {#pragma HLS INTERFACE (\w+) port=(\w+)} $text] {
        if {![dict exists $::interface $name]} { dict set ::interface $name $mode }
    }
    return [lmap {all name} [regexp -all -inline {&\s*(\w+)} $list] { set name }]
}

# --- What the commands do.
proc do::open_project {o a} { fresh; dict set ::there project [lindex $a 0] }
proc do::open_solution {o a} {
    dict set ::there solution [dict get $::there project]/[lindex $a 0]
    if {![dict exists $o -flow_target]} { put flow_target vivado }
}
proc do::open_component {o a} {
    fresh
    dict set ::there project [lindex $a 0]
    dict set ::there solution [lindex $a 0]/hls
    if {![dict exists $o -flow_target]} { put flow_target vivado }
}
proc do::close_project {o a} { fresh }
proc do::close_solution {o a} { dict unset ::there solution }
proc do::set_top {o a} { put syn.top [lindex $a 0] }
proc do::set_part {o a} { put part [lindex $a 0] }
proc do::set_clock_uncertainty {o a} { put clock_uncertainty [lindex $a 0] }
proc do::add_files {o a} {
    set side [expr {[getdef $o -tb 0] in {1 true} ? "tb" : "syn"}]
    foreach file [lindex $a 0] {
        if {$side eq "syn"} { want file $file "a source" }
        add $side.file [shown path $file]
        if {[file extension $file] eq ".cpp"} { add $side.cflags [getdef $o -cflags ""] }
    }
}
proc do::create_clock {o a} { if {![dict exists $o -period]} { put clock 10.000 } }
proc do::set_param {o a} {
    lassign $a name value
    want [lindex [know param param $name] 0] $value "set_param $name"
    dict set ::there param $name $value
}
proc do::set_directive_interface {o a} {
    lassign $a top name
    if {[list $top] ne [values syn.top]} { fail top "an interface of $top" }
    if {![dict exists $o -mode]} { fail wrong-type "set_directive_interface without -mode" }
    set mode [dict get $o -mode]
    set block [string match ap_ctrl_* $mode]
    if {$block != ($name in {"" return})} { fail wrong-type "$mode of [list $name]" }
    if {$block} { set name return } elseif {$name ni [arguments]} { fail unknown-argument "$name of $top" }
    dict set ::interface $name $mode
}
proc do::csim_design {o a} { arguments }
proc do::csynth_design {o a} {
    synthesise [dict get $::there solution]
    set ::synthesised [state]
}
proc do::cosim_design {o a} {}
proc do::export_design {o a} { if {![dict exists $::set package.output.format]} { put package.output.format ip_catalog } }

# synthesise writes the module of the top into a folder, with the ports that the tool makes of the arguments.
proc synthesise {folder} {
    set arguments [arguments]
    set top [lindex [values syn.top] 0]
    begins $top
    set list {ap_clk}
    set reset ap_rst
    foreach name $arguments {
        set writes [string match *out* [string map {m_axis out} $name]]
        switch [getdef $::interface $name ap_fifo] {
            axis { set reset ap_rst_n; set ports {TDATA TVALID TREADY TKEEP TSTRB TLAST} }
            ap_fifo { set ports [expr {$writes ? {din full_n write} : {dout empty_n read}}] }
            default { set ports {{}} }
        }
        foreach port $ports { lappend list [string trimright ${name}_$port _] }
    }
    if {[getdef $::interface return ap_ctrl_hs] ne "ap_ctrl_none"} { lappend list ap_start ap_done ap_idle ap_ready }
    lappend list $reset
    file mkdir $folder/syn/verilog $folder/syn/report
    set text "module $top (\n[join [lmap port $list { string cat "input wire \[3:0\] $port" }] ,\n]);\nendmodule"
    set out [open $folder/syn/verilog/$top.v w]
    puts $out [module $top $text]
    close $out
    ends $top $folder
}

# --- A command is read as the table says, then carried out. The script has an interpreter of its own.
proc carry_out {name args} {
    lassign [know command command $name] types needs
    set given {}
    set rest {}
    set keys {}
    set parsing $args
    while {[llength $parsing] > 0} {
        set parsing [lassign $parsing word]
        if {![regexp {^(-[a-zA-Z]\w*)(?:=(.*))?$} $word - switch value]} { lappend rest $word; continue }
        lassign [switch_of $name $switch] type key
        if {$type eq "bool"} {
            if {![string match *=* $word]} { set value 1 }
        } elseif {![string match *=* $word]} {
            if {[llength $parsing] == 0} { fail wrong-type "$name $switch has no value" }
            set parsing [lassign $parsing value]
        }
        if {[dict exists $given $switch]} { fail given-twice "$name $switch" }
        want $type $value "$name $switch"
        dict set given $switch $value
        if {$key ne ""} { lappend keys $key [shown $type $value] }
    }
    set least [llength [lsearch -all -not $types *\\?]]
    if {[llength $rest] < $least || [llength $rest] > [llength $types]} {
        fail wrong-type "$name takes [llength $types] arguments: $rest"
    }
    foreach need $needs { need $need $name }
    foreach type $types value $rest { if {$type ne "" && $value ne ""} { want [string trimright $type ?] $value $name } }
    if {[info procs do::$name] ne ""} { do::$name $given $rest }
    foreach {key value} $keys { put $key $value }
    if {[string match *_design $name]} { lappend ::steps $name }
    return ""
}
proc switch_of {command switch} {
    if {![dict exists $::rows hidden $command $switch]} { return [know switch option $command $switch] }
    # This one error a script may catch.
    if {![has hidden $command $switch] || [getdef $::there param hls.enable_hidden_option_error true]} {
        error "CHECK hidden-option: $command $switch: HLS 200-1471"
    }
    return [the hidden $command $switch]
}
proc unknown_command {name args} { know command command $name }

# --- A configuration.
proc read_configuration {file} {
    fresh
    set folder [file dirname [file normalize $file]]
    set section ""
    set number 0
    set in [open $file]
    foreach line [split [read $in] \n] {
        incr number
        set at "[file tail $file]:$number"
        if {[regexp {^\s*(#.*)?$} $line]} continue
        if {[regexp {^\[(.*)\]$} $line - section]} {
            if {$section ne "hls"} { fail unknown-section "$at: $section" }
            continue
        }
        if {![regexp {^\s*([^=\s]+)\s*=\s*(.*\S)\s*$} $line - key value]} { fail syntax "$at: $line" }
        lassign [know key key $key] wanted type many
        if {$wanted ne $section} { fail wrong-section "$at: $key is of [list $wanted], not of [list $section]" }
        if {$many eq "" && [dict exists $::set $key]} { fail given-twice "$at: $key" }
        if {$type in {file path}} { set value [file join $folder $value] }
        want $type $value "$at: $key"
        add $key [shown $type $value]
    }
    close $in
    foreach {key check} {part no-part syn.top no-top syn.file no-sources} {
        if {![dict exists $::set $key]} { fail $check $file }
    }
}

# --- A program reads its command line.
proc carry_out_program {name arguments} {
    set usual [expr {$name eq "vitis_hls" ? "2022.2" : "2024.2"}]
    set ::version [expr {[info exists ::env(HLS_VERSION)] ? $::env(HLS_VERSION) : $usual}]
    set ::steps {}
    if {[catch { run $name $arguments } message]} {
        if {![string match "CHECK *" $message]} { lappend ::failed "CHECK script: $message" }
        if {[string match "CHECK hidden-option*" $message]} { lappend ::failed $message }
    }
    finish 0
}
proc run {name arguments} {
    lassign [know program program $name] switches
    set given {}
    for {set i 0} {$i < [llength $arguments]} {incr i} {
        set switch [lindex $arguments $i]
        if {![dict exists $switches $switch]} { fail command-line "$name $switch" }
        set value 1
        if {[dict get $switches $switch] ne "flag"} {
            set value [lindex $arguments [incr i]]
            want [dict get $switches $switch] $value "$name $switch"
        }
        dict set given $switch $value
    }
    set script [getdef $given -f [getdef $given --tcl ""]]
    if {$name ne "vitis_hls" && ![dict exists $given --mode]} { fail command-line "$name without --mode" }
    if {$script ne ""} { return [run_script $script] }
    foreach switch {--config --work_dir} {
        if {![dict exists $given $switch]} { fail command-line "$name without $switch" }
    }
    read_configuration [dict get $given --config]
    set folder [dict get $given --work_dir]/hls
    set made [file isfile $folder/syn/verilog/[lindex [values syn.top] 0].v]
    if {$name eq "v++"} {
        if {![dict exists $given -c]} { fail command-line "v++ without -c" }
        synthesise $folder
        lappend ::steps csynth_design
    }
    foreach {switch step} {--csim csim_design --cosim cosim_design --package export_design} {
        if {![dict exists $given $switch]} continue
        if {$switch ne "--csim" && !$made} { fail no-synthesis "$name $switch in $folder" }
        if {$switch ne "--package"} { need bench "$name $switch" }
        arguments
        lappend ::steps $step
    }
}
proc run_script {script} {
    dict for {name row} [dict get $::rows command] {
        if {[has command $name]} { hls alias $name carry_out $name }
    }
    hls alias unknown unknown_command
    hls alias exit finish
    hls eval [list source $script]
}
proc finish {{code 0}} {
    if {$::synthesised ne "" && $::synthesised ne [state]} { lappend ::failed "CHECK stale: something was set after csynth_design" }
    if {[llength $::failed] > 0} {
        puts stderr [lindex $::failed 0]
        exit 1
    }
    if {[info exists ::env(HLS_RECORD)]} {
        set out [open $::env(HLS_RECORD) w]
        dict for {key list} $::set { foreach value $list { puts $out $key\t$value } }
        dict for {name mode} $::interface { puts $out "interface\t$name $mode" }
        foreach step $::steps { puts $out step\t$step }
        close $out
    }
    exit $code
}

source [file join $here table.tcl]
