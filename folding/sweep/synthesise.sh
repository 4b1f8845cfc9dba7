#!/bin/bash
# Synthesises every design of a sweep, one job each. In this folder:
#     sbatch synthesise.sh
# It skips designs that are done, so that you can submit it again after some have failed. Then run
#     hlsgen sweep --collect .
#SBATCH --job-name=hlsgen-sweep
#SBATCH --array=0-@LAST@
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=12:00:00
#SBATCH --output=points/slurm-%a.log
set -euo pipefail
cd "${SLURM_SUBMIT_DIR:-.}"

# Insert here what your site needs to find the tools, for instance:
#     module load vitis/2022.2
HLS=${HLSGEN_HLS-vitis_hls}     # or vitis-run, from 2024.2 on
VIVADO=${HLSGEN_VIVADO-vivado}  # empty: no synthesis after HLS

mapfile -t points <points.txt
point=${points[$SLURM_ARRAY_TASK_ID]}
cd "points/$point/hls"
if [ -e ../synthesis.done ]; then
    echo "$point is done already"
    exit
fi

export HLS_STEPS=csynth
case ${HLS##*/} in
vitis-run*) "$HLS" --mode hls --tcl run_hls_unified.tcl ;;
*) "$HLS" -f run_hls.tcl ;;
esac

if [ -n "$VIVADO" ]; then
    setting() { sed -n "s/^$1 //p" run_hls.tcl; }
    "$VIVADO" -mode batch -nojournal -notrace -source ../../../synthesise.tcl -log ../vivado.log \
        -tclargs "$(setting set_top)" "$(setting set_part)" "$(setting 'create_clock -period' | cut -d ' ' -f 1)"
fi
touch ../synthesis.done
