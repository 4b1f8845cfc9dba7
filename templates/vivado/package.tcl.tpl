# The movers as IPs of Vivado, and what joins their interrupts, in build/ip: files of the folder ip. In the folder vivado:
#     vivado -mode batch -source ip/package.tcl
# No Vivado was at hand to try this file.
cd [file dirname [file dirname [file normalize [info script]]]]
foreach {top library name below} {
{%- for c in v.Cores %}
    {{ c.Top|req }} {{ c.Library|req }} {{ c.Name|req }} {{ "{" }}{% if c.Files %}{{ c.Files|req }}{% endif %}{{ "}" }}
{%- endfor %}
} {
    create_project -force -part {{ v.Board.Part|req }} package build/package
    foreach file [concat ip/$top.v [lsort [glob -nocomplain {*}$below]]] {
        add_files -norecurse $file
    }
    set_property top $top [current_fileset]
    update_compile_order -fileset sources_1
    ipx::package_project -root_dir build/ip/$top -vendor hlsgen -library $library -taxonomy /UserIP -import_files -force
    set core [ipx::current_core]
    set_property name $name $core
    set_property display_name $top $core
    set_property version 1.0 $core
    ipx::create_xgui_files $core
    ipx::update_checksums $core
    ipx::save_core $core
    close_project
}
