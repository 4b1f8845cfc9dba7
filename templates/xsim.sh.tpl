#!/bin/sh
# Simulates the written top with the modules that Vitis HLS has made of the layers, against the recorded streams. In the
# folder hls, once `make ip` is done:
#     make xsim
# Words come and are taken without pauses, with pauses at either end, and with both. The exit code is 0 where all passes.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build.ip/{{ v.Top|req }}_xsim
cd build.ip/{{ v.Top|req }}_xsim

# Tables are read from the folder that the simulator runs in.
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
