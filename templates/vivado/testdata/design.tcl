# The part of vivado.tcl that holds a project and its block design.
#
# Cells are a dict of IP, config and what is external; nets are lists of pins, and links pairs of buses.
set cells {}
set nets {}
set links {}
set maps {}
set excluded {}
set calls {}
set checked ""
set buses {}

# --- Projects and files.
proc do::create_project {o a} {
    if {![dict exists $o -part]} { fail wrong-type "create_project without -part" }
    set dir [lindex $a 1]
    file mkdir $dir
    set ::project [dict create name [lindex $a 0] dir $dir part [dict get $o -part] files {} repos {} board_part {} connections {} top {} \
        board {} wrapper {} runs {impl_1 {}} current impl_1 opened ""]
}
proc project {key} {
    if {![info exists ::project]} { fail before-creation "there is no project" }
    return [dict get $::project $key]
}
proc do::current_project {o a} { return [object project [project name]] }
proc do::current_fileset {o a} { project name; return fileset@sources_1 }
proc do::close_project {o a} {
    project name
    if {[info exists ::packed] && ![dict get $::packed saved]} { fail not-saved "the core [dict get $::packed dir]" }
    set ::closed $::project
    unset ::project
}
proc do::get_board_parts {o a} {
    set found [lsort -dictionary [array names ::board [lindex $a 0]]]
    if {[dict exists $o -latest_file_version]} { set found [lrange $found end end] }
    return [lmap name $found { object board $name }]
}
proc do::update_ip_catalog {o a} {
    foreach repo [project repos] {
        foreach file [glob -nocomplain -directory $repo component.xml */component.xml] {
            set in [open $file]
            set vlnv [join [lrange [gets $in] 0 3] :]
            dict lappend ::project packed $vlnv
            dict set ::buses $vlnv [gets $in]
            close $in
        }
    }
}
proc do::get_ipdefs {o a} {
    set pattern [lindex $a 0]
    set own [expr {[dict exists $::project packed] ? [dict get $::project packed] : {}}]
    set found {}
    foreach vlnv [array names ::ip $pattern] {
        if {[string match xilinx.com:* $vlnv] || $vlnv in $own} { lappend found [object ipdef $vlnv] }
    }
    return $found
}
proc do::add_files {o a} { foreach file $a { dict lappend ::project files $file } }
proc do::update_compile_order {o a} { project name }
proc do::get_files {o a} {
    if {[lindex $a 0] ne "[project board].bd"} { fail before-creation "get_files [lindex $a 0]" }
    return [object file_object [lindex $a 0]]
}
proc do::make_wrapper {o a} {
    set name [project board]
    set file [project dir]/hdl/${name}_wrapper.v
    touch $file
    dict set ::project wrapper ${name}_wrapper
    return $file
}
proc do::launch_runs {o a} {
    if {[project wrapper] eq "" || [project top] ne [project wrapper]} { fail top "[project top] is implemented" }
    if {$::checked ne [state]} { fail not-validated "the design that is implemented" }
    foreach name $a {
        run $name
        set bit [project dir]/[project name].runs/$name/[project wrapper].bit
        touch $bit
        set out [open $bit w]
        puts $out "$name [run $name]"
        close $out
        dict set ::project runs $name ran 1
    }
    set name [project board]
    touch [project dir]/[project name].gen/sources_1/bd/$name/hw_handoff/$name.hwh
}
# run is what is known of a run. FAILS of the environment names runs that do not come to their end.
proc run {name} {
    if {![dict exists [project runs] $name]} { fail before-creation "there is no run $name" }
    return [dict get [project runs] $name]
}
proc ran {name what} { if {![dict exists [run $name] ran]} { fail before-creation "$what of the run $name" } }
# said is a slack of a run: the variable WNS or WHS of the environment has those of impl_1 and of impl_2.
proc said {name slack} {
    ran $name $slack
    set said [expr {[info exists ::env($slack)] ? $::env($slack) : 0.1}]
    return [lindex $said [expr {$name eq "impl_2" ? "end" : 0}]]
}
proc do::create_run {o a} {
    set name [lindex $a 0]
    if {[dict get $o -parent_run] ne "synth_1"} { fail before-creation "the parent [dict get $o -parent_run]" }
    if {[dict get $o -flow] ne "Vivado Implementation 2022"} { fail wrong-type "the flow [dict get $o -flow]" }
    if {[dict exists [project runs] $name]} { fail given-twice "the run $name" }
    dict set ::project runs $name [dict create STRATEGY [dict get $o -strategy]]
    return [object run $name]
}
proc do::current_run {o a} { run [named [lindex $a 0]]; dict set ::project current [named [lindex $a 0]] }
proc do::wait_on_run {o a} { ran [lindex $a 0] wait_on_run }
proc do::get_runs {o a} { run [lindex $a 0]; return [object run [lindex $a 0]] }
proc do::open_run {o a} {
    set name [named [lindex $a 0]]
    ran $name open_run
    dict set ::project opened $name
}
proc do::report_utilization {o a} { opened report_utilization; touch [dict get $o -file] }
proc do::report_timing_summary {o a} {
    opened report_timing_summary
    set name [project opened]
    set out [open [dict get $o -file] w]
    puts $out "| Design Timing Summary\n| ---------------------\n"
    puts $out "    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)"
    puts $out "    -------      -------  ---------------------  -------------------      -------      -------"
    puts $out "    [said $name WNS]        0.000                      0                  100    [said $name WHS]   0.000"
    close $out
}
proc do::write_checkpoint {o a} {
    opened write_checkpoint
    set out [open [lindex $a 0] w]
    puts $out [project wrapper]
    close $out
}
proc do::open_checkpoint {o a} { set ::checkpoint [lindex $a 0] }
proc do::read_saif {o a} {
    if {![info exists ::checkpoint]} { fail before-creation "read_saif without a checkpoint" }
    set in [open $::checkpoint]
    set top [gets $in]
    close $in
    set in [open [lindex $a 0]]
    set text [read $in]
    close $in
    if {![regexp {\(INSTANCE (\S+)} $text - first] || $first ne $top || [dict get $o -strip_path] ne $top} {
        fail strip-path "$top is the design, [dict get $o -strip_path] is left out of the names"
    }
    set ::activity $text
}
proc do::report_power {o a} {
    if {![info exists ::activity]} { fail before-creation "report_power without activity" }
    touch [dict get $o -file]
}
proc do::write_debug_probes {o a} { opened write_debug_probes; touch [lindex $a 0] }
proc do::write_hw_platform {o a} {
    opened write_hw_platform
    if {[project opened] ne [project current]} { fail current-run "the bitstream is that of [project current]" }
    touch [lindex $a 0]
}
proc opened {what} { if {[project opened] eq ""} { fail before-creation "$what without an open run" } }

# --- Properties.
proc do::set_property {o a} {
    if {[dict exists $o -dict]} {
        if {[llength $a] != 1} { fail wrong-type "set_property -dict wants one object" }
        foreach {name value} [dict get $o -dict] { assign $name $value [lindex $a 0] }
    } else {
        if {[llength $a] != 3} { fail wrong-type "set_property wants a name, a value and an object" }
        assign {*}$a
    }
}
proc assign {name value object} {
    set kind [lindex [split $object @] 0]
    if {$kind eq "cell" && [string match CONFIG.* $name]} {
        set name [string range $name 7 end]
        set cell [named $object]
        set rows [lindex $::ip([dict get $::cells $cell vlnv]) 0]
        set row [lsearch -exact [lmap {n t d} $rows { set n }] $name]
        if {$row < 0} { fail unknown-config "CONFIG.$name of $cell" }
        want [lindex $rows [expr {3 * $row + 1}]] $value "CONFIG.$name of $cell"
        dict set ::cells $cell config $name $value
        return
    }
    if {![info exists ::property($kind,$name)]} { fail unknown-property "$name of [list $object]" }
    lassign $::property($kind,$name) type how
    if {$how eq "readonly"} { fail read-only "$name of $object" }
    want $type $value "$name of $object"
    switch $kind,$name {
        project,board_part {
            set value [named $value]
            if {![info exists ::board($value)]} { fail unknown-board $value }
            if {$::board($value) ne [project part]} { fail wrong-part "$value has $::board($value), the project [project part]" }
            dict set ::project board_part $value
        }
        project,board_connections {
            foreach {name end} $value {
                set at [project board_part],$name
                if {![info exists ::connector($at)] || [lindex $::connector($at) 0] ne $end} { fail unknown-board "$name $end" }
            }
            dict set ::project connections $value
        }
        project,ip_repo_paths { dict set ::project repos $value }
        fileset,top { dict set ::project top $value }
        run,STEPS.POST_ROUTE_PHYS_OPT_DESIGN.IS_ENABLED { dict set ::project runs [named $object] POST_ROUTE_PHYS_OPT $value }
        default { dict set ::packed $name $value; dict set ::packed saved 0 }
    }
}
# divided returns the fastest clock of at most so many MHz that two dividers make of a PLL. Kria's modules have another PLL
# than most boards (Kria-PYNQ, kv260/base/base.tcl). The variable PLL of the environment is its frequency, if it is set.
proc divided {pll asked} {
    if {[string match "xilinx.com:k*_som:*" [project board_part]]} { set pll 1000 }
    if {[info exists ::env(PLL)]} { set pll $::env(PLL) }
    set best 0.0
    for {set a 1} {$a <= 63} {incr a} {
        for {set b 1} {$b <= $a} {incr b} {
            set mhz [expr {double($pll) / ($a * $b)}]
            if {$mhz <= $asked * (1 + 1e-6) && $mhz > $best} { set best $mhz }
        }
    }
    return [format %.6f $best]
}
proc do::get_property {o a} {
    lassign $a name objects
    if {[llength $objects] == 0} { fail wrong-type "get_property $name of nothing" }
    foreach object $objects {
        set kind [lindex [split $object @] 0]
        if {![info exists ::property($kind,$name)]} { fail unknown-property "$name of [list $object]" }
        switch $kind,$name {
            run,PROGRESS {
                ran [named $object] PROGRESS
                set failed [expr {[info exists ::env(FAILS)] && [named $object] in $::env(FAILS)}]
                lappend found [expr {$failed ? "58%" : "100%"}]
            }
            run,STATS.WNS { lappend found [said [named $object] WNS] }
            run,STATS.WHS { lappend found [said [named $object] WHS] }
            run,FLOW { lappend found "Vivado Implementation 2022" }
            cell,CONFIG.PSU__CRL_APB__PL0_REF_CTRL__ACT_FREQMHZ {
                lappend found [divided 1500 [dict get $::cells [named $object] config PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ]]
            }
            cell,CONFIG.PCW_ACT_FPGA0_PERIPHERAL_FREQMHZ {
                lappend found [divided 1000 [dict get $::cells [named $object] config PCW_FPGA0_PERIPHERAL_FREQMHZ]]
            }
            default { lappend found [named $object] }
        }
    }
    return [expr {[llength $found] == 1 ? [lindex $found 0] : $found}]
}

# --- Cells.
proc do::create_bd_design {o a} { project name; dict set ::project board [lindex $a 0] }
proc do::create_bd_cell {o a} {
    if {[project board] eq ""} { fail before-creation "create_bd_cell without a block design" }
    set vlnv [dict get $o -vlnv]
    set name [lindex $a 0]
    if {[object ipdef $vlnv] ni [do::get_ipdefs {} [list $vlnv]]} { fail unknown-vlnv $vlnv }
    if {[dict exists $::cells $name]} { fail given-twice "the cell $name" }
    set config {}
    foreach {key type default} [lindex $::ip($vlnv) 0] { lappend config $key $default }
    dict set ::cells $name [dict create vlnv $vlnv config $config external {}]
    return [object cell $name]
}
proc do::apply_bd_automation {o a} {
    set rule [dict get $o -rule]
    set cell [named [lindex $a 0]]
    if {![info exists ::automation($rule)]} { fail unknown-rule $rule }
    lassign $::automation($rule) vlnv words preset
    if {[dict get $::cells $cell vlnv] ne $vlnv} { fail wrong-type "$rule is not for $cell" }
    foreach {word value} [dict get $o -config] {
        if {$word ni $words} { fail unknown-config "$rule has no $word" }
    }
    if {[dict exists [dict get $o -config] apply_board_preset] && [dict get $o -config apply_board_preset]} {
        if {[project board_part] eq ""} { fail no-board "a preset of no board" }
        dict for {key value} $preset { dict set ::cells $cell config $key $value }
    }
    if {[dict exists [dict get $o -config] make_external]} {
        foreach bus [split [dict get $o -config make_external] ", "] { dict lappend external $cell $bus }
        dict set ::cells $cell external [dict get $external $cell]
    }
}

# shape evaluates what the table says of a cell's pins: two lists, of pins and of buses, and the name of the cell's own space.
proc shape {cell} {
    set ::shaped [dict create cell $cell pins {} buses {} space ""]
    eval [lindex $::ip([dict get $::cells $cell vlnv]) 1]
    return $::shaped
}
proc value {name} { return [dict get $::cells [dict get $::shaped cell] config $name] }
proc pin {name direction kind bits {how ""}} {
    dict set ::shaped pins $name [dict create dir $direction kind $kind bits $bits optional [expr {$how ne ""}]]
}
proc bus {name mode kind clock args} { dict set ::shaped buses $name [dict create mode $mode kind $kind clock $clock {*}$args] }
proc space {name} { dict set ::shaped space $name }

proc part_of {kind path} {
    lassign [split $path /] cell name
    if {![dict exists $::cells $cell]} { fail before-creation "there is no cell of $path" }
    if {![dict exists [shape $cell] $kind $name]} { fail unknown-pin $path }
}
proc do::get_bd_pins {o a} { part_of pins [lindex $a 0]; return [object pin [lindex $a 0]] }
proc do::get_bd_intf_pins {o a} { part_of buses [lindex $a 0]; return [object bus [lindex $a 0]] }
proc do::connect_bd_net {o a} {
    set joined {}
    foreach object $a { lappend joined [named $object] }
    set others {}
    foreach net $::nets {
        if {[lmap pin $joined { if {$pin ni $net} continue; set pin }] ne ""} {
            set joined [concat $net $joined]
        } else {
            lappend others $net
        }
    }
    lappend others [lsort -unique $joined]
    set ::nets $others
}
proc do::connect_bd_intf_net {o a} {
    if {[llength $a] != 2} { fail wrong-type "a link has two ends" }
    lappend ::links [lmap object $a { named $object }]
}

# --- Addresses.
proc do::get_bd_addr_spaces {o a} {
    lassign [split [lindex $a 0] /] cell name
    if {![dict exists $::cells $cell]} { fail before-creation "there is no cell of [lindex $a 0]" }
    set s [shape $cell]
    if {[dict get $s space] ne $name && !([dict exists $s buses $name space])} { fail unknown-pin "the address space [lindex $a 0]" }
    return [object space [lindex $a 0]]
}
proc segments {} {
    set all {}
    foreach cell [dict keys $::cells] {
        dict for {name b} [dict get [shape $cell] buses] {
            if {[dict exists $b segments]} {
                set port [expr {[dict exists $b port] ? [dict get $b port] : $name}]
                foreach {segment base bytes} [dict get $b segments] { lappend all $cell/$port/$segment [list $cell/$name $base $bytes] }
            }
        }
    }
    return $all
}
proc do::get_bd_addr_segs {o a} {
    set found [lsort [lmap s [dict keys [segments] [lindex $a 0]] { object segment $s }]]
    if {[llength $found] == 0} { fail unknown-pin "no address segment is called [lindex $a 0]" }
    return $found
}
proc do::assign_bd_address {o a} {
    if {![dict exists $o -target_address_space]} { fail wrong-type "assign_bd_address without -target_address_space" }
    foreach object [concat {*}$a] {
        lassign [dict get [segments] [named $object]] bus base bytes
        if {[dict exists $o -offset]} { set base [dict get $o -offset] }
        if {[dict exists $o -range]} { set bytes [dict get $o -range] }
        lappend ::maps [list [named [dict get $o -target_address_space]] [named $object] $bus [number $base] [number $bytes]]
    }
}
proc do::exclude_bd_addr_seg {o a} {
    lappend ::excluded [list [named [dict get $o -target_address_space]] [named [lindex $a 0]]]
}

# --- What became of it.
proc state {} { return [list $::cells $::nets $::links $::maps $::excluded] }
proc do::validate_bd_design {o a} { set ::checked [state] }
proc do::save_bd_design {o a} {}

proc quoted {text} { return "\"[string map {\\ \\\\ \" \\\"} $text]\"" }
proc array_of {items} { return "\[[join $items ,]\]" }
proc object_of {pairs} {
    return "{[join [lmap {key value} $pairs { string cat [quoted $key] : $value }] ,]}"
}
proc strings {list} { return [array_of [lmap s $list { quoted $s }]] }
proc graph_of {cell} {
    set c [dict get $::cells $cell]
    set s [shape $cell]
    set pins {}
    dict for {name p} [dict get $s pins] {
        set bits [split [dict get $p bits] :]
        lappend pins $name [object_of [list dir [quoted [dict get $p dir]] kind [quoted [dict get $p kind]] \
            least [lindex $bits 0] most [lindex $bits end] optional [expr {[dict get $p optional] ? "true" : "false"}]]]
    }
    set buses {}
    dict for {name b} [dict get $s buses] {
        set outside [expr {$name in [dict get $c external]}]
        set fields [list mode [quoted [dict get $b mode]] kind [quoted [dict get $b kind]] clock [quoted [dict get $b clock]] \
            outside [expr {$outside ? "true" : "false"}]]
        foreach key {bits last beats space through external} {
            if {[dict exists $b $key]} { lappend fields $key [dict get $b $key] }
        }
        set vlnv [dict get $c vlnv]
        if {[dict exists $::buses $vlnv $name]} {
            set said {}
            dict for {key value} [dict get $::buses $vlnv $name] { lappend said $key [quoted $value] }
            lappend fields said [object_of $said]
        }
        if {[dict exists $b window]} { lappend fields window [array_of [lmap n [dict get $b window] { expr {$n} }]] }
        lappend buses $name [object_of $fields]
    }
    set config {}
    dict for {key value} [dict get $c config] { lappend config $key [quoted $value] }
    return [object_of [list vlnv [quoted [dict get $c vlnv]] space [quoted [dict get $s space]] config [object_of $config] \
        pins [object_of $pins] buses [object_of $buses]]]
}
proc write_graph {file} {
    set cells {}
    foreach cell [dict keys $::cells] { lappend cells $cell [graph_of $cell] }
    set maps [lmap m $::maps {
        lassign $m space segment bus base bytes
        object_of [list space [quoted $space] segment [quoted $segment] bus [quoted $bus] base $base bytes $bytes]
    }]
    set out [open $file w]
    puts $out [object_of [list cells [object_of $cells] nets [array_of [lmap n $::nets { strings $n }]] \
        links [array_of [lmap l $::links { strings $l }]] maps [array_of $maps] \
        excluded [array_of [lmap e $::excluded { strings $e }]] \
        board_part [quoted [expr {[info exists ::closed] ? [dict get $::closed board_part] : ""}]] \
        connections [quoted [expr {[info exists ::closed] ? [dict get $::closed connections] : ""}]] calls [strings $::calls]]]
    close $out
}
