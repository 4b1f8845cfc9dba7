"""Stands in for PYNQ: an overlay with the movers of a host.json, in front of the generated C++ as a library. Its memory is not the
processor's: what a program writes is there once it was flushed, and what movers write is seen once it was invalidated."""

import json
import os
import sys

import numpy as np

from accelerator import Library

memory = {}  # by address: what the devices see
counts = {"flush": 0, "invalidate": 0, "free": 0}
_next = [0x1_0000_0000]


class Buffer(np.ndarray):
    def flush(self):
        counts["flush"] += 1
        memory[self.device_address] = np.array(self, subok=False)

    def invalidate(self):
        counts["invalidate"] += 1
        self[:] = memory[self.device_address]

    def freebuffer(self):
        counts["free"] += 1
        del memory[self.device_address]


def allocate(shape, dtype):
    buffer = np.full(shape, 0xA5, dtype).view(Buffer)
    buffer.device_address = _next[0]
    _next[0] += (buffer.nbytes + 0xFFF) // 0x1000 * 0x1000
    memory[buffer.device_address] = np.full(shape, 0x5A, dtype)
    return buffer


class Mover:
    def __init__(self, overlay, stream, reads):
        self.overlay, self.stream, self.reads, self.registers, self.done = overlay, stream, reads, {}, False

    def write(self, at, value):
        assert at % 4 == 0 and 0 <= value < 1 << 32, (at, value)
        self.registers[at] = value
        if at == 0 and value == 1:
            self.overlay.go()

    def read(self, at):
        if at == 0:
            done, self.done = self.done, False
            return 2 if done else 4
        if at in (0x34, 0x38):
            return int(self.overlay.lib.hash, 16) >> (32 if at == 0x38 else 0) & 0xFFFFFFFF
        return 0

    def wide(self, at):
        return self.registers[at] | self.registers[at + 4] << 32

    def sizes(self):
        unit = self.stream["words"] * self.stream["bytes"]
        table = self.wide(0x24)
        return [unit * int(n) for n in memory[table]] if table else [unit] * self.registers[0x1C]


class Overlay:
    def __init__(self, path):
        assert os.path.exists(path), path
        here = os.path.dirname(os.path.abspath(path))
        host = json.load(open(os.path.join(here, "deploy", "host", "host.json")))
        self.lib = Library(sys.argv[2])
        self.ip_dict, self.movers = {}, []
        for kind, streams in (("read", host["send"]), ("write", host["receive"])):
            for s in streams:
                name = kind + "_" + s["port"]
                self.ip_dict[name] = {"type": "hlsgen:kernels:hlsgen_%s:1.0" % kind}
                setattr(self, name, Mover(self, s, kind == "read"))
                self.movers.append(getattr(self, name))

    def go(self):
        if any(m.registers.get(0) != 1 for m in self.movers):
            return
        cut = []
        for m in (m for m in self.movers if m.reads):
            data, ends = memory[m.wide(0x10)], np.cumsum(m.sizes())
            cut.append([data[e - n:e] for n, e in zip(m.sizes(), ends)])
        takers = [m for m in self.movers if not m.reads]
        for m, frames in zip(takers, self.lib.start(cut, [m.sizes() for m in takers])):
            memory[m.wide(0x10)] = np.concatenate(frames)
        for m in self.movers:
            m.registers[0], m.done = 0, True
