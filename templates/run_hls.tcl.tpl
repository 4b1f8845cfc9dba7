# Vitis HLS up to 2024.1:
#     vitis_hls -f run_hls.tcl
# HLS_STEPS chooses among csim, csynth, cosim and export: HLS_STEPS="csim csynth" vitis_hls -f run_hls.tcl
# Processes run by themselves here, and co-simulation need not find an end of that: it is left out unless it is asked for
# (make cosim; the Makefile says what UG1399 asks of designs without a block-level protocol).
set steps {csim csynth export}
if {[info exists ::env(HLS_STEPS)]} {
    set steps $::env(HLS_STEPS)
}
cd [file dirname [file normalize [info script]]]

open_project -reset {{ v.Top|req }}
set_top {{ v.Top|req }}
add_files top.cpp -cflags "-std=c++14"
add_files layers.cpp -cflags "-std=c++14"
add_files -tb tb/tb.cpp -cflags "-std=c++14 -Wno-unknown-pragmas"
add_files -tb tb/data
open_solution -reset solution1 -flow_target vivado
set_part {{ v.Part|req }}
create_clock -period {{ v.Period|req }} -name default
config_dataflow -strict_mode error
config_rtl -module_auto_prefix
config_compile -pipeline_style flp
# A loop's body is bounded here already; a version that does not know the option keeps its own bound (HLS 200-1471).
catch {
    set_param hls.enable_hidden_option_error false
    config_compile -disable_unroll_code_size_check
}

if {"csim" in $steps} { csim_design }
if {"csynth" in $steps} { csynth_design }
if {"cosim" in $steps} { cosim_design }
if {"export" in $steps} { export_design -format ip_catalog }
exit
