# Synthesises and places a layer alone, out of context, and reports what it takes. hlsgen synth has Vivado run it, in a folder of its own:
#     vivado -mode batch -source vivado.tcl -tclargs TOP FILE ...
# No Vivado was at hand to try this file.
set top [lindex $argv 0]
create_project -in_memory -part @PART@
foreach file [lrange $argv 1 end] {
    switch [file extension $file] {
        .v { read_verilog $file }
        .sv { read_verilog -sv $file }
        .tcl { source $file }
        default {
            # A table is looked for here, or where the written Verilog has it.
            file mkdir tables
            file copy -force $file .
            file copy -force $file tables
        }
    }
}
if {[llength [get_ips -quiet]] > 0} {
    synth_ip [get_ips]
}
# Synthesis is timed only if it knows the clock.
set constraints [open clock.xdc w]
puts $constraints {create_clock -period @PERIOD@ -name clk [get_ports -quiet {ap_clk clk}]}
close $constraints
read_xdc -mode out_of_context clock.xdc
synth_design -top $top -part @PART@ -mode out_of_context
opt_design
place_design
report_utilization -file utilization.rpt
report_timing_summary -file timing.rpt
