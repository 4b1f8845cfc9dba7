#!/bin/bash
# Takes one layer, or the whole design, through the vendor's tools; hlsgen synth calls it, here or as a job of Slurm:
#     task.sh hls|rtl LAYER hls|vivado
#     task.sh hls|rtl TOP bitstream
# The file done in the folder of the results says which files they were made of, by their contents. It comes last, and
# where it says the same as now nothing is done. A bitstream that misses its clock has the file missed instead.
set -euo pipefail
export LC_ALL=C
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$(dirname "${BASH_SOURCE[0]}")/.."
flow=$1 name=$2 last=$3
VIVADO=${HLSGEN_VIVADO:-vivado}
export VIVADO
[ -z "${HLSGEN_HLS:-}" ] || export HLS=$HLSGEN_HLS
work=synth/$flow/$name
[ "$last" != bitstream ] || work=synth/bitstream/$flow
mkdir -p "$work"

# What a killed run has started and left alone comes to its end first. The lock goes with the last of its processes.
exec 9>"$work/lock"
flock 9
exec >"$work/log" 2>&1
rm -f "$work/failed"
failed() {
    echo "$1: $2" >"$work/failed"
    exit 1
}

# only leaves those of files that are regular ones.
only() {
    local kept=()
    for file in "${files[@]}"; do
        [ ! -f "$file" ] || kept+=("$file")
    done
    files=("${kept[@]}")
}

if [ "$last" = bitstream ]; then
    shopt -s nullglob
    files=()
    if [ "$flow" = hls ]; then
        for list in hls/ip/*.files; do
            layer=$(basename "$list" .files)
            files+=(hls/build.ip/"$layer"/verilog/*)
        done
        files=(vivado/* vivado/ip/* vivado/kernels/* hls/rtl/* "${files[@]}")
        ip=hls/build.ip/${name}_ip
    else
        files=(vivado/* vivado/ip/* vivado/kernels/* rtl/* rtl/ip/* rtl/layers/* rtl/shared/* rtl/tables/*)
        ip=rtl/build/ip/$name
    fi
    only
    target=bitstream made=vivado/build/$name.bit
    if [ -e vivado/link.cfg ]; then
        target=xclbin made=vivado/build/$name.xclbin
    fi
    sha256sum "${files[@]}" >"$work/now"
    if cmp -s "$work/now" "$work/done" && [ -s "$made" ]; then
        exit
    fi
    # What make would take for finished by its time may be half-written.
    missed=${made%.*}_missed.${made##*.}
    rm -f "$work/done" "$work/missed" "$work"/*.rpt "$ip/component.xml" "$made" "$missed" vivado/build/movers vivado/build/kernels
    end=done
    if ! make -C vivado "$target" IP="../$ip"; then
        [ -s "$missed" ] || failed Vivado "$work/log"
        end=missed made=$missed
    fi
    [ -s "$made" ] || failed Vivado "$work/log"
    for report in utilization timing; do
        [ ! -e "vivado/build/$report.rpt" ] || cp "vivado/build/$report.rpt" "$work/"
    done
    mv "$work/now" "$work/$end"
    [ "$end" = done ] || failed Vivado "$work/log"
    exit
fi

if [ "$flow" = hls ]; then
    make -C hls "build.ip/$name/done" || failed "Vitis HLS" "hls/build.ip/$name/log"
    files=("hls/build.ip/$name/verilog"/*)
    only
    top=$name
else
    mapfile -t files <"$work/files"
    top=$(basename "${files[0]}" .sv)
fi
if [ "$last" = hls ]; then
    exit
fi
sha256sum synth/vivado.tcl "${files[@]}" >"$work/now"
if cmp -s "$work/now" "$work/done" && [ -s "$work/utilization.rpt" ] && [ -s "$work/timing.rpt" ]; then
    exit
fi
rm -rf "$work/done" "$work/run" "$work"/*.rpt
mkdir "$work/run"
(cd "$work/run" && "$VIVADO" -mode batch -nojournal -notrace -log ../vivado.log -source ../../../vivado.tcl \
    -tclargs "$top" "${files[@]/#/../../../../}") </dev/null || failed Vivado "$work/log"
[ -s "$work/run/utilization.rpt" ] && [ -s "$work/run/timing.rpt" ] || failed Vivado "$work/log"
mv "$work/run"/*.rpt "$work/"
rm -rf "$work/run"
mv "$work/now" "$work/done"
