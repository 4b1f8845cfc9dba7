# Synthesises and places the output of HLS in this folder, out of context, and reports its resources and timing:
#     vivado -mode batch -source synthesise.tcl -tclargs TOP PART PERIOD
lassign $argv top part period
set sources [glob -nocomplain $top/*/syn/verilog/*.v]
if {$sources eq ""} {
    error "there is no Verilog below [pwd]/$top: HLS has not run"
}
read_verilog $sources
foreach table [glob -nocomplain $top/*/syn/verilog/*.dat] {
    file copy -force $table .
}
foreach ip [glob -nocomplain $top/*/syn/verilog/*_ip.tcl] {
    source $ip
}
# Synthesis is timed only if it knows the clock.
set constraints [open clock.xdc w]
puts $constraints "create_clock -period $period -name clk \[get_ports ap_clk\]"
close $constraints
read_xdc -mode out_of_context clock.xdc
synth_design -top $top -part $part -mode out_of_context
opt_design
place_design
report_utilization -file ../utilization.rpt
report_timing_summary -file ../timing.rpt
