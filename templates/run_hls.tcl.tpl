# Vitis HLS up to 2024.1:
#     vitis_hls -f run_hls.tcl
# HLS_STEPS chooses among csim, csynth, cosim and export: HLS_STEPS="csim csynth" vitis_hls -f run_hls.tcl Processes
# run without a start signal here, so co-simulation may never end. It only runs if HLS_STEPS names it (make cosim).
# The Makefile has UG1399's requirements for designs without a block-level protocol.
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
# The sizes of loop bodies are limited already. A version that does not know the option keeps its own limit (HLS
# 200-1471).
catch {
    set_param hls.enable_hidden_option_error false
    config_compile -disable_unroll_code_size_check
}

if {"csim" in $steps} { csim_design }
if {"csynth" in $steps} { csynth_design }
if {"cosim" in $steps} { cosim_design }
if {"export" in $steps} { export_design -format ip_catalog }
exit
