#!/usr/bin/env bash
# Makes environments of Python for a long test, with PYNQ's own code from PyPI:
#     internal/setup/pynq.sh FOLDER
# FOLDER/3.8, 3.10, 3.12 and 3.13 are environments with versions of numpy, of the Pythons that are here; FOLDER/src has sources of
# PYNQ. What is there is not made again.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }

# python prints the path of a version of Python, if it is here: in the PATH, or where pyenv has it.
python() {
    local p
    for p in "python$1" "$(pyenv root 2>/dev/null)"/versions/"$1".*/bin/"python$1"; do
        if "$p" -c '' 2>/dev/null; then
            command -v "$p"
            return
        fi
    done
    return 1
}

to=$1
mkdir -p "$to/src"
while read -r version packages; do
    [ ! -e "$to/$version/made" ] || continue
    if ! found=$(python "$version"); then
        say "python$version is neither in the PATH nor in pyenv: its tests will be skipped"
        continue
    fi
    say "making $to/$version of $found: $packages"
    rm -rf "${to:?}/$version"
    "$found" -m venv "$to/$version"
    # shellcheck disable=SC2086
    "$to/$version/bin/pip" install --quiet --disable-pip-version-check wheel cffi 'pycparser<3' 'setuptools<81' $packages >&2
    if [ "$version" != 3.8 ]; then
        "$to/$version/bin/pip" install --quiet --disable-pip-version-check nest_asyncio tqdm python-magic pynqmetadata==0.2.0 >&2
        # it asks for a numpy below 2, but does not need it
        "$to/$version/bin/pip" install --quiet --disable-pip-version-check --no-deps pynqutils==0.1.3 >&2
    fi
    touch "$to/$version/made"
done <<'END'
3.8 numpy==1.17.3
3.10 numpy==1.21.6
3.12 numpy==1.26.4
3.13 numpy
END

get=$(mktemp -d)
trap 'rm -rf "$get"' EXIT
for version in 2.7.0 3.0.1 3.1.2 4.0.0; do
    [ ! -e "$to/src/pynq-$version" ] || continue
    say "fetching the source of pynq $version"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary pynq --dest "$get" "pynq==$version" >&2
    tar -xzf "$get/pynq-$version.tar.gz" -C "$get" --wildcards "pynq-$version/pynq/*.py" "pynq-$version/boards/*/base/base.hwh" \
        2>"$get/said" || [ -d "$get/pynq-$version/pynq" ] || { cat "$get/said" >&2; exit 1; }
    mv "$get/pynq-$version" "$to/src/"
done
