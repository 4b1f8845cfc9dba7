"""Has a driver predict on one accelerator behind its movers, in Verilator, with several weights in turn, and compares each time
with what hlsgen simulate wrote of that model.

    weights.py DEPLOY LIBRARY X HOST Y [HOST Y]...

With AXI_STALL, by which memory and streams wait, that is all.
"""

import ast
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
from accelerator import Accelerator, DeviceError, Unfit, _Weights  # noqa: E402

source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights.cpp")
os.chdir("/")  # the library finds its tables from anywhere
x, pairs = np.load(sys.argv[3]), sys.argv[4:]
results = []
with open(os.path.join(sys.argv[1], "accelerator.py"), encoding="utf-8") as text:
    ast.parse(text.read(), feature_version=(3, 8))
for host, want in zip(pairs[::2], pairs[1::2]):
    y = np.load(want)
    got = Accelerator(sys.argv[2], host=host, batch=5).predict(x)
    if got.dtype != y.dtype or got.shape != y.shape or got.tobytes() != y.tobytes():
        sys.exit("FAIL with %s: %d of %d values are others" % (host, (got != y).sum(), y.size))
    results.append(got.tobytes())
if results[0] == results[1]:
    sys.exit("FAIL both weights give the same results")
if os.environ.get("AXI_STALL"):
    print("PASS %d samples" % len(x))
    sys.exit()


def refused(why, change):
    """What change makes of a copy of the first weights is refused."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("host.json", "weights.bin"):
            shutil.copy(os.path.join(os.path.dirname(pairs[0]), name), folder)
        change(folder)
        try:
            Accelerator(sys.argv[2], host=os.path.join(folder, "host.json"))
        except Unfit as e:
            if why not in str(e):
                sys.exit("FAIL %s, want %s" % (e, why))
            return
        sys.exit("FAIL nothing says: %s" % why)


def damage(folder):
    with open(os.path.join(folder, "weights.bin"), "r+b") as file:
        file.seek(100)
        file.write(b"\xaa\x55\xaa")


# the same through PYNQ's doors: pynq.py of the tests of builds stands in for them
sys.path.append(os.path.join(os.path.dirname(source), "..", "..", "build", "testdata"))
import pynq  # noqa: E402


class Loader(pynq.Mover):
    """The mover that fills tables: all its words are one sequence."""

    def write(self, at, value):
        self.registers[at] = value
        if at == 0:
            data = pynq.memory[self.wide(0x10)]
            assert self.sizes() == [len(data)], (self.sizes(), len(data))
            self.overlay.lib.load("", data)
            self.end()


class Feeder(pynq.Mover):
    """The mover of weights that come with every frame: of each it reads all of them as often as it is to."""

    def write(self, at, value):
        self.registers[at] = value
        if at == 0:
            data, e = pynq.memory[self.wide(0x10)], self.stream
            assert len(data) == e["bytes"] * e["copies"] and self.wide(0x24) == 0, len(data)
            assert self.registers[0x1C] // e["passes"] in (5, len(x) % 5), self.registers[0x1C]
            self.overlay.lib.weights(e["port"], data, e["passes"])
            self.end()


class Overlay(pynq.Overlay):
    """With the accelerator's own registers."""

    def __init__(self, path):
        super().__init__(path)
        lib, port = self.lib.lib, registers.get("loader")
        lib.hlsgen_peek.restype = ctypes.c_uint32
        self.ip_dict["accelerator"] = {"type": "hlsgen:hls:%s:1.0" % top}
        self.accelerator = type("Registers", (), {"read": lib.hlsgen_peek, "write": lib.hlsgen_poke})
        if port is not None:
            self.add("read_" + port, Loader(self, {"words": 1, "bytes": 4}, True))
        for e in external:
            self.add("read_" + e["port"], Feeder(self, e, True))


host = json.load(open(pairs[0]))
registers, top, external = host["registers"], host["top"], host["weights"].get("external", [])
pynq.Overlay = Overlay
bit = os.path.join(sys.argv[1], "..", "net.bit")
open(bit, "w").close()
for host, want in zip(pairs[:4:2], pairs[1:4:2]):
    with Accelerator(bit, host=host, batch=5) as net:
        net.load_weights()  # once more, in place of those from before
        if len(pynq.memory) != len(external) or net.predict(x).tobytes() != np.load(want).tobytes():
            sys.exit("FAIL through PYNQ, with %s: %d buffers are kept" % (host, len(pynq.memory)))
    try:
        if net.predict(x).tobytes() != np.load(want).tobytes() or external:
            sys.exit("FAIL closed, with %s: it goes on without its weights" % host)
    except DeviceError as e:
        if not external or "no weights: the device was closed" not in str(e):
            sys.exit("FAIL closed, with %s: %s" % (host, e))
    net.close()
    if pynq.memory:
        sys.exit("FAIL through PYNQ, with %s: %d buffers are kept when it is closed" % (host, len(pynq.memory)))

# the same from C++, with weights that are not those of the build
with tempfile.TemporaryDirectory() as where:
    program, given, got = (os.path.join(where, name) for name in ("weights", "x", "y"))
    os.symlink(os.path.dirname(pairs[2]), os.path.join(where, "host"))
    for name in os.listdir(sys.argv[1]):
        if name.endswith(".hpp"):
            shutil.copy(os.path.join(sys.argv[1], name), where)
    streamed = (["-DSTREAMED"] if "loader" in registers else []) + (["-DEXTERNAL"] if external else [])
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-I", where] + streamed + [source, sys.argv[2],
                   "-Wl,-rpath," + os.path.dirname(os.path.abspath(sys.argv[2])), "-o", program], check=True)
    x.astype("<f4").tofile(given)
    for way in ["registers"] + (["memory", "bare"] if streamed else []):
        subprocess.run([program, given, got, way], check=True)
        if np.fromfile(got, "<f4").tobytes() != results[1]:
            sys.exit("FAIL from C++, %s" % way)

net = Accelerator(sys.argv[2], host=pairs[0])
loader = net.host["registers"].get("loader")
if loader is not None:  # other numbers of words are noticed, and do no harm to what is loaded next
    words = _Weights(net.host, os.path.dirname(pairs[0])).words[:net.host["weights"]["words"]]
    for some in (words, words[:-3], words + (0, 0), words[:1]):
        net.device.load(loader, np.array(some, "<u4").view(np.uint8))
        if net.device.lib.hlsgen_peek(net.host["registers"]["windows"][0]["offset"]) == 1:
            sys.exit("FAIL %d words for %d tables are taken" % (len(some), len(words)))
    clocks = net.device.lib.hlsgen_clocks
    clocks.restype = ctypes.c_uint64
    before = clocks()
    net.device.load(loader, np.array(words + (0,), "<u4").view(np.uint8))
    print("LOADED %d words in %d clocks" % (len(words) + 1, clocks() - before))
    net.load_weights()
    if net.predict(x).tobytes() != results[0]:
        sys.exit("FAIL after other numbers of words")

refused("not copied whole", damage)
refused("not copied whole", lambda f: os.truncate(os.path.join(f, "weights.bin"), 500))
refused("no file of weights", lambda f: os.truncate(os.path.join(f, "weights.bin"), 3))
refused("do not belong together", lambda f: shutil.copy(os.path.join(os.path.dirname(pairs[2]), "weights.bin"), f))
print("PASS %d samples" % len(x))
