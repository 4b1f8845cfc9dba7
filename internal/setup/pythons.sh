#!/usr/bin/env bash
# Makes environments for the tests of the Python package, with numpy, of every Python from 3.9 on that is here:
#     internal/setup/pythons.sh FOLDER
# FOLDER/3.9, FOLDER/3.10 and so on. The oldest and the newest have mypy, pandas and matplotlib, too. What is there is
# not made again.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }

to=$1
mkdir -p "$to"
declare -A found=()
for python in python3.{9,10,11,12,13,14,15} python3 /usr/bin/python3 "$(pyenv root 2>/dev/null || echo /nowhere)"/versions/3.*/bin/python; do
    version=$("$python" -c 'import sys, venv, ensurepip; print("%d %d" % sys.version_info[:2])' 2>/dev/null) || continue
    minor=${version#3 }
    if [ "$version" != "$minor" ] && [ "$minor" -ge 9 ]; then
        found[$minor]=${found[$minor]:-$python}
    fi
done
[ "${#found[@]}" -gt 0 ] || { say "there is no Python from 3.9 on with venv: apt-get install python3-venv"; exit 1; }
minors=$(printf '%s\n' "${!found[@]}" | sort -n)
oldest=$(head -n 1 <<<"$minors")
newest=$(tail -n 1 <<<"$minors")
for minor in $minors; do
    env=$to/3.$minor
    [ ! -e "$env/made" ] || continue
    case $minor in # the last versions that each Python takes
    9) packages=numpy==2.0.2 more="mypy==1.19.1 pandas==2.3.3 matplotlib==3.9.4" ;;
    10) packages=numpy==2.2.6 more="mypy==2.4.1 pandas==2.3.3 matplotlib==3.9.4" ;;
    11) packages=numpy==2.4.6 more="mypy==2.4.1 pandas==3.1.1 matplotlib==3.11.2" ;;
    *) packages=numpy==2.5.5 more="mypy==2.4.1 pandas==3.1.1 matplotlib==3.11.2" ;;
    esac
    [ "$minor" != "$oldest" ] || packages="$packages $more"
    [ "$minor" != "$newest" ] || [ "$oldest" = "$newest" ] || packages="$packages $more"
    [ "$minor" != "$newest" ] || packages="$packages twine==7.0.0"
    say "making $env of ${found[$minor]}: $packages"
    rm -rf "${env:?}"
    "${found[$minor]}" -m venv "$env"
    # shellcheck disable=SC2086
    "$env/bin/pip" install --quiet --disable-pip-version-check $packages >&2
    touch "$env/made"
done
