# The part of vivado.tcl that packs IPs and kernels. A packed IP is a file component.xml with a line: vendor, library, name,
# version, then what makes it a kernel. A second line has the parameters of its AXI buses, as the top states them.

namespace eval do::ipx {}
proc do::ipx::package_project {o a} {
    global project core packed
    if {![info exists project]} { fail before-creation "ipx::package_project without a project" }
    set top [dict get $project top]
    set text ""
    foreach file [dict get $project files] {
        set in [open $file]
        append text [read $in]
        close $in
    }
    if {![regexp "\\mmodule\\s+$top\\M" $text]} { fail top "no file has the module [list $top]" }
    regexp -indices "\\mmodule\\s+$top\\M" $text at
    set body [string range $text [lindex $at 0] [string first "\nendmodule" $text [lindex $at 0]]]
    set dir [dict get $o -root_dir]
    file mkdir $dir
    set packed [dict create dir $dir buses [attributes $body] vendor [dict get $o -vendor] library [dict get $o -library] name $top version 1.0 saved 0]
    return [object core $dir]
}
# attributes is the parameters that the attributes of a module give to its AXI buses. Each signal names its bus.
proc attributes {body} {
    set buses {}
    foreach line [split $body \n] {
        if {[regexp {aximm:1.0 (\w+) (\w+)"(?:, X_INTERFACE_PARAMETER = "([^"]*)")? \*\)} $line - bus signal list]} {
            set mapped ${bus}_[string tolower $signal]
            foreach pair [split $list ,] {
                lassign $pair name value
                if {![info exists ::interface($name)]} { fail unknown-config "$name of the bus $bus" }
                want [lindex $::interface($name) 0] $value "$name of the bus $bus"
                dict set buses $bus $name $value
            }
        } elseif {[regexp {^ *(?:input|output) .*\m(m_axi_\w+),$} $line - port]} {
            if {![info exists mapped] || $port ne $mapped} { fail interface "$port is not of the bus that its attribute names" }
            unset mapped
        }
    }
    return $buses
}
proc do::ipx::current_core {o a} {
    if {![info exists ::packed]} { fail before-creation "no core is open" }
    return [object core [dict get $::packed dir]]
}
proc do::ipx::open_core {o a} {
    set in [open [lindex $a 0]]
    lassign [gets $in] vendor library name version
    close $in
    set ::packed [dict create dir [file dirname [lindex $a 0]] vendor $vendor library $library name $name version $version saved 1 buses {}]
    return [object core [dict get $::packed dir]]
}
proc do::ipx::create_xgui_files {o a} {}
proc do::ipx::update_checksums {o a} { dict set ::packed saved 0 }
proc do::ipx::get_user_parameters {o a} { return {parameter@DATA_BITS parameter@HASH} }
proc do::ipx::remove_user_parameter {o a} { dict set ::packed saved 0 }
proc do::ipx::save_core {o a} {
    set out [open [dict get $::packed dir]/component.xml w]
    set kernel {}
    if {[dict exists $::packed sdx_kernel] && [dict exists $::packed sdx_kernel_type]} { set kernel kernel }
    puts $out [concat [lmap key {vendor library name version} { dict get $::packed $key }] $kernel]
    puts $out [dict get $::packed buses]
    close $out
    dict set ::packed saved 1
}
proc do::package_xo {o a} {
    set file [dict get $o -ip_directory]/component.xml
    if {![file isfile $file]} { fail no-file "package_xo: no $file" }
    set in [open $file]
    set line [gets $in]
    close $in
    if {[lindex $line 2] ne [dict get $o -kernel_name]} { fail kernel-name "[dict get $o -kernel_name] is packed as [lindex $line 2]" }
    if {[lindex $line 4] ne "kernel"} { fail not-a-kernel [dict get $o -kernel_name] }
    touch [dict get $o -xo_path]
}
proc touch {file} {
    file mkdir [file dirname $file]
    close [open $file w]
}
