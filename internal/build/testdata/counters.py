"""Reads the counters of an accelerator behind its movers, in Verilator, and of a stand-in for a bitstream.

    counters.py DEPLOY LIBRARY X
"""

import os
import sys

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
from accelerator import Accelerator  # noqa: E402
from counters import Counters  # noqa: E402

x = np.load(sys.argv[3])[:16]
os.chdir("/")
net = Accelerator(sys.argv[2])
counters = Counters(net)
counters.clear()
net.predict(x)
got, want = counters.read(), counters.simulated
print(counters)
if got["frames"] != len(x) or want["frames"] != len(x) or got["clocks"] < want["clocks"]:
    sys.exit("FAIL %s" % got)
if [s["name"] for s in want["streams"]] != list(got["streams"]):
    sys.exit("FAIL other streams: %s" % got)
if not any(s["stalled"] for s in got["streams"].values()) or not any(s["starved"] for s in got["streams"].values()):
    sys.exit("FAIL nothing waits: %s" % got)
counters.clear()
if any(counters.read()["streams"]["s0"].values()) or counters.read()["frames"]:
    sys.exit("FAIL not clear: %s" % counters.read())


class IP:
    def read(self, at):
        return at

    def write(self, at, value):
        self.written = (at, value)


class Board:
    """What is asked of PYNQ."""

    class overlay:
        ip_dict = {"read_s_axis_0": {"type": "hlsgen:kernels:hlsgen_read:1.0"},
                   "accelerator": {"type": "hlsgen:hls:%s:1.0" % net.host["top"]}}
        accelerator = IP()


net.device = Board()
counters = Counters(net)
counters.clear()
got = counters.read()
if (got["frames"], got["clocks"], got["streams"]["s1"]) != (0, 4, {"stalled": 16, "starved": 20}) \
        or Board.overlay.accelerator.written != (0, 1):
    sys.exit("FAIL a bitstream's: %s" % got)
print("PASS")
