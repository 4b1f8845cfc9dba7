# Packs the network as one IP: the generated top, the FIFOs, and the Verilog that Vitis HLS has made from every layer.
# In the folder hls:
#     make package
# which runs, after `make ip`,
#     vivado -mode batch -source rtl/package.tcl
# The IP is in build.ip/{{ v.Top|req }}_ip.
set hls [file dirname [file dirname [file normalize [info script]]]]
cd $hls

# Modules of different layers must have different names, because each is in a file of its name.
set sources [list rtl/{{ v.Top|req }}.v rtl/hlsgen_fifo.sv]
foreach list [lsort [glob ip/*.files]] {
    set layer [file rootname [file tail $list]]
    set made [lsort [glob -nocomplain build.ip/$layer/verilog/*]]
    if {"build.ip/$layer/verilog/$layer.v" ni $made} {
        error "there is no Verilog of $layer: make ip"
    }
    foreach file $made {
        set name [file tail $file]
        if {[info exists owner($name)]} {
            error "$layer and $owner($name) both have a file $name"
        }
        set owner($name) $layer
        lappend sources $file
    }
}

create_project -force -part {{ v.Part|req }} package build.ip/package.vivado
foreach file $sources {
    if {[file extension $file] eq ".tcl"} {
        source $file
    } else {
        add_files -norecurse $file
    }
}
set_property top {{ v.Top|req }} [current_fileset]
update_compile_order -fileset sources_1
ipx::package_project -root_dir build.ip/{{ v.Top|req }}_ip -vendor hlsgen -library hls -taxonomy /UserIP -import_files -force
set core [ipx::current_core]
set_property name {{ v.Top|req }} $core
set_property display_name {{ v.Top|req }} $core
set_property version 1.0 $core
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::save_core $core
close_project
