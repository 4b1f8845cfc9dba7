# What {{ v.Top|req }} consumes by the activity of the simulation, which hlsgen build --saif has written. In the folder vivado:
#     make power
# No Vivado was at hand to try this file.
cd [file dirname [file normalize [info script]]]
open_checkpoint build/routed.dcp
# Handshakes of all streams; of all other nets Vivado assumes its own rates.
read_saif -strip_path system_wrapper -out_file build/saif.txt activity.saif
report_power -file build/power.rpt
