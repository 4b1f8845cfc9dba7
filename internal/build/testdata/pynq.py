"""Stands in for PYNQ: an overlay with the movers of a host.json, in front of the generated C++ as a library. Its memory is not the
processor's: what a program writes is there once it was flushed, and what movers write is seen once it was invalidated."""

import json
import os
import struct
import sys
import threading
import time
import tty
from pathlib import Path

import numpy as np

from accelerator import Library

memory = {}  # by address: what the devices see
counts = {"allocate": 0, "flush": 0, "invalidate": 0, "free": 0, "asked": 0, "interrupts": 0}
wired, hung, late = False, False, 0.0  # the interrupts; the accelerator; by how many seconds it ends
errors = {}  # by port: what the mover's register says
lock = threading.Lock()
sys.modules["pynq.interrupt"] = sys.modules[__name__]
_at, _lines = {}, {}
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
    counts["allocate"] += 1
    buffer = np.full(shape, 0xA5, dtype).view(Buffer)
    buffer.device_address = _next[0]
    _next[0] += (buffer.nbytes + 0xFFF) // 0x1000 * 0x1000
    memory[buffer.device_address] = np.full(shape, 0x5A, dtype)
    return buffer


def MMIO(base, length):
    assert length >= 0x100, length
    return _at[base]


def get_uio_irq(irq):
    """Linux shows the first line of the processor alone, as PYNQ's images have it."""
    return _lines.get(irq) if wired and irq in (61, 121) else None


class Clocks:
    """The clock of the logic: a PLL over dividers, in MHz, of which some make what is asked for."""

    fclk0_mhz = 187.498123


class Mover:
    def __init__(self, overlay, stream, reads):
        self.overlay, self.stream, self.reads, self.registers, self.done = overlay, stream, reads, {}, False
        self.happened, self.on = 0, False  # the interrupt, and whether Linux lets it through
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.device = os.ttyname(slave)
        threading.Thread(target=self.linux, daemon=True).start()

    def linux(self):
        while True:
            self.on = struct.unpack("i", os.read(self.master, 4)) != (0,)
            self.line()

    def line(self):
        """Linux tells of an interrupt once, and then waits for a program to let it through again."""
        with lock:
            if self.on and self.happened and self.registers.get(4):
                self.on = False
                counts["interrupts"] += 1
                os.write(self.master, struct.pack("i", counts["interrupts"]))

    def write(self, at, value):
        assert at % 4 == 0 and 0 <= value < 1 << 32, (at, value)
        if at == 0x0C:
            self.happened ^= value
            return
        self.registers[at] = value
        if at == 0 and value == 1:
            self.overlay.go()

    def read(self, at):
        if at == 0:
            counts["asked"] += 1
            done, self.done = self.done, False
            return 2 * done + 4 * (self.registers.get(0) != 1)
        if at in (0x34, 0x38):
            return int(self.overlay.lib.hash, 16) >> (32 if at == 0x38 else 0) & 0xFFFFFFFF
        return self.happened if at == 0x0C else errors.get(self.stream.get("port"), 0)

    def end(self):
        self.registers[0], self.done = 0, True
        self.happened |= self.registers.get(8, 0)
        self.line()

    def wide(self, at):
        return self.registers[at] | self.registers[at + 4] << 32

    def sizes(self):
        unit = self.stream["words"] * self.stream["bytes"]
        table = self.wide(0x24)
        return [unit * int(n) for n in memory[table][:self.registers[0x1C]]] if table else [unit] * self.registers[0x1C]


class Overlay:
    def __init__(self, path):
        assert os.path.exists(path), path
        here = os.path.dirname(os.path.abspath(path))
        host = json.loads(Path(here, "deploy", "host", "host.json").read_text())
        self.lib, self.system = Library(sys.argv[2]), host["system"]
        self.ip_dict, self.movers = {}, []
        for kind, streams in (("write", host["receive"]), ("read", host["send"])):
            for s in streams:
                self.movers.append(self.add(kind + "_" + s["port"], Mover(self, s, kind == "read")))

    def add(self, name, mover):
        """A mover, as PYNQ 3.0 and later show it: they know no interrupt that is at the processor."""
        known = next(m for m in self.system["movers"] if m["name"] == name)
        self.ip_dict[name] = {"type": "hlsgen:kernels:hlsgen_%s:1.0" % name.partition("_")[0], "phys_addr": known["address"],
                              "addr_range": 0x10000, "interrupts": {}}
        _at[known["address"]], _lines[known["interrupt"]] = mover, mover.device
        return mover

    def go(self):
        if all(m.registers.get(0) == 1 for m in self.movers) and not hung:
            threading.Thread(target=self.run).start()

    def run(self):
        cut = []
        for m in (m for m in self.movers if m.reads):
            data, ends = memory[m.wide(0x10)], np.cumsum(m.sizes())
            cut.append([data[e - n:e] for n, e in zip(m.sizes(), ends)])
        takers = [m for m in self.movers if not m.reads]
        for m, frames in zip(takers, self.lib.start(cut, [m.sizes() for m in takers])):
            memory[m.wide(0x10)] = np.concatenate(frames)
        time.sleep(late)
        for m in self.movers[::-1]:  # results come last
            m.end()
