# Vitis 2024.2 and later:
#     v++ -c --mode hls --config hls_config.cfg --work_dir {{ v.Top|req }}
#     vitis-run --mode hls --csim --config hls_config.cfg --work_dir {{ v.Top|req }}
#     vitis-run --mode hls --cosim --config hls_config.cfg --work_dir {{ v.Top|req }}
part={{ v.Part|req }}

[hls]
clock={{ v.Period|req }}ns
flow_target=vivado
syn.file=top.cpp
syn.file=layers.cpp
syn.top={{ v.Top|req }}
syn.cflags=-std=c++14
syn.dataflow.strict_mode=error
syn.rtl.module_auto_prefix=1
syn.compile.pipeline_style=flp
tb.file=tb/tb.cpp
tb.file=tb/data
tb.cflags=-std=c++14 -Wno-unknown-pragmas
package.output.format=ip_catalog
