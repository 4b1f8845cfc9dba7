# The network as an IP of Vivado's block designs. In the folder rtl:
#     make package
# which is
#     vivado -mode batch -source ip/package.tcl
# or, with the top that looks at packets,
#     vivado -mode batch -source ip/package.tcl -tclargs checked
# The IP is in build/ip/{{ v.Top|req }}, or build/ip/{{ v.Top|req }}_checked. No Vivado was at hand to try this file.
cd [file dirname [file dirname [file normalize [info script]]]]
set name {{ v.Top|req }}
set wrapper ip/{{ v.Top|req }}_ip.v
if {$argc > 0 && [lindex $argv 0] eq "checked"} {
    set name {{ v.Top|req }}_checked
    set wrapper {{ v.Top|req }}_checked.v
}

# In an IP the tables lie beside the modules that read them.
file delete -force build/ip/$name build/ip/$name.src
file mkdir build/ip/$name.src
set sources {}
set tables [lsort [glob -nocomplain tables/*]]
foreach file [concat $wrapper {{ v.Top|req }}.sv [lsort [glob layers/*.sv]] [lsort [glob shared/*.sv]] $tables] {
    set copy build/ip/$name.src/[file tail $file]
    if {[file exists $copy]} {
        error "there are two files [file tail $file]"
    }
    set from [open $file]
    set to [open $copy w]
    puts -nonewline $to [string map {"\"tables/" "\"./"} [read $from]]
    close $from
    close $to
    lappend sources $copy
}

create_project -force -part {{ v.Part|req }} package build/ip/$name.vivado
foreach file $sources {
    add_files -norecurse $file
}
set_property top [file rootname [file tail $wrapper]] [current_fileset]
update_compile_order -fileset sources_1
ipx::package_project -root_dir build/ip/$name -vendor hlsgen -library hls -taxonomy /UserIP -import_files -force
set core [ipx::current_core]
set_property name $name $core
set_property display_name $name $core
set_property version 1.0 $core
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::save_core $core
close_project
