#!/usr/bin/env bash
# Makes an environment of Python in which tests train networks and run notebooks:
#     internal/setup/train.sh FOLDER
# It lies over a Python that has PyTorch and Brevitas, if python3 in the PATH or /usr/bin/python3 has both. Else it lies
# over /usr/bin/python3 with Debian's PyTorch, and has Brevitas of PyPI. A folder that was made so is not made again.
#
# The second way was tried on Debian 12 with x86-64, whose Python is 3.11. PyPI has these versions as wheels for that one
# alone: onnxoptimizer has none for 64-bit ARM, and onnx 1.17 none for Python 3.13. There, and where packages are not
# Debian's, the first way remains: install PyTorch, Brevitas and onnxoptimizer for python3.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }

# PyPI's PyTorch for Linux is the build for graphics cards, gigabytes. So nothing here may ask for PyTorch: Brevitas
# and unfoldNd come without what they depend on. Nothing here needs a newer NumPy than Debian's PyTorch was built with.
brevitas='brevitas==0.13.4 unfoldNd==0.2.3'
packages='dependencies==2.0.1 packaging==24.2 setuptools<81 onnx==1.17.0 onnxoptimizer==0.3.13 protobuf==5.29.5'
packages+=' contourpy==1.3.2 matplotlib==3.9.4 pandas==2.2.3 ipykernel==6.29.5 nbclient==0.10.2'

# has tells whether a Python that is no environment itself has modules: an environment over another does not see them.
has() {
    local python=$1
    shift
    "$python" -c 'import importlib.util as u, sys
sys.exit(sys.prefix != sys.base_prefix or any(u.find_spec(m) is None for m in sys.argv[1:]))' "$@" 2>/dev/null
}

to=$1
base=/usr/bin/python3
for python in python3 /usr/bin/python3; do
    if has "$python" torch brevitas; then
        base=$(command -v "$python")
        # what it has is left as it is
        brevitas=
        packages='onnx onnxoptimizer setuptools<81 matplotlib pandas ipykernel nbclient'
        break
    fi
done
made="$base $packages $brevitas"
[ "$(cat "$to/made" 2>/dev/null)" != "$made" ] || exit 0
[ -z "$brevitas" ] || "$(dirname "$0")/setup.sh" torch
say "making $to, in which tests train networks, over $base: $packages $brevitas"
rm -rf "${to:?}"
"$base" -m venv --system-site-packages "$to"
pip() {
    "$to/bin/python" -m pip --quiet --disable-pip-version-check install "$@" >&2 || {
        say "$base ($(uname -m), $("$base" -V)) does not take these packages: install PyTorch, Brevitas and onnxoptimizer for python3, and try again"
        exit 1
    }
}
# shellcheck disable=SC2086
pip $packages
# shellcheck disable=SC2086
[ -z "$brevitas" ] || pip --no-deps $brevitas
"$to/bin/python" -W ignore -c 'import torch, brevitas.nn, brevitas.export, onnx, onnxoptimizer, pandas, matplotlib, ipykernel, nbclient'
printf '%s\n' "$made" >"$to/made"
