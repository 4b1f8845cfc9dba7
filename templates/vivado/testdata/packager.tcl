# The part of vivado.tcl that packs IPs and kernels. A packed IP is a file component.xml with a line: vendor, library, name,
# version, then what makes it a kernel.

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
    set dir [dict get $o -root_dir]
    file mkdir $dir
    set packed [dict create dir $dir vendor [dict get $o -vendor] library [dict get $o -library] name $top version 1.0 saved 0]
    return [object core $dir]
}
proc do::ipx::current_core {o a} {
    if {![info exists ::packed]} { fail before-creation "no core is open" }
    return [object core [dict get $::packed dir]]
}
proc do::ipx::open_core {o a} {
    set in [open [lindex $a 0]]
    lassign [gets $in] vendor library name version
    close $in
    set ::packed [dict create dir [file dirname [lindex $a 0]] vendor $vendor library $library name $name version $version saved 1]
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
