"""Measures the driver by itself, on devices that take no time, or 10 ms a start.

    figures.py DEPLOY
"""

import sys
import time
import types

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
import accelerator  # noqa: E402
from accelerator import Accelerator  # noqa: E402

host = accelerator._load(sys.argv[1] + "/host/host.json")
TAKES = 0.01


def until(moment):
    while time.perf_counter() < moment:
        pass


class Nothing:
    """Takes no time: its frames are zeros."""

    hash = host["hash"]

    def start(self, sent, sizes):
        return [np.zeros((len(of), of[0]), np.uint8) for of in sizes]

    def wait(self, started):
        return started


class Lib:
    """The library of a device that takes so long."""

    def __init__(self, takes):
        self.takes = takes

    def hlsgen_run(self, *args):
        until(time.perf_counter() + self.takes)
        return 0


class Registers:
    """A mover's registers, of a board whose movers take so long."""

    takes, begun = 0.0, 0.0

    def __init__(self, base, length):
        self.started = False

    def write(self, at, value):
        if at == 0:
            self.started, Registers.begun = True, time.perf_counter()

    def read(self, at):
        if at in (0x34, 0x38):
            return int(host["hash"], 16) >> (32 if at == 0x38 else 0) & 0xFFFFFFFF
        if at:
            return 0
        if self.started and time.perf_counter() < Registers.begun + Registers.takes:
            return 1
        done, self.started = self.started, False
        return 4 + 2 * done


class Buffer(np.ndarray):
    device_address = 0

    def flush(self):
        pass

    invalidate = freebuffer = flush


class Overlay:
    def __init__(self, path):
        self.ip_dict = {m["name"]: {"type": "hlsgen:kernels:hlsgen_%s:1.0" % m["name"].partition("_")[0], "phys_addr": m["address"],
                                    "addr_range": 0x10000} for m in host["system"]["movers"]}


def figure(value, unit):
    print("FIGURE %.6g %s" % (value, unit))


of, seconds = host["inputs"][0], 2.0
dtype = np.uint8 if "integers" in host["send"][0] else np.float32
x = np.random.RandomState(1).randint(0, 16, [1 << 14] + of["shape"][1:]).astype(dtype)
net = Accelerator(Nothing(), batch=4096)
net.predict(x)
begin, samples = time.process_time(), 0
while time.process_time() < begin + seconds:
    net.predict(x)
    samples += len(x)
figure(samples / (time.process_time() - begin) / 1e6, "Msamples/CPU-s")

net = Accelerator(Nothing())
net.device = accelerator.Library.__new__(accelerator.Library)  # without a library behind it
net.device.kept = {}
sys.modules["pynq"] = types.SimpleNamespace(Overlay=Overlay, MMIO=Registers, allocate=lambda shape, kind: np.zeros(shape, kind).view(Buffer))
board = Accelerator("net.bit")
frames = accelerator.ROOM // net._frame()
for name, device in (("library", net), ("board", board)):
    for takes in (0.0, TAKES):
        Registers.takes = takes
        net.device.lib = Lib(takes)
        each = frames / device.throughput()
        if takes:
            figure(100 * abs(each - takes) / takes, "pct-off-10ms/%s" % name)
        else:
            figure(1e6 * each, "us/start/%s" % name)
