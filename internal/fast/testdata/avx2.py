"""Keeps the onnxruntime of an environment from AVX-512, so that it runs as on a processor with AVX2:

    avx2.py ENVIRONMENT

Each cpuid instruction of its libraries becomes a breakpoint, which cpuid.c answers, and ENVIRONMENT/bin/python-avx2
starts Python with that. It needs gcc and objdump.
"""

import pathlib
import subprocess
import sys

PYTHON = """#!/bin/sh
exec env LD_PRELOAD="{0}/cpuid.so" "{0}/bin/python" "$@"
"""


def objdump(*args):
    return subprocess.run(["objdump", *args], capture_output=True, text=True, check=True).stdout.splitlines()


def replace(library):
    fields = next(line.split() for line in objdump("-h", library) if line.split()[1:2] == [".text"])
    begin = int(fields[5], 16) - int(fields[3], 16)  # of addresses in the file
    code = bytearray(library.read_bytes())
    found = [line for line in objdump("-d", "--no-show-raw-insn", library) if line.rstrip().endswith("\tcpuid")]
    for line in found:
        at = int(line.split(":")[0], 16) + begin
        assert code[at : at + 2] == b"\x0f\xa2"
        code[at : at + 2] = b"\xcc\x90"  # int3, nop
    library.write_bytes(code)
    print(library.name, len(found))


def main(environment):
    environment = pathlib.Path(environment).resolve()
    source = pathlib.Path(__file__).with_name("cpuid.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", environment / "cpuid.so", source], check=True)
    for library in sorted(environment.glob("lib/python*/site-packages/onnxruntime/capi/*onnxruntime*.so*")):
        replace(library)
    python = environment / "bin" / "python-avx2"
    python.write_text(PYTHON.format(environment))
    python.chmod(0o755)


main(*sys.argv[1:])
