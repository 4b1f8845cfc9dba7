# The movers as IPs of Vivado, in build/ip: files of the folder ip, with the tops hlsgen_read_ip.v and hlsgen_write_ip.v. In the
# folder vivado:
#     vivado -mode batch -source ip/package.tcl
# No Vivado was at hand to try this file.
cd [file dirname [file dirname [file normalize [info script]]]]
foreach name {hlsgen_read hlsgen_write} {
    create_project -force -part {{ v.Board.Part|req }} package build/package
    foreach file [concat ip/${name}_ip.v [lsort [glob ip/*.sv]]] {
        add_files -norecurse $file
    }
    set_property top ${name}_ip [current_fileset]
    update_compile_order -fileset sources_1
    ipx::package_project -root_dir build/ip/$name -vendor hlsgen -library kernels -taxonomy /UserIP -import_files -force
    set core [ipx::current_core]
    set_property name $name $core
    set_property display_name $name $core
    set_property version 1.0 $core
    ipx::create_xgui_files $core
    ipx::update_checksums $core
    ipx::save_core $core
    close_project
}
