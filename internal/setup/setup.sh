#!/usr/bin/env bash
# Installs what is missing of the tools it is asked for, on Debian and Ubuntu, and says what it does:
#     internal/setup/setup.sh go g++ clang++ opt nm tclsh verilator python3 yosys nextpnr-ice40 icepack dtc dot numpy onnx xrt \
#         aarch64-linux-gnu-as x86_64-linux-gnu-as qemu-aarch64-static
# Where nothing is missing it does nothing and needs neither rights nor network.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf 'setup: %s\n' "$*" >&2; }

# The Go that go.mod asks for (1.26.0). From 1.21 on, an older Go fetches it by itself (GOTOOLCHAIN=auto).
want=$(awk '$1 == "go" { print $2 }' go.mod)
fetches=21

# gominor prints the minor version of a go command: 26 of go1.26.8; 0 where there is none.
gominor() {
    local v
    v=$(cd / && GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || v=
    v=${v#go1.}
    v=${v%%[!0-9]*}
    echo "${v:-0}"
}

packages=()
missing() {
    local command=$1 package=$2
    command -v "$command" >/dev/null || packages+=("$package")
}

for tool in "$@"; do
    case $tool in
    go) # Go fetches modules over https, which takes certificates.
        [ "$(gominor go)" -gt 0 ] || packages+=(golang-go)
        [ -e /etc/ssl/certs/ca-certificates.crt ] || [ ! -d /etc/apt ] || packages+=(ca-certificates)
        ;;
    g++) missing g++ g++ ;;
    clang++) missing clang++ clang ;;
    opt) missing opt llvm ;;
    nm) missing nm binutils ;;
    tclsh) missing tclsh tcl ;;
    verilator) missing verilator verilator ;;
    python3) missing python3 python3 ;;
    numpy) # a Python with it, be it not the first one in the path
        python3 -c 'import numpy' 2>/dev/null || /usr/bin/python3 -c 'import numpy' 2>/dev/null || packages+=(python3-numpy)
        ;;
    onnx) # as numpy
        python3 -c 'import onnx' 2>/dev/null || /usr/bin/python3 -c 'import onnx' 2>/dev/null || packages+=(python3-onnx)
        ;;
    xrt) [ -e /usr/include/xrt/xrt/xrt_kernel.h ] || packages+=(libxrt-dev) ;;
    aarch64-linux-gnu-as) missing aarch64-linux-gnu-as binutils-aarch64-linux-gnu ;;
    x86_64-linux-gnu-as) missing x86_64-linux-gnu-as binutils-x86-64-linux-gnu ;;
    qemu-aarch64-static) missing qemu-aarch64-static qemu-user-static ;;
    yosys) missing yosys yosys ;;
    nextpnr-ice40) missing nextpnr-ice40 nextpnr-ice40 ;;
    icepack) missing icepack fpga-icestorm ;;
    chromium) missing chromium chromium ;;
    node) missing node nodejs ;;
    npm) missing npm npm ;;
    dtc) missing dtc device-tree-compiler ;;
    dot) missing dot graphviz ;;
    torch) # the system's Python with it, and with what makes environments of that Python
        /usr/bin/python3 -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)' 2>/dev/null ||
            packages+=(python3-torch)
        /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
        ;;
    slurm) # daemons stand where a user's path does not lead
        PATH=$PATH:/usr/sbin:/sbin missing slurmctld slurm-wlm
        PATH=$PATH:/usr/sbin:/sbin missing munged munge
        ;;
    *)
        say "unknown tool $tool"
        exit 2
        ;;
    esac
done

if [ ${#packages[@]} -gt 0 ]; then
    say "missing packages: ${packages[*]}"
    if ! command -v apt-get >/dev/null; then
        say "this is neither Debian nor Ubuntu: install them with your own package manager (Go: https://go.dev/dl), then run make again"
        exit 1
    fi
    if [ "$(id -u)" = 0 ]; then
        as=
    elif command -v sudo >/dev/null; then
        as=sudo
    else
        say "installing needs root, and there is no sudo. Ask an administrator for: apt-get install ${packages[*]}"
        exit 1
    fi
    say "installing them with: ${as:+$as }apt-get install ${packages[*]}"
    $as apt-get update -q >&2
    $as env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${packages[@]}" >&2
fi

case " $* " in *" go "*) ;; *) exit 0 ;; esac

# A Go too old to fetch a newer one by itself can still fetch it as a module, checksum included. It goes to .tools/go,
# which the Makefile puts in front of the path.
if [ "$(gominor go)" -lt $fetches ]; then
    say "fetching Go $want into .tools/go, because $(command -v go) is older than 1.$fetches"
    module=golang.org/toolchain@v0.0.1-go$want.$(go env GOOS)-$(go env GOARCH)
    dir=$(cd / && go mod download -json "$module" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",$/\1/p')
    mkdir -p .tools
    rm -rf .tools/new
    cp -r "$dir" .tools/new
    chmod -R u+w,+x .tools/new/bin .tools/new/pkg/tool
    chmod -R u+w .tools/new
    cp .tools/new/src/_go.mod .tools/new/src/go.mod # a module zip cannot hold a go.mod below its root
    rm -rf .tools/go
    mv .tools/new .tools/go
fi
