"""Runs a network on its accelerator. Copy this folder to where the accelerator is.

    from accelerator import Accelerator
    net = Accelerator("net.bit")        # on a board with PYNQ: net.hwh lies beside it
    net = Accelerator("net.xclbin")     # on a card with XRT: its module pyxrt
    net = Accelerator("libmodel.so")    # anywhere: the generated C++ as a library, make -C hls lib
    y = net.predict(x)                  # numpy arrays, what the ONNX model takes and gives
    net.close()                         # frees the device's memory; or: with Accelerator("net.bit") as net

host/host.json, beside this file, says what inputs become and what results mean. Python 3.8 and numpy are enough.
The distribution hlsgen-driver has this file as the module hlsgen_driver. There, name the file:
Accelerator("net.bit", host="deploy/host/host.json").
"""

import ctypes
import hashlib
import json
import os
import select
import struct
import sys
import threading
import time
import warnings

import numpy as np

VERSION = 1  # of host.json
ROOM = 1 << 24  # bytes of frames that are sent and received at a time, at most
BLOCK = 1 << 17  # elements of samples that are made ready, or scaled, at a time: they fit a cache
PIECE = 12288  # numbers that are quantised at a time: less than what the C library asks Linux for again and again


class Unfit(ValueError):
    """What was given does not fit the model, the accelerator, or this file."""


class DeviceError(RuntimeError):
    """The device gave other frames than those asked for, reported an error, or did not end."""


def _load(path):
    """What host.json says, if this driver reads its version and it is whole."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise Unfit("there is no %s: copy the folder deploy, or name the file: Accelerator(..., host=PATH)" % path)
    try:
        host = json.loads(data.decode("utf-8"))
    except ValueError as e:
        raise Unfit("%s is damaged, or was not copied whole: %s" % (path, e))
    if not isinstance(host, dict) or host.get("schema") != "hlsgen-host" or not isinstance(host.get("version"), int):
        raise Unfit("%s is no host.json of hlsgen" % path)
    if host["version"] != VERSION:
        raise Unfit("%s has version %d, this driver reads version %d: %s" % (
            path, host["version"], VERSION, "copy accelerator.py of the build that wrote it, or pip install --upgrade hlsgen-driver"
            if host["version"] > VERSION else "copy accelerator.py of the build that wrote it, or build again"))
    data, _, rest = data.rpartition(b',"checksum":"')
    if "checksum" in host and rest.strip() != b'%s"}' % _sum(data).encode():  # the first builds had none
        raise Unfit("%s was changed, or not copied whole: its checksum is of another text. Copy it again from the build" % path)
    return host


def _sum(data):
    return hashlib.sha256(data).hexdigest()[:16]


def _array(tensor, given):
    try:
        return np.asarray(given)
    except ValueError as e:
        raise Unfit("input %r is no array: %s" % (tensor["name"], e))


def _rounded(values, dtype):
    """Numbers as an input or an output of a type holds them; numpy has no bfloat16: they come as float32."""
    if dtype != "bfloat16":
        return values.astype(dtype)
    values = values.astype(np.float64)
    unit = np.maximum(np.frexp(values)[1] - 8, -133)
    return np.ldexp(np.rint(np.ldexp(values, -unit)), unit).astype(np.float32)


def _blocks(first, last, elements):
    """Ranges of samples that are computed at a time, of so many elements each."""
    some = max(1, BLOCK // max(elements, 1))
    return ((at, min(at + some, last)) for at in range(first, last, some))


def _narrow(lo, hi):
    """The narrowest type of integers from lo to hi."""
    return next((t for t in map(np.dtype, ("u1", "i1", "u2", "i2", "u4", "i4", "i8"))
                 if np.iinfo(t).min <= lo and hi <= np.iinfo(t).max), np.dtype("u8"))


class _Packing:
    """Integers as they travel on a stream: words of whole bytes."""

    def __init__(self, stream):
        self.bits, self.per_word, self.port = stream["bits"], stream["per_word"], stream["port"]
        self.bytes, self.words, self.time = stream["bytes"], stream["words"], stream.get("time", False)
        self.bipolar = stream["type"] == "BIPOLAR"
        self.signed = stream["type"].startswith("INT")
        self.size, self.elements = self.words * self.bytes, self.words * self.per_word
        self.kind = np.dtype("<u%d" % next(n for n in (1, 2, 4, 8) if self.bits <= 8 * n))
        self.whole = self.bits == 8 * self.kind.itemsize and self.bits * self.per_word == 8 * self.bytes
        self.group = next(n for n in (1, 2, 4, 8) if n * self.bits % 8 == 0)  # so many elements are whole bytes
        self.group = min(self.group, self.per_word)
        self.groups = -(-self.per_word // self.group)
        self.span = -(-self.group * self.bits // 8)  # bytes of a group
        # by byte of a group, element and shift: what the byte has of the element
        self.parts = [(j, e, 8 * j - e * self.bits) for j in range(self.span) for e in range(self.group)
                      if -8 < 8 * j - e * self.bits < self.bits]

    def pack(self, codes, out=None):
        """codes: integers, one row per frame or step; the result: bytes, one row each."""
        rows, words = codes.shape[0], codes.shape[1] // self.per_word
        if out is None:
            out = np.empty((rows, words * self.bytes), np.uint8)
        if self.bipolar:
            codes = codes > 0
        if self.whole:
            np.copyto(out.view(self.kind), codes, casting="unsafe")
            return out
        codes = codes.astype(self.kind).reshape(rows * words, self.per_word)
        codes &= self.kind.type((1 << self.bits) - 1)
        if self.groups * self.group != self.per_word:
            some, codes = codes, np.zeros((rows * words, self.groups * self.group), self.kind)
            codes[:, :self.per_word] = some
        codes = codes.reshape(rows * words, self.groups, self.group)
        into, wide = out.reshape(rows * words, self.bytes), self.groups * self.span
        data = into[:, :wide] if wide <= self.bytes else np.empty((rows * words, wide), np.uint8)
        grouped, begun = data.reshape(rows * words, self.groups, self.span), set()
        for j, e, shift in self.parts:
            part = codes[:, :, e] >> self.kind.type(shift) if shift > 0 else codes[:, :, e] << self.kind.type(-shift)
            if j in begun:
                grouped[:, :, j] |= part.astype(np.uint8)
            else:
                np.copyto(grouped[:, :, j], part, casting="unsafe")
                begun.add(j)
        if wide > self.bytes:
            into[:] = data[:, :self.bytes]
        else:
            into[:, wide:] = 0
        return out

    def unpack(self, data):
        """The reverse: one row of codes per row of bytes."""
        rows, data, signed = data.shape[0], np.ascontiguousarray(data), self.kind.str.replace("u", "i")
        if self.whole:
            return data.view(signed if self.signed else self.kind)
        data, wide = data.reshape(-1, self.bytes), self.groups * self.span
        if wide > self.bytes:
            some, data = data, np.zeros((data.shape[0], wide), np.uint8)
            data[:, :self.bytes] = some
        grouped = data[:, :wide].reshape(-1, self.groups, self.span)
        codes = np.zeros((grouped.shape[0], self.groups, self.group), self.kind)
        for j, e, shift in self.parts:
            part = grouped[:, :, j]
            codes[:, :, e] |= part.astype(self.kind) << self.kind.type(shift) if shift >= 0 else part >> np.uint8(-shift)
        codes = codes.reshape(grouped.shape[0], -1)[:, :self.per_word].reshape(rows, -1)
        if self.signed:
            above = self.kind.type(8 * self.kind.itemsize - self.bits)
            return (codes << above).view(signed) >> np.dtype(signed).type(above)
        codes &= self.kind.type((1 << self.bits) - 1)
        return 2 * codes.astype(np.int8) - np.int8(1) if self.bipolar else codes


class _Order:
    """Elements of rows, by their place."""

    def __init__(self, index):
        self.index = np.array(index, np.intp)
        self.same = np.array_equal(self.index, np.arange(len(self.index)))

    def of(self, rows):
        return rows if self.same and rows.shape[1] == len(self.index) else rows.take(self.index, axis=1)


class _Quantiser:
    """Codes of numbers: codes[k], of the k thresholds that are at most the number."""

    def __init__(self, thresholds, codes, kind):
        self.thresholds = np.array(thresholds, kind)
        self.codes = np.array(codes, _narrow(min(codes), max(codes)))
        self.scale = None
        if 8 < len(self.thresholds) and np.isfinite(self.thresholds).all():
            self._even()

    def _even(self):
        """Where thresholds are about evenly spaced, the nearest one is computed: nearest never falls when x rises, so that it
        is right everywhere if it is at each threshold, and at the number in front of each."""
        ends, kind = self.thresholds[[0, -1]].astype(np.float64), self.thresholds.dtype.type
        with np.errstate(all="ignore"):
            scale = kind((len(self.thresholds) - 1) / (ends[1] - ends[0]))
        if not 0 < scale < np.inf:
            return
        self.scale = scale
        at = np.concatenate([self.thresholds, np.nextafter(self.thresholds, kind(-np.inf))])
        if not np.array_equal(self._below(at), np.searchsorted(self.thresholds, at, side="right")):
            self.scale = None

    def _below(self, x):
        """The number of thresholds that are at most x: one of the two around the nearest."""
        with np.errstate(over="ignore"):
            near = x - self.thresholds[0]
            near *= self.scale
        np.rint(near, out=near)
        np.clip(near, 0, len(self.thresholds) - 1, out=near)
        near = near.astype(np.intp)
        near += x >= self.thresholds.take(near)
        return near

    def of(self, x):
        """x: numbers, none of which is NaN."""
        out, flat = np.empty(x.size, self.codes.dtype), x.reshape(-1)
        for at in range(0, x.size, PIECE):
            out[at:at + PIECE] = self.codes.take(self._places(flat[at:at + PIECE].astype(self.thresholds.dtype, copy=False)))
        return out.reshape(x.shape)

    def _places(self, x):
        if self.scale is not None:
            return self._below(x)
        if len(self.thresholds) > 16:
            return np.searchsorted(self.thresholds, x, side="right")
        below = np.zeros(x.shape, np.uint8)
        for threshold in self.thresholds:
            below += x >= threshold
        return below


class _Values:
    """Integers of the numbers that they stand for: the nearest in a list that rises, at most a number away."""

    def __init__(self, values, most):
        self.values, self.most, self.scale = np.array(values, np.float64), most, 0.0
        steps = np.diff(self.values)
        if len(steps) and steps.min() > 3 * most and np.isfinite(self.values).all():  # then only one is near
            self.scale = len(steps) / (self.values[-1] - self.values[0])

    def of(self, x):
        """Places of numbers in the list, and which of these are wrong."""
        places, wrong, flat = np.empty(x.size, np.int32), np.empty(x.size, bool), x.reshape(-1)
        for at in range(0, x.size, PIECE):
            some = slice(at, at + PIECE)
            places[some], wrong[some] = self._places(flat[some].astype(np.float64))
        return places.reshape(x.shape), wrong.reshape(x.shape)

    def _places(self, x):
        if self.scale:
            with np.errstate(over="ignore"):
                at = np.clip(np.rint((x - self.values[0]) * self.scale), 0, len(self.values) - 1).astype(np.intp)
            wrong = abs(self.values.take(at) - x) > self.most
            if not wrong.any():
                return at, wrong
        # they are not even, or numbers are wrong
        above = np.minimum(np.searchsorted(self.values, x), len(self.values) - 1)
        at = above - ((above > 0) & (x - self.values[above - 1] < self.values[above] - x))
        return at, abs(self.values[at] - x) > self.most


class _Sent:
    """What a stream into the accelerator carries of an input."""

    def __init__(self, send, host):
        self.packing = _Packing(send)
        self.input = host["inputs"][send["input"]]
        self.at = send["input"]
        self.order = _Order(send["index"])
        self.integers = send.get("integers")
        self.input["integers"] = self.integers is not None
        kind = np.float64 if self.input["dtype"] == "float64" else np.float32
        self.quantisers = [_Quantiser(q["thresholds"], q["codes"], kind) for q in send.get("quantise", [])]
        which, self.groups = send.get("which"), [slice(None)]
        if which is not None:
            which = np.array(which)
            self.groups = [self._regular(np.flatnonzero(which == k)) for k in range(which.max() + 1)]
        self.type = _narrow(0, 1)
        if self.integers is not None:
            lo, hi, values = self.integers["lo"], self.integers["hi"], self.integers.get("values")
            self.type = _narrow(lo, hi)
            if values is not None:
                values = np.array(values).reshape(-1, hi - lo + 1)
                self.values = [_Values(*v) for v in zip(values, self.integers.get("within", [0] * len(values)))]
        elif self.quantisers:
            self.type = _narrow(min(q.codes.min() for q in self.quantisers), max(q.codes.max() for q in self.quantisers))

    @staticmethod
    def _regular(at):
        """Places as a slice, where they are one."""
        step = at[1] - at[0] if len(at) > 1 else 1
        return slice(at[0], at[-1] + 1, step) if len(at) and (np.diff(at) == step).all() else at

    def codes(self, x, first=0, row="sample"):
        """x: rows of elements of the input, what row says from first on; the result: rows of codes, in the order in which they
        travel."""
        x = self.order.of(x)
        if self.integers is not None:
            return self._integers(x, first, row)
        if len(self.quantisers) == 1:
            return self.quantisers[0].of(x)
        out = np.empty(x.shape, self.type)
        for at, quantiser in zip(self.groups, self.quantisers):
            out[:, at] = quantiser.of(x[:, at])
        return out

    def _integers(self, x, first, what):
        lo, hi = self.integers["lo"], self.integers["hi"]
        scaled = self.integers.get("values") is not None
        if x.dtype.kind == "b":
            x = x.view(np.uint8)
        if x.dtype.kind in "iu":
            limits = np.iinfo(x.dtype)
            if lo <= limits.min and limits.max <= hi or not x.size or lo <= int(x.min()) and int(x.max()) <= hi:
                return x
            wrong = np.zeros(x.shape, bool)
            if limits.min < lo:
                wrong |= x < lo
            if limits.max > hi:
                wrong |= x > hi
        elif scaled:
            codes, wrong = np.empty(x.shape, self.type), np.empty(x.shape, bool)
            for at, values in zip(self.groups, self.values):
                near, wrong[:, at] = values.of(x[:, at])
                codes[:, at] = near + lo
        else:
            wrong = (np.rint(x) != x) | (x < lo) | (x >= float(hi + 1))
            codes = np.where(wrong, 0, x).astype(self.type)
        if wrong.any():
            row, element = np.argwhere(wrong)[0]
            raise Unfit("input %r, %s %d: %r is no integer from %d to %d%s" % (
                self.input["name"], what, first + row, x[row, element].item(), lo, hi, ", scaled" if scaled else ""))
        return codes


class _Result:
    """What an output of the model is made of."""

    def __init__(self, result, tensor, received):
        self.tensor, self.time = tensor, result["time"]
        self.streams = [p for p in received if p.time == self.time]
        self.order, self.elements = _Order(result["index"]), len(result["index"])
        self.kind = tensor["dtype"]
        self.type = _rounded(np.empty(0), self.kind).dtype
        which = result.get("which")
        which = np.zeros(self.elements, np.intp) if which is None else np.array(which)
        self.groups = [(np.flatnonzero(which == k), mean) for k, mean in enumerate(result["mean"])]
        if len(self.groups) == 1:
            self.groups = [(slice(None), result["mean"][0])]
        self.values = [_rounded(np.array(mean.get("values", []), np.float64), self.kind) for mean in result["mean"]]

    def of(self, codes, first, step=1):
        """codes: rows, as they came, of frames from first on, or, with step 0, of one frame; the result: rows of elements of the
        output."""
        codes = self.order.of(codes)
        out = np.empty(codes.shape, self.type)
        for (at, mean), values in zip(self.groups, self.values):
            some = codes[:, at]
            self._occurs(some, at, mean, first, step)
            if "values" in mean:
                out[:, at] = values[some.astype(np.intp) - mean["lo"]]
                continue
            scaled = some.astype(np.float64)
            scaled *= mean.get("scale", 0.0)
            scaled += mean.get("bias", 0.0)
            value = _rounded(scaled, self.kind)
            for code, exception in mean.get("except", {}).items():
                value[some == int(code)] = exception
            out[:, at] = value
        return out

    def _occurs(self, codes, at, mean, first, step):
        """Refuses codes that never occur: the device is wrong then. The first builds said nothing of the largest."""
        lo, hi = mean["lo"], mean.get("hi")
        limits = np.iinfo(codes.dtype)
        if hi is None or not codes.size or lo <= limits.min and limits.max <= hi or lo <= int(codes.min()) and int(codes.max()) <= hi:
            return
        row, k = np.argwhere((codes < lo) | (codes > hi))[0]
        element = int(self.order.index[np.arange(self.elements)[at][k]])
        for stream in self.streams:
            if element < stream.elements:
                break
            element -= stream.elements
        raise DeviceError("stream %s, frame %d: the device gave the code %d, want %d to %d" % (
            stream.port, first + step * row, codes[row, k], lo, hi))


class _Nodes:
    """pre.onnx or post.onnx, which have nodes of the model that host.json cannot hold."""

    def __init__(self, path, nodes, tensors):
        try:
            import onnxruntime

            session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
            self.names, self._run = [i.name for i in session.get_inputs()], session.run
        except ImportError:
            try:
                from onnx.reference import ReferenceEvaluator
            except ImportError:
                raise Unfit("the model computes %s outside of the accelerator, which takes onnxruntime, or onnx 1.13 or later: "
                            "install one of these, or compute it in your program, and predict between the tensors %s: "
                            "Accelerator(..., inside=True)" % (", ".join(nodes[:3]), ", ".join(tensors)))
            session = ReferenceEvaluator(path)
            self.names, self._run = list(session.input_names), session.run

    def run(self, arrays):
        """Outputs, in their order, of inputs in theirs: of one sample."""
        return self._run(None, dict(zip(self.names, arrays)))


class Library:
    """The generated C++, compiled: make -C hls lib."""

    running = threading.Lock()  # a library has one state, whoever has opened it

    def __init__(self, path):
        try:
            self.lib = ctypes.CDLL(os.path.abspath(path))
        except OSError as e:
            raise Unfit("%s is no library: %s" % (path, e))
        self.lib.hlsgen_design.restype = ctypes.c_char_p
        self.lib.hlsgen_said.restype = ctypes.c_char_p
        self.hash = self.lib.hlsgen_design().decode()
        self.kept = {}  # by stream out: room for its frames

    def prepare(self, sent, sizes):
        """Makes a batch ready. sent: per stream in, frames of bytes: a list, or an array with a row for each; sizes: per stream
        out, those of frames."""
        received = [self._room(k, of) for k, of in enumerate(sizes)]
        frames = [np.ascontiguousarray(f) if isinstance(f, np.ndarray) else list(map(np.ascontiguousarray, f)) for f in sent]
        return len(sent[0]), self._table(frames), self._table(received), received, frames

    def _room(self, stream, sizes):
        """Room for frames: rows of an array that is kept, where they have one size."""
        if len(set(sizes)) != 1:
            return [np.zeros(n, np.uint8) for n in sizes]
        shape = len(sizes), sizes[0]
        if stream not in self.kept or self.kept[stream].shape != shape:
            self.kept[stream] = np.zeros(shape, np.uint8)
        return self.kept[stream]

    @staticmethod
    def _table(streams):
        """Addresses and sizes of frames, of one stream after the other."""
        at, lengths = [], []
        for of in streams:
            if isinstance(of, np.ndarray):
                at.append(of.ctypes.data + np.arange(len(of), dtype=np.uintp) * np.uintp(of.strides[0]))
                lengths.append(np.full(len(of), of.shape[1], np.uintp))
            else:
                at.append(np.array([f.ctypes.data for f in of], np.uintp))
                lengths.append(np.array([f.size for f in of], np.uintp))
        return np.concatenate(at), np.concatenate(lengths)

    def begin(self, ready):
        """Runs what is ready."""
        count, (data, lengths), (out, room), _, _ = ready
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (data, lengths, out, room)]
        with self.running:
            if self.lib.hlsgen_run(ctypes.c_size_t(count), *pointers) != 0:
                self.close()
                raise DeviceError(self.lib.hlsgen_said().decode())

    def finish(self, ready):
        """Waits until it has run: it has."""

    def check(self, ready):
        """Looks for errors: begin has told them."""

    def start(self, sent, sizes):
        """Begins a batch. The frames sent stay as they are until it has been waited for."""
        ready = self.prepare(sent, sizes)
        self.begin(ready)
        return ready[3]

    def wait(self, started):
        """What came: per stream out, its frames; the next batch takes their place."""
        return started

    def close(self):
        """Frees what is kept between batches."""
        self.kept.clear()

    def load(self, port, data):
        """Fills the tables of weights with bytes from memory, which port takes."""
        data = np.ascontiguousarray(data)
        if self.lib.hlsgen_load(ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.size // 4)) != 0:
            raise DeviceError(self.lib.hlsgen_said().decode())

    def weights(self, port, data, passes):
        """From now on the weights of port, of which a frame takes those of one copy so many times."""
        data = np.ascontiguousarray(data)
        if self.lib.hlsgen_weights(port.encode(), ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.size),
                                   ctypes.c_size_t(passes)) != 0:
            raise DeviceError(self.lib.hlsgen_said().decode())


class _Interrupt:
    """The interrupt of a mover, as Linux shows it to programs: a UIO device."""

    ENABLED, EVENTS, HAPPENED = 0x04, 0x08, 0x0C
    LONGEST = 0.1  # seconds to wait for it: one that is lost costs no more

    def __init__(self, registers, device):
        self.registers, self.file, self.on = registers, open(device, "r+b", buffering=0), False
        registers.write(self.EVENTS, 1)  # the mover is done
        registers.write(self.ENABLED, 1)

    def clear(self):
        happened = self.registers.read(self.HAPPENED)
        if happened:
            self.registers.write(self.HAPPENED, happened)

    def wait(self, seconds):
        """Until it comes, or seconds have passed."""
        if not self.on:
            self.file.write(struct.pack("i", 1))  # Linux switches it off whenever it comes
            self.on = True
        if select.select([self.file], [], [], min(max(seconds, 0), self.LONGEST))[0]:
            self.file.read(4)
            self.on = False


def _pause(since):
    """Sleeps between two questions for what is waited for since then: a small part of the time that this has taken already."""
    time.sleep(min((time.monotonic() - since) / 128, 1e-3))


class _Transfer:
    """What a mover does for a batch: so many frames of its stream, and their memory. The table has their steps, or is None."""

    def __init__(self, mover, memory, table, count, sizes=None):
        self.mover, self.memory, self.table, self.count, self.sizes = mover, memory, table, count, sizes

    def __str__(self):
        return "weights" if self.sizes is None else "%d frames, %d bytes" % (self.count, sum(self.sizes))


class _Movers:
    """A device whose movers carry frames between its streams and memory. A batch has timeout seconds, and one for each of its
    frames. A subclass knows movers and memory: it has _mover, _memory and _error."""

    ERRORS = "a response of the memory", "a frame that is too short or too long", "what is asked for cannot be"
    MOST = (1 << 32) - 1  # frames of a transfer
    TABLED = False  # whether all transfers have a table
    FILE = "bitstream"

    def __init__(self, host, timeout):
        self.host, self.timeout = host, timeout
        self.readers = [self._mover("read", s["port"]) for s in host["send"]]
        self.writers = [self._mover("write", r["port"]) for r in host["receive"]]
        self.loaders = {}  # by port: the mover that fills tables of weights
        self.constant = {}  # by port: what comes with every frame, its mover, and how often
        self.kept = {}  # by port, use and size: memory of movers; the last one used comes last

    def _buffer(self, mover, use, size):
        """Memory for a mover: that of before, where sizes are the same. Of two sizes it is kept, the last batch's and that of
        the others."""
        key = mover.port, use, size
        memory = self.kept.pop(key, None)
        if memory is None:
            others = [k for k in self.kept if k[:2] == key[:2]]
            if len(others) > 1:
                self.kept.pop(others[0]).free()
            memory = self._memory(mover, use, max(size, 1))
        self.kept[key] = memory
        return memory

    def _free(self, busy=()):
        """Frees memory, but not that of streams that are busy."""
        for key in list(self.kept):
            if key[0] not in busy:
                self.kept.pop(key).free()

    def close(self):
        """Frees all memory. Where a batch has not ended, load the bitstream again before: the hardware may still write."""
        self._free()
        for port, (mover, memory, passes) in self.constant.items():
            if memory is not None:
                memory.free()
            self.constant[port] = mover, None, passes

    def _all(self):
        """All movers: those that take results before those that send."""
        return self.writers + self.readers + [mover for mover, _, _ in self.constant.values()]

    def _busy(self):
        return [m.port for m in self._all() if not m.idle()]

    def prepare(self, sent, sizes):
        """Makes a batch ready, as Library does: in memory that movers see."""
        for port in self._busy():
            raise DeviceError("stream %s is busy with a batch before: load the %s again" % (port, self.FILE))
        ready = []
        for mover, stream, frames in zip(self.writers, self.host["receive"], sizes):
            memory = self._buffer(mover, "data", sum(frames))
            table = self._table(mover, stream["words"] * stream["bytes"], frames)
            ready.append(_Transfer(mover, memory, table, len(frames), frames))
        for port, (mover, memory, passes) in self.constant.items():
            if memory is None:
                raise DeviceError("stream %s has no weights: the device was closed" % port)
            count = len(sent[0]) * passes
            ready.append(_Transfer(mover, memory, self._table(mover, 1, [1] * count if self.TABLED else (), count), count))
        for mover, stream, given in zip(self.readers, self.host["send"], sent):
            frames = [len(f) for f in given]
            memory = self._buffer(mover, "data", sum(frames))
            memory.data[:] = given.reshape(-1) if isinstance(given, np.ndarray) else np.concatenate(given)
            memory.send()
            table = self._table(mover, stream["words"] * stream["bytes"], frames)
            ready.append(_Transfer(mover, memory, table, len(frames), frames))
        return ready

    def _table(self, mover, unit, frames, count=None):
        """A table of frames' steps, or None where all are units."""
        count = len(frames) if count is None else count
        if count > self.MOST:
            raise Unfit("stream %s: %d frames at a time are more than a mover counts: take a smaller batch" % (mover.port, count))
        if not self.TABLED and all(n == unit for n in frames):
            return None
        steps = self._buffer(mover, "steps", (count + 15) // 16 * 16)  # a mover reads 64 bytes at a time
        steps.data[:count] = np.array(frames, np.int64) // unit
        steps.send()
        return steps

    def begin(self, ready):
        """Starts the movers of what is ready."""
        for t in ready:
            t.mover.go(t.memory, t.table, t.count)

    def start(self, sent, sizes):
        """Begins a batch."""
        ready = self.prepare(sent, sizes)
        self.begin(ready)
        return ready

    def _end(self, transfers, seconds):
        """Waits until movers are done, or until seconds have passed."""
        end = time.monotonic() + seconds
        for t in transfers:
            why = t.mover.wait(end)
            if why is not None:
                raise DeviceError("stream %s %s: %s" % (t.mover.port, why or "is not through after %g s" % seconds, t))

    def _faults(self, transfers):
        """Looks for errors that movers tell."""
        for t in transfers:
            error = self._error(t.mover)
            if error:
                why = [text for bit, text in enumerate(self.ERRORS) if error >> bit & 1]
                raise DeviceError("stream %s ended with error %#x, %s: %s" % (t.mover.port, error, ", ".join(why) or "unknown", t))

    def _loader(self, port):
        if port not in self.loaders:
            self.loaders[port] = self._mover("read", port)
        return self.loaders[port]

    def load(self, port, data):
        """Fills the tables of weights with bytes from memory: the mover of port takes them as one frame."""
        mover = self._loader(port)
        memory = self._buffer(mover, "data", len(data))
        memory.data[:] = data
        memory.send()
        all_of = [_Transfer(mover, memory, self._table(mover, 4, [len(data)]), 1)]
        self.begin(all_of)
        try:
            self._end(all_of, self.timeout)
            self._faults(all_of)
        finally:
            self._free([p for p in [port] if not mover.idle()])

    def weights(self, port, data, passes):
        """From now on the weights of port, of which a frame takes those of one copy so many times."""
        mover, before = self.constant[port][:2] if port in self.constant else (self._mover("read", port), None)
        memory = self._memory(mover, "data", len(data))
        memory.data[:] = data
        memory.send()
        if before is not None:
            before.free()
        self.constant[port] = mover, memory, passes

    def finish(self, started):
        """Waits until a batch has ended. Of a stream that hangs the memory is kept: the hardware may still write there."""
        self._freeing(self._end, started, self.timeout + max(len(t.sizes) for t in started if t.sizes is not None))

    def check(self, ended):
        """Looks for errors of a batch that has ended."""
        self._freeing(self._faults, ended)

    def _freeing(self, what, *args):
        try:
            what(*args)
        except DeviceError:
            self._free(self._busy())
            raise

    def wait(self, started):
        """What came, as Library has it."""
        self.finish(started)
        self.check(started)
        received = []
        for t in started[:len(self.writers)]:
            t.memory.fetch()
            if len(set(t.sizes)) == 1:
                received.append(t.memory.data.reshape(t.count, -1))
            else:
                received.append([t.memory.data[e - n:e] for n, e in zip(t.sizes, np.cumsum(t.sizes))])
        return received


class _PynqMemory:
    """Memory of a board, and what is in it."""

    def __init__(self, buffer):
        self.data, self.address = np.asarray(buffer), buffer.device_address
        self.send, self.fetch, self.free = buffer.flush, buffer.invalidate, buffer.freebuffer


class _PynqMover:
    """A mover of a board, by its registers, and the device of its interrupt, or None."""

    CONTROL, ADDRESS, FRAMES, TABLE, ERROR, HASH = 0x00, 0x10, 0x1C, 0x24, 0x30, 0x34

    def __init__(self, port, registers, device):
        self.port, self.registers = port, registers
        self.interrupt = None if device is None else _Interrupt(registers, device)

    def hash(self):
        return "%08x%08x" % (self.registers.read(self.HASH + 4), self.registers.read(self.HASH))

    def error(self):
        return self.registers.read(self.ERROR)

    def idle(self):
        """Whether it can be started. The question also clears that it was done."""
        return bool(self.registers.read(self.CONTROL) & 4)

    def go(self, memory, table, count):
        """Starts it."""
        for at, value in ((self.ADDRESS, memory.address), (self.TABLE, 0 if table is None else table.address)):
            self.registers.write(at, value & 0xFFFFFFFF)
            self.registers.write(at + 4, value >> 32)
        self.registers.write(self.FRAMES, count)
        if self.interrupt is not None:
            self.interrupt.clear()
        self.registers.write(self.CONTROL, 1)

    def wait(self, end):
        """Waits until it is done, which is None, or until the time is end, which is no text."""
        begin = time.monotonic()
        while not self.registers.read(self.CONTROL) & 2:
            left = end - time.monotonic()
            if left < 0:
                return ""
            if self.interrupt is not None:
                self.interrupt.wait(left)
            else:
                _pause(begin)
        return None


class Pynq(_Movers):
    """A bitstream on a board with PYNQ: NAME.bit, with NAME.hwh beside it. Where Linux shows a mover's interrupt, that is waited
    for; the others are asked."""

    def __init__(self, path, host, timeout=10.0):
        try:
            import pynq
        except ImportError as e:
            raise Unfit("%s is a bitstream, for a board with PYNQ, which this Python does not have (%s); elsewhere take a library "
                        "(.so)" % (path, e))

        self.pynq, self.allocate = pynq, pynq.allocate
        self.overlay, self.system = pynq.Overlay(path), host.get("system") or {}
        super().__init__(host, timeout)
        self.hash = self.readers[0].hash()
        self._warn()

    @property
    def interrupts(self):
        """The ports whose movers have interrupts that Linux shows."""
        return [m.port for m in self._all() if m.interrupt is not None]

    def _memory(self, mover, use, size):
        return _PynqMemory(self.allocate((size,), np.uint32 if use == "steps" else np.uint8))

    def _mover(self, kind, port):
        """The mover of a stream: by the name and the kind that the .hwh has for it."""
        for name, ip in self.overlay.ip_dict.items():
            if ":hlsgen_" + kind + ":" in ip["type"] and name.endswith(port):
                return _PynqMover(port, self.pynq.MMIO(ip["phys_addr"], ip["addr_range"]), self._uio(port))
        raise Unfit("the bitstream has no hlsgen_%s for stream %s" % (kind, port))

    def _uio(self, port):
        """The device of a mover's interrupt, where Linux has one of it. host.json has the number: from PYNQ 3.0 on ip_dict knows
        only interrupts behind an axi_intc."""
        number = [m["interrupt"] for m in self.system.get("movers", []) if m["port"] == port and "interrupt" in m]
        try:
            from pynq.interrupt import get_uio_irq

            return get_uio_irq(number[0]) if number else None
        except (ImportError, OSError):
            return None

    def _error(self, mover):
        return mover.error()

    def clock(self):
        """The clock of the logic that runs, in MHz, by the processor's registers; None where PYNQ does not say."""
        try:
            return float(self.pynq.Clocks.fclk0_mhz)
        except (AttributeError, TypeError, ValueError, RuntimeError, OSError):
            return None

    def set_clock(self, mhz=None):
        """Sets the clock of the logic to a number of MHz, or to that of host.json: the nearest that the processor's dividers make.
        The result is the clock that runs then."""
        mhz = self.system.get("clock_mhz") if mhz is None else mhz
        if not isinstance(mhz, (int, float)) or not 0 < mhz < 10000:
            raise Unfit("the clock is %r, want a number of MHz" % (mhz,))
        self.pynq.Clocks.fclk0_mhz = mhz
        return self.clock()

    def _warn(self):
        """Warns if the clock that runs is not the one of the design."""
        want, runs = self.system.get("clock_mhz"), self.clock()
        if want is not None and runs is not None and abs(runs - want) > 0.001 * want:
            warnings.warn("the clock of the logic is %g MHz, the design is for %g: %s; set_clock() of the Accelerator's device sets it"
                          % (runs, want, "results may be wrong" if runs > want else "it is slower than promised"), stacklevel=4)


class _XrtMemory:
    """Memory of a card, and what is in it: a buffer object of pyxrt, which is freed with its last name."""

    def __init__(self, pyxrt, buffer, kind):
        self.buffer, self.data, self.way = buffer, np.frombuffer(buffer.map(), kind), pyxrt.xclBOSyncDirection

    def send(self):
        self.buffer.sync(self.way.XCL_BO_SYNC_BO_TO_DEVICE)

    def fetch(self):
        self.buffer.sync(self.way.XCL_BO_SYNC_BO_FROM_DEVICE)

    def free(self):
        self.buffer = self.data = None


class _XrtMover:
    """A mover of a card, which is a kernel. pyxrt gives it memory and numbers of 32 bits, and shows no register."""

    def __init__(self, pyxrt, kernel, port, writes):
        self.pyxrt, self.kernel, self.port, self.writes = pyxrt, kernel, port, writes
        self.states, self.run, self.started = pyxrt.ert_cmd_state, None, False

    def idle(self):
        if self.started:
            self.started = int(self.run.state()) not in [int(s) for s in (
                self.states.ERT_CMD_STATE_COMPLETED, self.states.ERT_CMD_STATE_ERROR, self.states.ERT_CMD_STATE_ABORT)]
        return not self.started

    def go(self, memory, table, count):
        """Starts it. Its run, which is used again, holds the memory."""
        if self.run is None:
            self.run = self.pyxrt.run(self.kernel)
        self.run.set_arg(0, memory.buffer)
        self.run.set_arg(1, int(count))
        self.run.set_arg(2, table.buffer)
        self.run.start()
        self.started = True

    def wait(self, end):
        """Waits until it is done, which is None, or until the time is end, which is no text. XRT waits forever for 0 ms."""
        state = self.run.wait(max(1, int(1000 * (end - time.monotonic()))))
        if state == self.states.ERT_CMD_STATE_COMPLETED:
            self.started = False
            return None
        return "ended in state %d of XRT" % int(state) if self.idle() else ""


class Xrt(_Movers):
    """A card with XRT and its pyxrt: NAME.xclbin. card is its number, or its address (BDF), as xrt-smi lists them. The hash and
    errors come from movers that write, as reports in memory: what those that read tell, pyxrt does not show."""

    MOST = (1 << 31) - 1  # of pyxrt's int
    TABLED = True  # pyxrt has no 0 of 64 bits
    FILE = "xclbin"

    def __init__(self, path, host, timeout=10.0, card=0):
        try:
            import pyxrt
        except ImportError as e:
            raise Unfit("%s is for a card with XRT, whose module pyxrt this Python does not have (%s); elsewhere take a library (.so)"
                        % (path, e))
        self.pyxrt = pyxrt
        if not os.path.exists(path):
            raise Unfit("there is no %s" % path)
        try:
            self.card = pyxrt.device(card)
            self.loaded = self.card.load_xclbin(path)
        except (RuntimeError, TypeError) as e:
            raise Unfit("card %r does not take %s: %s" % (card, path, e))
        super().__init__(host, timeout)
        self.hash = "%016x" % self._report(self.writers[0])[0]

    def _memory(self, mover, use, size):
        kind = np.dtype(np.uint32 if use == "steps" else np.uint8)
        bank = mover.kernel.group_id(2 if use == "steps" else 0)
        return _XrtMemory(self.pyxrt, self.pyxrt.bo(self.card, size * kind.itemsize, self.pyxrt.bo.normal, bank), kind)

    def _mover(self, kind, port):
        """The mover of a stream, which nobody else may use."""
        name = "hlsgen_%s_%s:{%s_%s}" % (kind, port, kind, port)
        try:
            kernel = self.pyxrt.kernel(self.card, self.loaded, name, self.pyxrt.kernel.exclusive)
        except RuntimeError as e:
            raise Unfit("the xclbin has no hlsgen_%s for stream %s, or another program uses it: %s" % (kind, port, e))
        return _XrtMover(self.pyxrt, kernel, port, kind == "write")

    def _free(self, busy=()):
        for mover in self._all() + list(self.loaders.values()):
            if mover.port not in busy:
                mover.run, mover.started = None, False
        super()._free(busy)

    def _report(self, mover):
        """The hash of the design, and the error of the last transfer: what a mover that writes says when it has no frames."""
        memory = self._buffer(mover, "report", 64)  # of the widest port
        memory.data[:] = 0xFF
        memory.send()
        told = [_Transfer(mover, memory, self._table(mover, 1, [1]), 0, [64])]
        self.begin(told)
        self._end(told, self.timeout)
        memory.fetch()
        hash, error, none = struct.unpack_from("<QII", memory.data)
        if none != 0:
            raise Unfit("stream %s: its mover does not report the design's hash. Movers of builds from this version on do, on memory "
                        "ports of 128 bits or more: build and link again" % mover.port)
        return hash, error

    def _error(self, mover):
        return self._report(mover)[1] if mover.writes else 0


class _Weights:
    """Weights that are loaded: the file weights.bin beside a host.json."""

    HEAD = struct.Struct("<8sQQII")  # magic and version, design, host.json, words, 0

    def __init__(self, host, folder):
        self.host, self.of = host, host["weights"]
        self.words = self.read(os.path.join(folder, self.of["file"]))

    def load(self, device):
        """Loads them. Nothing runs on the device."""
        for e in self.of.get("external", []):  # these come out of memory with every frame
            if not hasattr(device, "weights"):
                raise Unfit("the device has no weights, which come out of memory: take a bitstream, or the library of rtl/axi")
            data = np.array(self.words[e["at"]:e["at"] + (e["bytes"] + 3) // 4], "<u4").view(np.uint8)[:e["bytes"]]
            device.weights(e["port"], np.tile(data, e["copies"]), e["passes"])
        window = [w for w in (self.host.get("registers") or {"windows": []})["windows"] if w["name"] == "weights"]
        if window:
            self._tables(device, self.words[:self.of["words"]], window[0]["offset"])

    def _tables(self, device, words, begin):
        """Fills tables with words, through registers from begin on, or from memory."""
        words += (0,)  # the last one no table takes
        loader = self.host["registers"].get("loader")
        if loader is not None and isinstance(device, Xrt):  # its mover is through when all words were taken
            device.load(loader, np.array(words, "<u4").view(np.uint8))
            return
        get, put = self._registers(device)
        if loader is None:
            put(begin, 1)
            for w in words:
                put(begin + 4, w)
        elif hasattr(device, "load"):
            device.load(loader, np.array(words, "<u4").view(np.uint8))
        else:
            raise Unfit("the device has no load, which fills tables from memory: take a bitstream, or the library of rtl/axi")
        begun = time.monotonic()
        while get(begin) == 0 and time.monotonic() < begun + 1.0:
            _pause(begun)
        if get(begin) != 1:
            raise Unfit("the accelerator takes another number of words than the %d of %s" % (len(words), self.of["file"]))

    def read(self, path):
        """The words of a file of weights, which has to be that of host.json."""
        with open(path, "rb") as file:
            data = file.read()
        hint, head = "copy weights.bin and host.json together, as hlsgen wrote them", self.HEAD
        if len(data) < head.size + 8 or data[:7] != b"HLSGENW":
            raise Unfit("%s is no file of weights; %s" % (path, hint))
        magic, design, _, count, _ = head.unpack_from(data)
        if magic[7] != 1:
            raise Unfit("%s has version %d; this driver reads version 1" % (path, magic[7]))
        if len(data) != head.size + 4 * count + 8 or _sum(data[:-8]) != "%016x" % struct.unpack("<Q", data[-8:]):
            raise Unfit("%s is damaged, or was not copied whole" % path)
        if "%016x" % design != self.host["hash"]:
            raise Unfit("%s is for design %016x, host.json of %s; %s" % (path, design, self.host["hash"], hint))
        if _sum(data) != self.of["hash"]:
            raise Unfit("%s and host.json do not belong together; %s" % (path, hint))
        return struct.unpack_from("<%dI" % count, data, head.size)

    def _registers(self, device):
        """How the accelerator's own registers are read and written."""
        if hasattr(device, "overlay"):
            for name, ip in device.overlay.ip_dict.items():
                if ":" + self.host["top"] + ":" in ip["type"]:
                    ip = getattr(device.overlay, name)
                    return ip.read, ip.write
            raise Unfit("the bitstream shows no registers of %s" % self.host["top"])
        if hasattr(getattr(device, "lib", None), "hlsgen_peek"):
            device.lib.hlsgen_peek.restype = ctypes.c_uint32
            return device.lib.hlsgen_peek, device.lib.hlsgen_poke
        if hasattr(device, "peek"):
            return device.peek, device.poke
        raise Unfit("the device has no registers to load weights through: take a bitstream, or the library of rtl/axi")


class Accelerator:
    """One accelerator on a device: a bitstream (.bit), the .xclbin of a card, a library of the generated C++ (.so), or any object
    with hash, start and wait, as Library has. Where there are several cards, card is the number or the address (BDF) of one. At
    most batch samples are sent together, and at most 16 MB; those that follow are made ready meanwhile. Several threads may
    predict: one does at a time.

    before and after are nodes of the model that host.json cannot hold, in front of the accelerator and behind it. They are run
    with onnxruntime, or with onnx. With inside=True a program computes them itself: then predict takes and gives tensors inside
    of the model, of the names in host["inputs"] and host["outputs"]."""

    def __init__(self, path, host=None, batch=256, inside=False, card=0):
        here = os.path.dirname(os.path.abspath(__file__))
        host = host or os.path.join(here, "host", "host.json")
        if not isinstance(host, (str, os.PathLike)):
            raise Unfit("host is %r, want the path of a host.json" % (host,))
        self.host = _load(host)
        self.sent = [_Sent(s, self.host) for s in self.host["send"]]
        self.received = [_Packing(r) for r in self.host["receive"]]
        self.results = [_Result(r, t, self.received) for r, t in zip(self.host["results"], self.host["outputs"])]
        self.before, self.after = self.host.get("before", []), self.host.get("after", [])
        beside = os.path.dirname(os.path.abspath(host))
        self.pre = self.post = None
        self.takes, self.gives = self.host["inputs"], self.host["outputs"]
        if self.before and not inside:
            self.pre = self._nodes(os.path.join(beside, "pre.onnx"), self.before, "takes", "inputs")
            self.takes = self.host["takes"]
        if self.after and not inside:
            self.post = self._nodes(os.path.join(beside, "post.onnx"), self.after, "gives", "outputs")
            self.gives = self.host["gives"]
        self.batch, self.lock, self.buffers = self._count("batch", batch), threading.RLock(), {}
        path = os.fspath(path) if hasattr(path, "__fspath__") else path
        self.device = path
        if isinstance(path, str):
            self.device = Library(path) if path.endswith(".so") else Xrt(path, self.host, card=card) if path.endswith(".xclbin") \
                else Pynq(path, self.host)
        elif not hasattr(path, "hash"):
            raise Unfit("%r is no device: give the path of a bitstream or of a library, or an object with hash, start and wait"
                        % (path,))
        if self.device.hash != self.host["hash"]:
            raise Unfit("%s is of design %s, host.json of %s: they do not belong together"
                        % (path, self.device.hash, self.host["hash"]))
        self.beside = beside
        if (self.host.get("weights") or {}).get("file"):
            self.load_weights()

    def load_weights(self):
        """Loads the weights of host.json into the accelerator, which was built with --weights runtime, stream or external. It is
        done once when the driver begins; weights of hlsgen weights are those of host="retrained-weights/host.json"."""
        with self.lock:
            _Weights(self.host, self.beside).load(self.device)

    @staticmethod
    def _count(what, n):
        """A number of at least one."""
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise Unfit("%s is %r, want an integer of at least 1" % (what, n))
        return int(n)

    def close(self):
        """Frees the memory that is kept between batches. What is predicted later takes it again, but for weights that come from
        memory with every frame: those are gone."""
        with self.lock:
            self.buffers.clear()
            if hasattr(self.device, "close"):
                self.device.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _nodes(self, path, nodes, whole, tensors):
        names = [t["name"] for t in self.host[tensors]]
        if whole not in self.host:
            raise Unfit("the model computes %s outside of the accelerator, which pre.onnx and post.onnx do not say: it takes other "
                        "operators than those of ONNX, from version 11 on. Compute it in your program, and predict between the tensors %s: Accelerator(..., inside=True)"
                        % (", ".join(nodes[:3]), ", ".join(names)))
        return _Nodes(path, nodes, names)

    def predict(self, *arrays, lengths=None):
        """Results of samples: the array of the model's output, or a dict of arrays by name where it has several.

        arrays are one for each input in their order, or a dict by name; tensors of torch are taken, too. An array holds samples
        side by side, or is one sample. Real numbers are rounded to the type of the input; integers
        are those that the accelerator was built for, by --input-type or the model itself. Sequences of different lengths are a list of arrays, or
        an array of the longest and the lengths: then zeros stand behind the ends of shorter ones.
        """
        arrays = self._given(arrays)
        if len(arrays) != len(self.takes):
            raise Unfit("%d arrays for %d inputs" % (len(arrays), len(self.takes)))
        if self.host.get("steps") is None:
            if lengths is not None:
                raise Unfit("lengths are given, but all sequences of the model have one length")
            with self.lock:
                return self._alike(arrays)
        with self.lock:
            return self._sequences(arrays, lengths, isinstance(arrays[0], (list, tuple)))

    def _given(self, arrays):
        """Arrays in the order of inputs."""
        if len(arrays) == 1 and isinstance(arrays[0], dict):
            names = [t["name"] for t in self.takes]
            if set(arrays[0]) != set(names):
                raise Unfit("arrays are given for %s, want %s" % (", ".join(map(str, arrays[0])) or "no input", ", ".join(names)))
            arrays = [arrays[0][n] for n in names]
        return [a.detach().cpu().numpy() if hasattr(a, "detach") else a for a in arrays]

    def _named(self, out):
        """The one output, or all by name."""
        return out[0] if len(out) == 1 else dict(zip((t["name"] for t in self.gives), out))

    def _alike(self, arrays):
        arrays = [self._samples(t, a) for t, a in zip(self.takes, arrays)]
        count = arrays[0].shape[0]
        if any(a.shape[0] != count for a in arrays):
            raise Unfit("inputs have %s samples" % ", ".join(str(a.shape[0]) for a in arrays))
        batch = self._together()
        elements = max(sum(p.elements for p in of) for of in ([s.packing for s in self.sent], self.received))
        span = batch * max(1, BLOCK // (batch * elements))  # samples that are made ready at a time: of small ones some batches
        got = [self._kept(("got", k), min(span, count), p.size) for k, p in enumerate(self.received)]
        out = [np.empty((count, r.elements), r.type) for r in self.results] if self.post is None else []

        def means(first, last):
            for at, end in _blocks(first, last, elements):
                parts = [p.unpack(g[at - first:end - first]) for p, g in zip(self.received, got)]
                codes = self._joined(parts)
                values = [r.of(codes, at) for r in self.results]
                if self.post is not None:
                    out.extend(zip(*[self.post.run([p[k:k + 1].astype(np.int64) for p in parts]) for k in range(end - at)]))
                    continue
                for into, some in zip(out, values):
                    into[at:end] = some

        def batches():
            before = None
            for turn, first in enumerate(range(0, count, span)):
                last = min(first + span, count)
                sent = self._ready(arrays, first, last, turn % 2, elements)
                for at in range(0, last - first, batch):
                    n = min(batch, last - first - at)
                    yield [s[at:at + n] for s in sent], [[p.size] * n for p in self.received], (at, n)
                    if before is not None:  # while the device has this one
                        means(*before)
                    before = None
                before = first, last
            yield None
            means(*before)

        def take(frames, place):
            for into, data in zip(got, frames):
                into = into[place[0]:place[0] + place[1]]
                into[:] = data.reshape(into.shape)

        self._run(batches(), take)
        if self.post is not None:
            return self._after(out)
        for k, r in enumerate(self.results):
            shape = list(r.tensor["shape"])
            out[k] = out[k].reshape([count] + (shape[1:] if r.tensor["batch"] and shape[:1] == [1] else shape))
        return self._named(out)

    def _ready(self, arrays, first, last, turn, elements):
        """Per stream, the frames of samples, in one of two buffers: the device has the other."""
        sent = [self._kept((turn, k), last - first, s.packing.size) for k, s in enumerate(self.sent)]
        for at, end in _blocks(first, last, elements):
            rows = [self._checked(t, a[at:end], at).reshape(end - at, -1) for t, a in zip(self.takes, arrays)]
            codes = [s.codes(rows[s.at], at) for s in self.sent] if self.pre is None else self._before(rows)
            for s, c, into in zip(self.sent, codes, sent):
                s.packing.pack(c, into[at - first:end - first])
        return sent

    def _together(self, steps=1):
        """Samples of a batch: as many as there is room for."""
        return min(self.batch, max(1, ROOM // self._frame(steps)))

    def _frame(self, steps=1):
        """Bytes of a sample, sent and received."""
        return sum(s.packing.size * (steps if self.host["inputs"][s.at]["time"] >= 0 else 1) for s in self.sent) \
            + sum(p.size * (steps if p.time else 1) for p in self.received)

    def _kept(self, key, rows, size):
        """A buffer for rows of bytes: that of before, where it is large enough."""
        if key not in self.buffers or len(self.buffers[key]) < rows:
            self.buffers[key] = np.empty((rows, size), np.uint8)
        return self.buffers[key][:rows]

    @staticmethod
    def _joined(parts):
        """Codes of all streams, side by side; integers of 64 bits of both signs are no float64."""
        if len(parts) == 1:
            return parts[0]
        kind = np.result_type(*parts)
        return np.concatenate([p.astype(np.int64 if kind.kind == "f" else kind, copy=False) for p in parts], axis=1)

    def _before(self, rows):
        """Codes per stream, by pre.onnx: rows of samples."""
        of = [self.pre.run([r[k].reshape(t["shape"]).astype(t["dtype"]) for t, r in zip(self.takes, rows)])
              for k in range(len(rows[0]))]
        return [np.concatenate(codes) for codes in zip(*of)]

    def _after(self, of):
        """Outputs, of what post.onnx gave: by block and output, one after the other."""
        of = [sum(of[k::len(self.gives)], ()) for k in range(len(self.gives))]
        out = [np.concatenate(values) if t["batch"] and t["shape"][:1] == [1] else np.stack(values)
               for t, values in zip(self.gives, of)]
        return self._named(out)

    def _run(self, batches, take):
        """Runs batches, of frames, sizes and what take knows them by: the next one is made ready while the device has one."""
        started, sizes, place = None, None, None
        while True:
            try:
                batch = next(batches)
            except Exception:
                if started is not None:
                    self.device.wait(started)  # nothing is left behind
                raise
            if started is not None:
                before, started = started, None
                take(self._frames(self.device.wait(before), sizes), place)
            if batch is None:
                break
            sent, sizes, place = batch
            started = self.device.start(sent, sizes)
        for _ in batches:  # what the last one means
            pass

    def _frames(self, given, sizes):
        """Per stream, the bytes that a device gave, if these are of the frames that it was asked for."""
        ports, frames = [p.port for p in self.received], []
        if not isinstance(given, (list, tuple)) or len(given) != len(ports):
            raise DeviceError("the device gave %s, want frames of %d streams: %s" % (
                "%d streams" % len(given) if isinstance(given, (list, tuple)) else "no list of streams", len(ports),
                ", ".join(ports)))
        for port, of, want in zip(ports, given, sizes):
            if not isinstance(of, (list, tuple, np.ndarray)) or len(of) != len(want):
                raise DeviceError("stream %s: the device gave %s, want %d of %d bytes" % (
                    port, "%d frames" % len(of) if hasattr(of, "__len__") else "no list of frames", len(want), sum(want)))
            if isinstance(of, np.ndarray) and of.ndim == 2 and of.dtype == np.uint8 and want == [of.shape[1]] * len(want):
                frames.append(of)
                continue
            frames.append(self._joined_bytes(of, want))
            for k, n in enumerate(want if frames[-1] is None else ()):
                if self._joined_bytes(of[k:k + 1], [n]) is None:
                    frame = np.asarray(of[k])
                    raise DeviceError("stream %s, frame %d: the device gave an array %s of %s, want %d bytes" % (
                        port, k, list(frame.shape), frame.dtype, n))
        return frames

    @staticmethod
    def _joined_bytes(frames, sizes):
        """Frames, one behind the other, if they are bytes, and so many."""
        try:
            data = np.concatenate(frames)
            return data if data.dtype == np.uint8 and data.ndim == 1 and list(map(len, frames)) == sizes else None
        except (TypeError, ValueError):
            return None

    def throughput(self, samples=None):
        """Samples per second of the device alone: frames are ready, as many as 16 MB hold, and start to wait is timed, over and
        over, for half a second or for so many samples."""
        steps = (self.host.get("steps") or {}).get("max", 1)
        count = max(1, ROOM // self._frame(steps))
        if samples is not None:
            count = min(count, self._count("samples", samples))
        with self.lock:
            sent = [np.zeros((count, s.packing.size * (steps if self.host["inputs"][s.at]["time"] >= 0 else 1)), np.uint8)
                    for s in self.sent]
            sizes = [[p.size * (steps if p.time else 1)] * count for p in self.received]
            ready = self.device.prepare(sent, sizes) if type(self.device) in (Library, Pynq, Xrt) else None
            took = []
            while not took or (len(took) * count < samples if samples is not None else
                               len(took) < 1000 and sum(took) < (0.5 if len(took) > 4 else 2)):
                begin = time.perf_counter()
                if ready is None:
                    given = self.device.wait(self.device.start(sent, sizes))
                else:
                    self.device.begin(ready)
                    self.device.finish(ready)
                took.append(time.perf_counter() - begin)
                if ready is not None:
                    self.device.check(ready)
                elif len(took) == 1:
                    self._frames(given, sizes)
        took = took[1:] or took  # the first one finds no memory in caches
        return len(took) * count / max(sum(took), 1e-9)

    def _samples(self, tensor, array):
        """An array of samples side by side, of its own type."""
        array = self._numbers(tensor, _array(tensor, array))
        shape = tensor["shape"][1:] if tensor["batch"] else tensor["shape"]
        one = list(array.shape) == shape
        if not one and list(array.shape[1:]) != shape:
            more = "; it is a tensor inside of the model, behind %s" % ", ".join(self.before[:3]) \
                if self.before and self.pre is None else ""
            raise Unfit("input %r has the shape %s, want %s, or that of one sample%s"
                        % (tensor["name"], list(array.shape), ["samples"] + shape, more))
        if array.size == 0:
            raise Unfit("input %r holds no sample: its shape is %s" % (tensor["name"], list(array.shape)))
        return array[None] if one else array

    @staticmethod
    def _numbers(tensor, array):
        """An array, if it is of numbers that the input takes."""
        if array.dtype.kind not in "fiub":
            raise Unfit("input %r has the type %s, want numbers" % (tensor["name"], array.dtype))
        if tensor["dtype"].startswith(("float", "bfloat")) and array.dtype.kind in "iub" and not tensor.get("integers"):
            raise Unfit("input %r is of type %s, the data are integers (%s): give the numbers that they stand for, or build "
                        "with --input-type" % (tensor["name"], tensor["dtype"], array.dtype))
        return array

    @staticmethod
    def _checked(tensor, array, first=0):
        """Numbers as the input holds them; of samples from first on."""
        if array.dtype.kind != "f":
            return array
        to = array
        if tensor["dtype"].startswith(("float", "bfloat")) and tensor["dtype"] != array.dtype.name:
            with np.errstate(over="ignore"):
                to = _rounded(array, tensor["dtype"])
        if not np.isfinite(to).all():
            at = np.argwhere(~np.isfinite(to))[0]
            raise Unfit("input %r, element %s is %r, which is no %s"
                        % (tensor["name"], [first + int(at[0])] + at[1:].tolist(), array[tuple(at)].item(), tensor["dtype"]))
        return to

    def _sequences(self, arrays, lengths, listed):
        steps, inputs = self.host["steps"], self.host["inputs"]
        if lengths is not None:
            lengths = np.asarray(lengths)
            if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
                raise Unfit("lengths are %s of %s, want a list of integers" % (list(lengths.shape), lengths.dtype))
            lengths = lengths.tolist()
        if not listed:
            arrays = self._cut(arrays, lengths)
        elif lengths is not None:
            raise Unfit("a list of sequences says their lengths")
        if not all(isinstance(a, (list, tuple)) for a in arrays):
            raise Unfit("some inputs are lists of sequences, others are arrays: give all in one way")
        count = len(arrays[0])
        if count == 0:
            raise Unfit("there is no sequence")
        if any(len(a) != count for a in arrays):
            raise Unfit("inputs have %s samples" % ", ".join(str(len(a)) for a in arrays))
        took, rows = [], []
        for k in range(count):
            moved, n = [], None
            for tensor, array in zip(inputs, arrays):
                steps_of = self._steps(tensor, array[k], k)
                if tensor["time"] >= 0:
                    n = steps_of.shape[0]
                moved.append(steps_of)
            if not steps["min"] <= n <= steps["max"]:
                raise Unfit("sample %d has the length %d, want %d to %d" % (k, n, steps["min"], steps["max"]))
            took.append(n)
            rows.append(moved)

        received, batch = [[] for _ in self.received], self._together(steps["max"])

        def batches():
            for first in range(0, count, batch):
                some = range(first, min(first + batch, count))
                sent = [[s.packing.pack(s.codes(rows[k][s.at], 0, "sample %d, step" % k)).reshape(-1) for k in some]
                        for s in self.sent]
                sizes = [[p.size * (took[k] if p.time else 1) for k in some] for p in self.received]
                yield sent, sizes, sizes
            yield None

        def take(frames, sizes):
            for into, data, of in zip(received, frames, sizes):
                into.extend(np.split(np.array(data).reshape(-1), np.cumsum(of)[:-1]))

        self._run(batches(), take)
        out = []
        for r in self.results:
            of = []
            streams = [k for k, p in enumerate(self.received) if p.time == r.time]
            for sample, n in enumerate(took):
                codes = [self.received[k].unpack(received[k][sample].reshape(n if r.time else 1, -1)) for k in streams]
                values = r.of(self._joined(codes), sample, 0)
                shape = list(r.tensor["shape"])
                if r.time:
                    at = r.tensor["time"]
                    values = np.moveaxis(values.reshape([n] + shape[:at] + shape[at + 1:]), 0, at)
                else:
                    values = values.reshape(shape)
                of.append(values)
            out.append(of if listed else self._padded(of, r, max(took)))
        return self._named(out)

    def _cut(self, arrays, lengths):
        """Arrays of sequences of one length, cut to lengths: lists of one sample each."""
        lists = []
        for tensor, array in zip(self.host["inputs"], arrays):
            array, shape, at = _array(tensor, array), tensor["shape"], tensor["time"]
            if array.ndim < len(shape) - tensor["batch"]:
                raise Unfit("input %r has the shape %s, want sequences of %s" % (tensor["name"], list(array.shape), list(shape)))
            if tensor["batch"]:
                array = array[:, None] if array.ndim == len(shape) else array
            elif array.ndim == len(shape):
                array = array[None]
            if lengths is not None and len(lengths) != len(array):
                raise Unfit("%d lengths for %d samples" % (len(lengths), len(array)))
            of = []
            for k, a in enumerate(array):
                if lengths is not None and at >= 0:
                    if not 1 <= lengths[k] <= a.shape[at]:
                        raise Unfit("sample %d has the length %d, want 1 to %d" % (k, lengths[k], a.shape[at]))
                    a = a.take(range(lengths[k]), axis=at)
                of.append(a)
            lists.append(of)
        return lists

    def _steps(self, tensor, array, sample):
        """A sequence as rows of one step each."""
        array = self._checked(tensor, self._numbers(tensor, _array(tensor, array)))
        shape, at = list(tensor["shape"]), tensor["time"]
        if tensor["batch"] and array.ndim == len(shape) - 1:
            array = array[None]
        if at < 0:
            want, rows = shape, array.reshape(1, -1)
            fits = list(array.shape) == want
        else:
            want = shape[:at] + ["steps"] + shape[at + 1:]
            fits = array.ndim == len(shape) and all(w in ("steps", n) for w, n in zip(want, array.shape))
            rows = np.moveaxis(array, at, 0).reshape(array.shape[at], -1) if fits and array.size else None
            fits = rows is not None
        if not fits:
            raise Unfit("input %r, sample %d has the shape %s, want %s" % (tensor["name"], sample, list(array.shape), want))
        return rows

    def _padded(self, of, r, longest):
        at, batch = r.tensor["time"], r.tensor["batch"] and r.tensor["shape"][:1] == [1]
        out = []
        for values in of:
            if r.time and values.shape[at] < longest:
                more = list(values.shape)
                more[at] = longest - values.shape[at]
                values = np.concatenate([values, np.zeros(more, values.dtype)], axis=at)
            out.append(values)
        return np.concatenate(out, axis=0) if batch else np.stack(out)


def main(args):
    """accelerator.py DEVICE INPUT.npy OUTPUT.npy [LENGTHS.npy] [--save MEASURED.json]

    INPUT is an .npz with arrays by name for a model with several inputs, OUTPUT for one with several outputs."""
    save = args[-1] if args[-2:-1] == ["--save"] else None
    args = args[:-2] if save else args
    if len(args) not in (3, 4):
        sys.exit("usage: " + main.__doc__.splitlines()[0])
    try:
        net = Accelerator(args[0])
        lengths = [int(n) for n in np.load(args[3])] if len(args) == 4 else None
        x = np.load(args[1])
        y = net.predict(x if isinstance(x, np.ndarray) else dict(x), lengths=lengths)
        if isinstance(y, dict):
            np.savez(args[2], **y)
        else:
            np.save(args[2], y)
        if save:  # for hlsgen collect
            with open(save, "w", encoding="utf-8") as file:
                json.dump({"hash": net.host["hash"], "samples_per_second": net.throughput()}, file)
    except (Unfit, DeviceError) as e:
        sys.exit("error: %s" % e)


if __name__ == "__main__":
    main(sys.argv[1:])
