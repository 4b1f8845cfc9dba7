# Vivado's stand-in: carries out a script as far as table.tcl knows Vivado, and writes what became of it as a graph, in JSON,
# to the file GRAPH. What Vivado would not do is an error "CHECK name: what".
#     tclsh vivado.tcl -mode batch ... -source SCRIPT -tclargs ARGUMENT ...
# TABLES are more tables, of the IPs of a design; HIDDEN is a pattern of boards that this Vivado has no files of.
set here [file dirname [file normalize [info script]]]
namespace eval do {}
interp create vivado
vivado eval { namespace eval ipx {} }

proc fail {check what} { error "CHECK $check: $what" }

# --- The table.
proc from {where versions} { set ::row [list $where $versions] }
proc sourced {} {
    if {![info exists ::row] || [lsearch $::row ""] >= 0} { fail no-source "a row of the table" }
    return $::row
}
proc command {name switches types} {
    set ::command($name) [list $switches $types [sourced]]
    vivado alias $name carry_out $name
}
proc property {kind name type {how writable}} { set ::property($kind,$name) [list $type $how [sourced]] }
proc interface {name type} { set ::interface($name) [list $type [sourced]] }
proc part {name} { set ::part($name) [sourced] }
proc board {name part} {
    set ::part($part) [sourced]
    if {![info exists ::env(HIDDEN)] || ![string match $::env(HIDDEN) $name]} { set ::board($name) $part }
}
proc connector {board name end} { set ::connector($board,$name) [list $end [sourced]] }
proc automation {rule ip words preset} { set ::automation($rule) [list $ip $words $preset [sourced]] }
proc ip {vlnv config pins} { set ::ip($vlnv) [list $config $pins [sourced]] }

# --- Values have types.
proc is {type value} {
    set rest [lassign [split $type :] kind]
    switch $kind {
        text - any { return 1 }
        list { return [string is list $value] }
        file { return [file isfile $value] }
        int { return [expr {[string is entier -strict $value] && $value >= [lindex $rest 0] && $value <= [lindex $rest 1]}] }
        real { return [string is double -strict $value] }
        bool { return [expr {$value in {0 1}}] }
        size { return [regexp -nocase {^(0x[0-9a-f]+|[0-9]+[KMG]?)$} $value] }
        hex64 { return [regexp -nocase {^0x[0-9a-f]{1,16}$} $value] }
        one { return [expr {$value in $rest}] }
        slot { return [expr {$value in {xilinx.com:interface:axis_rtl:1.0 xilinx.com:interface:aximm_rtl:1.0}}] }
        part { return [info exists ::part($value)] }
    }
    foreach object $value {
        if {![string match $kind@* $object]} { return 0 }
    }
    return [expr {[llength $value] > 0}]
}
proc want {type value what} {
    if {![is $type $value]} { fail [expr {$type eq "file" ? "no-file" : "wrong-type"}] "$what is no $type: [list $value]" }
}
proc object {kind name} { return $kind@$name }
proc named {object} { return [regsub {^[a-z_]+@} $object {}] }
proc number {size} {
    if {[regexp -nocase {^([0-9]+)([KMG])$} $size - n unit]} {
        return [expr {$n << [dict get {K 10 M 20 G 30} [string toupper $unit]]}]
    }
    return [expr {$size}]
}

# --- A command is read as the table says, then carried out. The script has an interpreter of its own.
proc carry_out {name args} {
    set arguments $args
    lassign $::command($name) switches types
    set given {}
    while {[llength $arguments] > 0 && [regexp {^-[a-zA-Z]} [lindex $arguments 0]]} {
        set arguments [lassign $arguments switch]
        if {![dict exists $switches $switch]} { fail unknown-switch "$name $switch" }
        set value 1
        if {[dict get $switches $switch] ne "flag"} {
            if {[llength $arguments] == 0} { fail wrong-type "$name $switch has no value" }
            set arguments [lassign $arguments value]
            want [dict get $switches $switch] $value "$name $switch"
        }
        dict set given $switch $value
    }
    set rest $arguments
    foreach type $types {
        if {[string match *+ $type]} {
            if {[llength $rest] == 0} { fail wrong-type "$name has too few arguments" }
            foreach value $rest { want [string trimright $type +] $value $name }
            set rest {}
        } elseif {[llength $rest] > 0} {
            set rest [lassign $rest value]
            want [string trimright $type ?] $value $name
        } elseif {![string match *\\? $type]} {
            fail wrong-type "$name has too few arguments"
        }
    }
    if {[llength $rest] > 0} { fail wrong-type "$name has too many arguments: $rest" }
    lappend ::calls $name
    return [do::$name $given $arguments]
}
proc unknown_command {name args} { fail unknown-command $name }
vivado alias unknown unknown_command

source [file join $here design.tcl]
source [file join $here packager.tcl]
source [file join $here table.tcl]
if {[info exists env(TABLES)]} {
    foreach file $env(TABLES) { source $file }
}

set at [lsearch $argv -source]
if {[lrange $argv 0 1] ne "-mode batch" || $at < 0} {
    puts stderr "CHECK command-line: $argv"
    exit 9
}
set script [lindex $argv $at+1]
vivado eval [list set argv [lrange $argv $at+3 end]]
vivado eval { set argc [llength $argv] }
if {[catch { vivado eval [list source $script] } message]} {
    puts stderr [expr {[string match "CHECK *" $message] ? $message : "CHECK script: $message"}]
    exit 1
}
if {[info exists env(GRAPH)]} { write_graph $env(GRAPH) }
