# What hls.tcl knows of Vitis HLS. Each row is from the source, and holds for the versions, that the `from` above it names;
# older versions than these were not looked up.
#
#     program NAME {SWITCH TYPE ...}                          of a command line
#     command NAME {SWITCH TYPE KEY ...} {TYPE ...} {NEED ...}
#     option COMMAND SWITCH TYPE KEY                          one more switch
#     hidden COMMAND SWITCH TYPE                              one that is known only after set_param hls.enable_hidden_option_error
#     param NAME TYPE                                         of set_param
#     key SECTION NAME TYPE ?many?                            of a configuration; many: one line per value
#     parts FOLDER                                            of the boards' files
#
# KEY is what the switch is called in a configuration, where it has a name there: such a row is a key of [hls] too. TYPE? may be
# left out. Types: text, name (of a function), flags (for the compiler), file, path (a file or a folder), sources and paths (a Tcl
# list of such), period (ns, or with a unit), part, int:LO:HI, one:A:B, bool (as a switch -x or -x=VALUE), flag.
# A need is what has to be there before: project, solution, part, top, sources, bench (a main among the files of the test bench),
# synthesis (of all that has been set).

from "UG1399 2022.2-2024.1, vitis_hls command; Vitis Libraries 2024.2, Run a L1 Example: deprecated from 2024.2" 2022.2-2024.1
program vitis_hls {-f file -l text}
from "UG1702 2025.1, vitis-run Command; UG1399 2023.2, vitis, v++, and vitis-run Commands" 2023.2-2025.2
program vitis-run {--mode one:hls --tcl file --csim flag --cosim flag --package flag --config file --work_dir text}
from "UG1399 2025.2, HLS Config File Commands; UG1393 2023.2, v++ Mode HLS" 2023.2-2025.2
program v++ {-c flag --mode one:hls --config file --work_dir text}

from "each board's JSON and its part_source; UG1399, set_part" 2022.2-2025.2
parts boards

from "UG1399 2025.2, Vitis HLS Command Reference: the command's own page; Tcl to Config File Command Map" 2022.2-2025.2
command open_project {-reset bool "" -upgrade bool ""} {text} {}
command open_solution {-reset bool "" -flow_target one:vivado:vitis flow_target} {text} {project}
command close_project {} {} {project}
command close_solution {} {} {solution}
command set_top {} {name} {project}
command add_files {-tb bool "" -cflags flags "" -csimflags flags "" -blackbox file ""} {paths} {project}
command set_part {} {part} {solution}
command create_clock {-period period clock -name text ""} {} {solution}
command set_clock_uncertainty {} {text} {solution}
command csim_design {
    -argv text csim.argv -clean bool csim.clean -ldflags flags csim.ldflags -mflags flags csim.mflags -O bool csim.O
    -setup bool csim.setup
} {} {solution top sources bench}
command csynth_design {-dump_cfg bool "" -synthesis_check bool ""} {} {solution part top sources}
command cosim_design {
    -argv text cosim.argv -ldflags flags cosim.ldflags -mflags flags cosim.mflags -O bool cosim.O -setup bool cosim.setup
    -rtl one:verilog:vhdl cosim.rtl -tool one:auto:vcs:modelsim:riviera:ncsim:xceilum:xsim cosim.tool
    -trace_level one:none:port:port_hier:all cosim.trace_level -random_stall bool cosim.random_stall
    -wave_debug bool cosim.wave_debug -disable_deadlock_detection bool cosim.disable_deadlock_detection
    -enable_dataflow_profiling bool cosim.enable_dataflow_profiling -enable_fifo_sizing bool cosim.enable_fifo_sizing
} {} {synthesis bench}
command export_design {
    -format one:ip_catalog:xo:syn_dcp:sysgen:rtl package.output.format -output text package.output.file
    -flow one:none:syn:impl vivado.flow -rtl one:verilog:vhdl vivado.rtl -description text package.ip.description
    -display_name text package.ip.display_name -ipname name package.ip.name -library text package.ip.library
    -taxonomy text package.ip.taxonomy -vendor text package.ip.vendor -version text package.ip.version
} {} {synthesis}

from "UG1399 2025.1 and 2025.2, open_component; of 2024.2 there is no page" 2024.2-2025.2
command open_component {-reset bool "" -flow_target one:vivado:vitis flow_target -config text "" -write_ini bool ""} {text} {}

from "UG1399 2025.2 and 2024.1, config_compile; Tcl to Config File Command Map" 2022.2-2025.2
command config_compile {} {} {solution}
option config_compile -pipeline_style one:stp:flp:frp syn.compile.pipeline_style
option config_compile -pipeline_loops int:0:2147483647 syn.compile.pipeline_loops
option config_compile -pipeline_flush_in_task one:always:never:ii1 syn.compile.pipeline_flush_in_task
option config_compile -enable_auto_rewind bool syn.compile.enable_auto_rewind
option config_compile -ignore_long_run_time bool syn.compile.ignore_long_run_time
option config_compile -name_max_length int:1:2147483647 syn.compile.name_max_length
option config_compile -no_signed_zeros bool syn.compile.no_signed_zeros
option config_compile -unsafe_math_optimizations bool syn.compile.unsafe_math_optimizations
option config_compile -pragma_strict_mode bool syn.compile.pragma_strict_mode
from "UG1399 2025.2, Dataflow Configuration; Tcl to Config File Command Map" 2022.2-2025.2
command config_dataflow {} {} {solution}
option config_dataflow -strict_mode one:error:warning:off syn.dataflow.strict_mode
option config_dataflow -strict_stable_sync bool syn.dataflow.strict_stable_sync
option config_dataflow -default_channel one:fifo:pingpong syn.dataflow.default_channel
option config_dataflow -fifo_depth int:0:2147483647 syn.dataflow.fifo_depth
option config_dataflow -scalar_fifo_depth int:0:2147483647 syn.dataflow.scalar_fifo_depth
option config_dataflow -start_fifo_depth int:0:2147483647 syn.dataflow.start_fifo_depth
option config_dataflow -task_level_fifo_depth int:0:2147483647 syn.dataflow.task_level_fifo_depth
option config_dataflow -override_user_fifo_depth int:0:2147483647 syn.dataflow.override_user_fifo_depth
from "UG1399 2025.2, RTL Configuration; Tcl to Config File Command Map; FINN (hlsbackend.py)" 2022.2-2025.2
command config_rtl {} {} {solution}
option config_rtl -module_auto_prefix bool syn.rtl.module_auto_prefix
option config_rtl -module_prefix text syn.rtl.module_prefix
option config_rtl -deadlock_detection one:none:sim:hw syn.rtl.deadlock_detection
option config_rtl -header file syn.rtl.header
option config_rtl -register_reset_num int:0:2147483647 syn.rtl.register_reset_num
option config_rtl -reset one:none:control:state:all syn.rtl.reset
option config_rtl -reset_async bool syn.rtl.reset_async
option config_rtl -reset_level one:high:low syn.rtl.reset_level
from "UG1399 2023.2, config_export; Tcl to Config File Command Map" 2022.2-2025.2
command config_export {} {} {solution}
option config_export -format one:ip_catalog:xo:syn_dcp:sysgen:rtl package.output.format
option config_export -flow one:none:syn:impl vivado.flow
from "UG1399 2025.2, config_interface; Tcl to Config File Command Map" 2022.2-2025.2
command config_interface {} {} {solution}
option config_interface -m_axi_addr64 bool syn.interface.m_axi_addr64
option config_interface -clock_enable bool syn.interface.clock_enable
option config_interface -register_io one:off:scalar_in:scalar_out:scalar_all syn.interface.register_io

from "UG1399 2022.1-2025.2, set_directive_interface" 2022.2-2025.2
command set_directive_interface {
    -mode one:ap_none:ap_vld:ap_ack:ap_hs:ap_ovld:ap_memory:ap_fifo:bram:axis:m_axi:s_axilite:ap_ctrl_chain:ap_ctrl_hs:ap_ctrl_none ""
    -register bool "" -register_mode one:both:forward:reverse:off "" -depth int:1:2147483647 "" -bundle text ""
} {name text?} {solution top sources}

from "FINN (hlsbackend.py): ipgen_default_directives" 2022.2-2025.2
command set_param {} {text text} {}
param hls.enable_hidden_option_error one:true:false
from "FINN (hlsbackend.py), with the versions that it is said to run with" 2022.2-2024.2
hidden config_compile -disable_unroll_code_size_check bool

from "UG1399 2025.2, HLS Config File Commands: options without a section" 2023.2-2025.2
key "" part part
key "" platform text
key "" freqhz int:1:2147483647
from "UG1399 2025.2 and UG1702 2025.1, HLS General Options" 2023.2-2025.2
key hls clock period
key hls clock_uncertainty text
key hls flow_target one:vivado:vitis
from "UG1399 2025.2, C-Synthesis Sources; Test Bench Sources; a folder of the bench: UG1399 2025.2, add_files" 2023.2-2025.2
key hls syn.file file many
key hls syn.top name
key hls syn.cflags flags
key hls syn.csimflags flags
key hls syn.file_cflags text many
key hls syn.file_csimflags text many
key hls syn.blackbox.file file
key hls tb.file path many
key hls tb.cflags flags
key hls tb.file_cflags text many
from "UG1399 2025.2, Package Options" 2023.2-2025.2
key hls package.output.syn bool
