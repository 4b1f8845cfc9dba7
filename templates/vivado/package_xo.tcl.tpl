# The movers and the accelerator as kernels, in build. In the folder vivado:
#     vivado -mode batch -source package_xo.tcl -tclargs FOLDER_OF_THE_IP
# No Vivado was at hand to try this file.
cd [file dirname [file normalize [info script]]]
set ip [expr {$argc > 0 ? [lindex $argv 0] : "{{ v.Flow|req }}"}]
file mkdir build/ip

# An IP becomes a kernel.
proc kernel {name core} {
    set_property sdx_kernel true $core
    set_property sdx_kernel_type rtl $core
    set_property supported_families {} $core
    set_property auto_family_support_level level_2 $core
    ipx::create_xgui_files $core
    ipx::update_checksums $core
    ipx::save_core $core
    file delete -force build/$name.xo
    package_xo -xo_path build/$name.xo -kernel_name $name -ip_directory build/ip/$name -kernel_xml kernels/$name.xml
}
{% for m in v.Movers %}
lappend movers {{ m.KernelName|req }}
{%- endfor %}
foreach name $movers {
    create_project -force -part {{ v.Board.Part|req }} package build/package
    foreach file [concat kernels/$name.v [lsort [glob ip/*.sv]]] {
        add_files -norecurse $file
    }
    set_property top $name [current_fileset]
    update_compile_order -fileset sources_1
    ipx::package_project -root_dir build/ip/$name -vendor hlsgen -library kernels -taxonomy /KernelIP -import_files -force
    set core [ipx::current_core]
    # What a kernel is made for is not for others to say.
    foreach parameter [ipx::get_user_parameters -of_objects $core] {
        ipx::remove_user_parameter [get_property NAME $parameter] $core
    }
    set_property name $name $core
    set_property display_name $name $core
    set_property version 1.0 $core
    kernel $name $core
    close_project
}

# The accelerator is an IP already: a copy of it becomes the kernel.
if {![file exists $ip/component.xml]} {
    error "there is no IP in $ip: make -C {{ v.FlowFolder|req }} package"
}
file delete -force build/ip/{{ v.Top|req }}
file copy $ip build/ip/{{ v.Top|req }}
kernel {{ v.Top|req }} [ipx::open_core build/ip/{{ v.Top|req }}/component.xml]
