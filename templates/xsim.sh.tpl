#!/bin/sh
# Simulates the generated top with the modules that Vitis HLS has made from the layers, and compares with the recorded
# streams. In the folder hls, after `make ip`:
#     make xsim
# The simulation runs without pauses, with pauses of the inputs or the outputs, and with both. The exit code is 0 if
# all pass.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build.ip/{{ v.Top|req }}_xsim
cd build.ip/{{ v.Top|req }}_xsim

# The simulator reads tables from its current folder.
for list in ../../ip/*.files; do
    layer=$(basename "$list" .files)
    for table in ../"$layer"/verilog/*.dat; do
        [ ! -e "$table" ] || cp "$table" .
    done
    xvlog --nolog ../"$layer"/verilog/*.v
done
xvlog --nolog --sv ../../rtl/*.sv
xvlog --nolog ../../rtl/{{ v.Top|req }}.v
xelab --nolog --timescale 1ns/1ps hlsgen_clock -s bench

for pauses in 0 1 2 3; do
    xsim bench --runall --log "pauses$pauses.log" --testplusarg data=../../tb/data --testplusarg "pauses=$pauses"
    if ! grep -q '^PASS' "pauses$pauses.log" || grep -q '^FAIL' "pauses$pauses.log"; then
        echo "FAIL with pauses=$pauses"
        exit 1
    fi
done
