# A bitstream for {{ v.Board|req }}, with Vivado: make bitstream, or vivado -mode batch -source uart/vivado.tcl -tclargs BAUD
# in the folder rtl. No Vivado was at hand to try this file.
set baud [expr {$argc > 0 ? [lindex $argv 0] : {{ v.Baud|req }}}]
file mkdir build
read_verilog -sv [concat [glob *.sv layers/*.sv shared/*.sv] [glob uart/*.sv]]
read_xdc uart/pins.xdc
synth_design -top {{ v.Top|req }}_uart -part {{ v.Part|req }} -generic BAUD=$baud
opt_design
place_design
route_design
report_utilization -file build/utilization.txt
report_timing_summary -file build/timing.txt
write_bitstream -force build/{{ v.Top|req }}_uart.bit
