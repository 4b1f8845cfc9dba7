#!/bin/bash
# Takes every line of tasks.txt, a layer each, through the vendor's tools: one job of an array. hlsgen synth --jobs slurm submits
# it, in the folder above, with the environment that it has itself; sbatch's variables (SBATCH_PARTITION, SBATCH_TIMELIMIT,
# SBATCH_MEM_PER_NODE ...) change what it asks for.
#SBATCH --job-name=hlsgen-synth
#SBATCH --mem=16G
#SBATCH --time=12:00:00
#SBATCH --output=synth/slurm-%a.log
set -euo pipefail
mapfile -t tasks <synth/tasks.txt
read -r -a task <<<"${tasks[$SLURM_ARRAY_TASK_ID]}"
exec bash synth/task.sh "${task[@]}"
