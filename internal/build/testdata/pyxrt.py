"""Stands in for pyxrt, XRT's module: a card whose movers are in front of the generated C++ as a library. It takes what pyxrt takes,
and refuses the rest: numbers of 32 bits, no registers, buffers in the bank of their argument. Its memory is not the program's."""

import enum
import os
import struct
import sys
import threading
import time

import numpy as np

from accelerator import Library, _load

host = _load(os.path.join(sys.argv[1], "host", "host.json"))
lib = Library(sys.argv[2])
hung, late, reports, other = False, 0.0, True, 0  # the accelerator; seconds that it takes; old movers; what another design's hash has
errors, states = {}, {}  # by port: a mover's error, and the state in which a run ends
counts = {"bo": 0, "live": 0, "runs": 0, "reports": 0}
units, by_address = {}, {}


class xclBOSyncDirection(enum.IntEnum):
    XCL_BO_SYNC_BO_TO_DEVICE = 0
    XCL_BO_SYNC_BO_FROM_DEVICE = 1


class ert_cmd_state(enum.IntEnum):
    ERT_CMD_STATE_NEW = 1
    ERT_CMD_STATE_QUEUED = 2
    ERT_CMD_STATE_COMPLETED = 4
    ERT_CMD_STATE_ERROR = 5
    ERT_CMD_STATE_ABORT = 6
    ERT_CMD_STATE_SUBMITTED = 7
    ERT_CMD_STATE_TIMEOUT = 8


def fail(why):
    print("FAIL", why)
    sys.stdout.flush()
    os._exit(1)


def number(n, least, most):
    """A number as pybind11 takes it for a C++ type."""
    if type(n) is not int or not least <= n <= most:
        raise TypeError("incompatible function arguments: %r" % (n,))
    return n


class device:
    def __init__(self, which):
        if which not in (0, "0000:65:00.1"):
            raise RuntimeError("Could not open device with index '%s'" % which)

    def load_xclbin(self, path):
        if type(path) is not str:
            raise TypeError("load_xclbin(): incompatible function arguments")
        if os.path.getsize(path) == 0:
            raise RuntimeError("xclbin is invalid")
        return "uuid"


class bo:
    class flags(enum.IntEnum):
        normal = 0
        cacheable = 1 << 24

    normal = flags.normal

    def __init__(self, card, size, flags, group):
        if not isinstance(card, device) or not isinstance(flags, bo.flags):
            raise TypeError("bo(): incompatible constructor arguments")
        if number(size, 0, (1 << 64) - 1) == 0:
            raise RuntimeError("failed to allocate memory in bank: Invalid argument")
        counts["bo"] += 1
        counts["live"] += 1
        self._host, self._card, self._group = np.full(size, 0xA5, np.uint8), np.full(size, 0x5A, np.uint8), group

    def __del__(self):
        if hasattr(self, "_host"):
            counts["live"] -= 1
            self._host[:] = 0xDD  # what is mapped is gone
            self._card[:] = 0xDD

    def map(self):
        return memoryview(self._host)

    def sync(self, way):
        if not isinstance(way, xclBOSyncDirection):
            raise TypeError("sync(): incompatible function arguments")
        if way == xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE:
            self._card[:] = self._host
        else:
            self._host[:] = self._card


class _unit:
    """A mover: what it is asked for, and how it ends."""

    def __init__(self, stream, reads):
        self.stream, self.reads, self.error, self.run, self.open = stream, reads, 0, None, False
        self.done = threading.Event()

    def sizes(self, args):
        unit = self.stream["words"] * self.stream["bytes"]
        return [unit * int(n) for n in args[2]._card.view("<u4")[:args[1]]]

    def end(self, frames):
        if frames:
            self.error = errors.get(self.stream["port"], 0)
        run, self.run = self.run, None
        run._state = states.get(self.stream["port"], ert_cmd_state.ERT_CMD_STATE_COMPLETED)
        self.done.set()


class kernel:
    class cu_access_mode(enum.IntEnum):
        exclusive = 0
        shared = 1

    exclusive, shared = cu_access_mode.exclusive, cu_access_mode.shared

    def __init__(self, card, uuid, name, mode=cu_access_mode.shared):
        if not isinstance(card, device) or uuid != "uuid" or type(name) is not str:
            raise TypeError("kernel(): incompatible constructor arguments")
        of, _, unit = name.rstrip("}").partition(":{")
        if unit not in units or of != "hlsgen_" + unit:
            raise RuntimeError("No such kernel '%s'" % name)
        self._unit = units[unit]
        if self._unit.open:
            raise RuntimeError("failed to open ip context: Device or resource busy")
        self._unit.open = mode == kernel.exclusive

    def __del__(self):
        if hasattr(self, "_unit"):
            self._unit.open = False

    def group_id(self, argument):
        return {0: 3, 1: -1, 2: 5}[argument]


class run:
    def __init__(self, of):
        if not isinstance(of, kernel):
            raise TypeError("run(): incompatible constructor arguments")
        self._kernel, self._args, self._state = of, {}, ert_cmd_state.ERT_CMD_STATE_NEW

    def set_arg(self, at, value):
        if self._kernel._unit.run is self:
            fail("an argument of a run that runs is set")
        if isinstance(value, bo):
            if at not in (0, 2) or value._group != self._kernel.group_id(at):
                raise RuntimeError("argument %d: the buffer is in another bank" % at)
        elif at != 1:
            raise RuntimeError("argument %d is a global one" % number(at, 0, 3))
        else:
            number(value, -(1 << 31), (1 << 31) - 1)
        self._args[at] = value

    def start(self):
        unit = self._kernel._unit
        if unit.run is not None:
            fail("a mover is started that runs")
        if len(self._args) != 3:
            fail("arguments are missing: %r" % self._args)
        counts["runs"] += 1
        unit.run, self._state = self, ert_cmd_state.ERT_CMD_STATE_SUBMITTED
        unit.done.clear()
        if self._args[1] == 0:
            if reports and not unit.reads:
                counts["reports"] += 1
                self._args[0]._card[:64] = np.frombuffer(struct.pack("<QQ48x", int(host["hash"], 16) ^ other, unit.error), np.uint8)
            unit.end(0)
        elif not hung and all(u.run is not None for u in units.values()):
            threading.Thread(target=_all).start()

    def state(self):
        return self._state

    def wait(self, milliseconds):
        if number(milliseconds, 0, (1 << 32) - 1) == 0:
            fail("it waits forever")
        return self._state if self._kernel._unit.done.wait(milliseconds / 1000) else ert_cmd_state.ERT_CMD_STATE_TIMEOUT


def _all():
    """What the accelerator does when all movers have started."""
    readers, writers = ([u for u in units.values() if u.reads == reads] for reads in (True, False))
    cut = []
    for u in readers:
        sizes = u.sizes(u.run._args)
        data, ends = u.run._args[0]._card, np.cumsum(sizes)
        if data.size < ends[-1]:
            fail("a mover reads behind its buffer")
        cut.append([data[e - n:e] for n, e in zip(sizes, ends)])
    for u, frames in zip(writers, lib.start(cut, [u.sizes(u.run._args) for u in writers])):
        data = np.concatenate(frames)
        u.run._args[0]._card[:data.size] = data
    time.sleep(late)
    for u in readers + writers:
        u.end(1)


def load():
    """An xclbin is loaded: movers do what they have not done before."""
    units.clear()
    for kind, streams in (("read", host["send"]), ("write", host["receive"])):
        for s in streams:
            units[kind + "_" + s["port"]] = _unit(s, kind == "read")


load()
