"""Runs a network on its accelerator. Copy this folder to where the accelerator is.

    from accelerator import Accelerator
    net = Accelerator("net.bit")        # on a board with PYNQ: net.hwh lies beside it
    net = Accelerator("libmodel.so")    # anywhere: the generated C++ as a library, make -C hls lib
    y = net.predict(x)                  # numpy arrays, what the ONNX model takes and gives

host/host.json, beside this file, says what inputs become and what results mean. Python 3.8 and numpy are enough.
"""

import ctypes
import json
import os
import select
import struct
import sys
import time

import numpy as np

VERSION = 1


class Unfit(ValueError):
    """What was given does not fit the model, the accelerator, or this file."""


def _load(path):
    with open(path, encoding="utf-8") as file:
        host = json.load(file)
    if host.get("schema") != "hlsgen-host" or host.get("version") != VERSION:
        raise Unfit("%s: schema %r, version %r; this driver reads hlsgen-host, version %d"
                    % (path, host.get("schema"), host.get("version"), VERSION))
    return host


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


class _Packing:
    """Integers as they travel on a stream: words of whole bytes."""

    def __init__(self, stream):
        self.bits, self.per_word = stream["bits"], stream["per_word"]
        self.bytes, self.words, self.time = stream["bytes"], stream["words"], stream.get("time", False)
        self.bipolar = stream["type"] == "BIPOLAR"
        self.signed = stream["type"].startswith("INT")
        self.elements = self.words * self.per_word
        self.whole = self.bits == 8 * self.bytes and self.bits in (8, 16, 32, 64)

    def pack(self, codes):
        """codes: integers, one row per frame or step; the result: bytes, one row each."""
        rows = codes.shape[0]
        if self.bipolar:
            codes = (codes + 1) >> 1
        if self.whole:
            return np.ascontiguousarray(codes.astype("<u%d" % self.bytes)).view(np.uint8).reshape(rows, -1)
        of = np.ascontiguousarray(codes.astype("<i8")).view(np.uint8).reshape(rows, -1, 8)
        bits = np.unpackbits(of, axis=2, bitorder="little")[:, :, :self.bits]
        bits = bits.reshape(rows, -1, self.per_word * self.bits)
        out = np.zeros((rows, bits.shape[1], 8 * self.bytes), np.uint8)
        out[:, :, :bits.shape[2]] = bits
        return np.packbits(out, axis=2, bitorder="little").reshape(rows, -1)

    def unpack(self, data):
        """The reverse: one row of codes per row of bytes."""
        rows = data.shape[0]
        if self.whole:
            kind = "<i%d" if self.signed else "<u%d"
            codes = np.ascontiguousarray(data).view(kind % self.bytes).astype(np.int64)
        else:
            words = data.reshape(rows, -1, self.bytes)
            bits = np.unpackbits(words, axis=2, bitorder="little")[:, :, :self.per_word * self.bits]
            bits = bits.reshape(rows, -1, self.bits)
            wide = np.zeros((rows, bits.shape[1], 64), np.uint8)
            wide[:, :, :self.bits] = bits
            if self.signed:
                wide[:, :, self.bits:] = bits[:, :, -1:]
            codes = np.packbits(wide, axis=2, bitorder="little").view("<i8").reshape(rows, -1)
        return 2 * codes - 1 if self.bipolar else codes


class _Sent:
    """What a stream into the accelerator carries of an input."""

    def __init__(self, send, host):
        self.packing = _Packing(send)
        self.input = host["inputs"][send["input"]]
        self.at = send["input"]
        self.index = np.array(send["index"], np.intp)
        self.integers = send.get("integers")
        self.input["integers"] = self.integers is not None
        kind = np.float64 if self.input["dtype"] == "float64" else np.float32
        self.quantisers = [(np.array(q["thresholds"], kind), np.array(q["codes"], np.int64))
                           for q in send.get("quantise", [])]
        which = send.get("which")
        self.groups = None
        if which is not None:
            which = np.array(which)
            self.groups = [np.flatnonzero(which == k) for k in range(which.max() + 1)]

    def codes(self, x):
        """x: rows of elements of the input; the result: rows of codes, in the order in which they travel."""
        x = x[:, self.index]
        if self.integers is not None:
            return self._integers(x)
        if self.groups is None:
            thresholds, codes = self.quantisers[0]
            return codes[np.searchsorted(thresholds, x, side="right")]
        out = np.empty(x.shape, np.int64)
        for at, (thresholds, codes) in zip(self.groups, self.quantisers):
            out[:, at] = codes[np.searchsorted(thresholds, x[:, at], side="right")]
        return out

    def _integers(self, x):
        lo, hi = self.integers["lo"], self.integers["hi"]
        values = self.integers.get("values")
        if values is not None and x.dtype.kind == "f":
            values = np.array(values).reshape(-1, hi - lo + 1)  # they rise
            within = np.array(self.integers.get("within", [0] * len(values)))
            codes, wrong = np.empty(x.shape, np.int64), np.empty(x.shape, bool)
            for at, of, most in zip([slice(None)] if self.groups is None else self.groups, values, within):
                some = x[:, at].astype(np.float64)
                above = np.minimum(np.searchsorted(of, some), len(of) - 1)
                near = above - ((above > 0) & (some - of[above - 1] < of[above] - some))
                codes[:, at], wrong[:, at] = near + lo, abs(of[near] - some) > most
        else:
            codes = x.astype(np.int64)
            wrong = (codes != x) | (codes < lo) | (codes > hi)
        if wrong.any():
            row, element = np.argwhere(wrong)[0]
            raise Unfit("input %r, sample %d: %r is no integer from %d to %d%s" % (
                self.input["name"], row, x[row, element].item(), lo, hi,
                ", scaled" if values is not None else ""))
        return codes


class _Result:
    """What an output of the model is made of."""

    def __init__(self, result, tensor):
        self.tensor, self.time = tensor, result["time"]
        self.index = np.array(result["index"], np.intp)
        self.kind = tensor["dtype"]
        which = result.get("which")
        which = np.zeros(len(self.index), np.intp) if which is None else np.array(which)
        self.groups = [(np.flatnonzero(which == k), mean) for k, mean in enumerate(result["mean"])]

    def of(self, codes):
        """codes: rows, as they came; the result: rows of elements of the output."""
        codes = codes[:, self.index]
        out = np.empty(codes.shape, _rounded(np.empty(0), self.kind).dtype)
        for at, mean in self.groups:
            some = codes[:, at]
            if "values" in mean:
                out[:, at] = _rounded(np.array(mean["values"], np.float64), self.kind)[some - mean["lo"]]
                continue
            scaled = some.astype(np.float64) * mean.get("scale", 0.0)
            value = _rounded(scaled + mean.get("bias", 0.0), self.kind)
            for code, exception in mean.get("except", {}).items():
                value[some == int(code)] = exception
            out[:, at] = value
        return out


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

    def __init__(self, path):
        self.lib = ctypes.CDLL(os.path.abspath(path))
        self.lib.hlsgen_design.restype = ctypes.c_char_p
        self.lib.hlsgen_said.restype = ctypes.c_char_p
        self.hash = self.lib.hlsgen_design().decode()

    def start(self, sent, sizes):
        """sent: per stream in, a list of frames of bytes; sizes: per stream out, those of frames."""
        count = len(sent[0])
        received = [[np.zeros(n, np.uint8) for n in of] for of in sizes]
        pointer = ctypes.POINTER(ctypes.c_uint8)

        def table(streams):
            frames = [np.ascontiguousarray(frame) for of in streams for frame in of]
            return frames, (pointer * len(frames))(*[f.ctypes.data_as(pointer) for f in frames]), \
                (ctypes.c_size_t * len(frames))(*[f.size for f in frames])

        kept, data, lengths = table(sent)
        _, out, room = table(received)
        if self.lib.hlsgen_run(ctypes.c_size_t(count), data, lengths, out, room) != 0:
            raise RuntimeError(self.lib.hlsgen_said().decode())
        del kept
        return received

    def wait(self, started):
        """What came: per stream out, a list of frames."""
        return started

    def load(self, port, data):
        """Fills the tables of weights with bytes from memory, which port takes."""
        data = np.ascontiguousarray(data)
        if self.lib.hlsgen_load(ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.size // 4)) != 0:
            raise RuntimeError(self.lib.hlsgen_said().decode())


    def weights(self, port, data, passes):
        """From now on the weights of port, of which a frame takes those of one copy so many times."""
        data = np.ascontiguousarray(data)
        if self.lib.hlsgen_weights(port.encode(), ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.size),
                                   ctypes.c_size_t(passes)) != 0:
            raise RuntimeError(self.lib.hlsgen_said().decode())


class _Interrupt:
    """The interrupt of a mover, as Linux shows it to programs: a UIO device."""

    ENABLED, EVENTS, HAPPENED = 0x04, 0x08, 0x0C
    LONGEST = 0.1  # seconds to wait for it: one that is lost costs no more

    def __init__(self, mover, device):
        self.mover, self.file = mover, open(device, "r+b", buffering=0)
        mover.write(self.EVENTS, 1)  # the mover is done
        mover.write(self.ENABLED, 1)

    def clear(self):
        happened = self.mover.read(self.HAPPENED)
        if happened:
            self.mover.write(self.HAPPENED, happened)

    def wait(self, seconds):
        """Until it comes, or seconds have passed."""
        self.file.write(struct.pack("i", 1))  # Linux switches it off whenever it comes
        if select.select([self.file], [], [], min(max(seconds, 0), self.LONGEST))[0]:
            self.file.read(4)


class Pynq:
    """A bitstream on a board with PYNQ: NAME.bit, with NAME.hwh beside it. A batch has timeout seconds, and one for each of
    its frames. interrupts says of which streams Linux shows interrupts: of these they are waited for, the others are asked."""

    CONTROL, ADDRESS, FRAMES, TABLE, ERROR, HASH = 0x00, 0x10, 0x1C, 0x24, 0x30, 0x34

    def __init__(self, path, host, timeout=10.0):
        try:
            import pynq
        except ImportError as e:
            raise Unfit("%s is a bitstream, for a board with PYNQ, which this Python does not have (%s); elsewhere take a library "
                        "(.so)" % (path, e))

        self.pynq, self.allocate, self.timeout, self.host = pynq, pynq.allocate, timeout, host
        self.overlay, self.interrupts = pynq.Overlay(path), {}
        self.readers = [self._mover("hlsgen_read", s["port"]) for s in host["send"]]
        self.writers = [self._mover("hlsgen_write", r["port"]) for r in host["receive"]]
        self.constant = {}  # by port: what comes with every frame, its mover, and how often
        first = self.readers[0]
        self.hash = "%08x%08x" % (first.read(self.HASH + 4), first.read(self.HASH))

    def _mover(self, kind, port):
        """The registers of the mover of a stream: by the name and the kind that the .hwh has for it."""
        for name, ip in self.overlay.ip_dict.items():
            if ":" + kind + ":" in ip["type"] and name.endswith(port):
                mover = self.pynq.MMIO(ip["phys_addr"], ip["addr_range"])
                device = self._uio(ip)
                if device is not None:
                    self.interrupts[port] = _Interrupt(mover, device)
                return mover
        raise Unfit("the bitstream has no %s for stream %s" % (kind, port))

    @staticmethod
    def _uio(ip):
        """The device of an IP's interrupt, where the .hwh has it at the processor and Linux has a device of it."""
        pin = ip.get("interrupts", {}).get("interrupt", {})
        if pin.get("controller") != "" or "raw_irq" not in pin:
            return None
        try:
            from pynq.interrupt import get_uio_irq

            return get_uio_irq(pin["raw_irq"])
        except (ImportError, OSError):
            return None

    def start(self, sent, sizes):
        movers = [(m, s["port"]) for m, s in zip(self.writers + self.readers, self.host["receive"] + self.host["send"])]
        for mover, port in movers + [(m, port) for port, (m, _, _) in self.constant.items()]:
            if not mover.read(self.CONTROL) & 4:  # reading also clears that it was done
                raise RuntimeError("stream %s is busy with a batch before: load the bitstream again" % port)
        for port, (mover, data, passes) in self.constant.items():
            self._go(mover, port, data.device_address, 0, len(sent[0]) * passes)
        buffers = []
        for mover, stream, frames in zip(self.writers, self.host["receive"], sizes):
            buffers.append((mover, stream, self.allocate((max(sum(frames), 1),), np.uint8), frames))
        for mover, stream, frames in zip(self.readers, self.host["send"], sent):
            buffer = self.allocate((sum(len(f) for f in frames),), np.uint8)
            buffer[:] = np.concatenate(frames)
            buffer.flush()
            buffers.append((mover, stream, buffer, [len(f) for f in frames]))
        kept = [b[2] for b in buffers]
        for mover, stream, buffer, frames in buffers:  # those that take results before those that send
            self._begin(mover, stream["port"], buffer, stream["words"] * stream["bytes"], frames, kept)
        return buffers, kept

    def _begin(self, mover, port, buffer, unit, frames, kept):
        """Starts a mover; a table of its frames' steps, where they are no units, is kept."""
        table = 0
        if any(n != unit for n in frames):
            steps = self.allocate((len(frames),), np.uint32)
            steps[:] = [n // unit for n in frames]
            steps.flush()
            kept.append(steps)
            table = steps.device_address
        self._go(mover, port, buffer.device_address, table, len(frames))

    def _go(self, mover, port, address, table, frames):
        """Starts a mover."""
        if frames >> 32:
            raise Unfit("stream %s: %d frames at a time are more than a mover counts: take a smaller batch" % (port, frames))
        for at, value in ((self.ADDRESS, address), (self.TABLE, table)):
            mover.write(at, value & 0xFFFFFFFF)
            mover.write(at + 4, value >> 32)
        mover.write(self.FRAMES, frames)
        if port in self.interrupts:
            self.interrupts[port].clear()
        mover.write(self.CONTROL, 1)

    def _end(self, mover, port, seconds, end):
        """Waits until a mover is done, or until the time is end. Of one that hangs the memory is left as it is: the hardware may
        still write there."""
        while not mover.read(self.CONTROL) & 2:
            left = end - time.monotonic()
            if left < 0:
                raise RuntimeError("stream %s is not through after %g s" % (port, seconds))
            if port in self.interrupts:
                self.interrupts[port].wait(left)
        error = mover.read(self.ERROR)
        if error:
            raise RuntimeError("stream %s ended with error %#x" % (port, error))

    def load(self, port, data):
        """Fills the tables of weights with bytes from memory: the mover of port takes them as one frame."""
        mover, buffer = self._mover("hlsgen_read", port), self.allocate((len(data),), np.uint8)
        buffer[:] = data
        buffer.flush()
        kept = [buffer]
        self._begin(mover, port, buffer, 4, [len(data)], kept)
        self._end(mover, port, self.timeout, time.monotonic() + self.timeout)
        for buffer in kept:
            buffer.freebuffer()

    def weights(self, port, data, passes):
        """From now on the weights of port, of which a frame takes those of one copy so many times."""
        mover = self.constant[port][0] if port in self.constant else self._mover("hlsgen_read", port)
        buffer = self.allocate((len(data),), np.uint8)
        buffer[:] = data
        buffer.flush()
        if port in self.constant:
            self.constant[port][1].freebuffer()
        self.constant[port] = mover, buffer, passes

    def wait(self, started):
        buffers, kept = started
        seconds, received = self.timeout + max(len(b[3]) for b in buffers), []
        end = time.monotonic() + seconds
        for mover, stream, buffer, frames in buffers:
            self._end(mover, stream["port"], seconds, end)
        for port, (mover, _, _) in self.constant.items():
            self._end(mover, port, seconds, end)
        for _, _, buffer, frames in buffers[:len(self.writers)]:
            buffer.invalidate()
            ends = np.cumsum(frames)
            received.append([np.array(buffer[e - n:e]) for n, e in zip(frames, ends)])
        for buffer in kept:
            buffer.freebuffer()
        return received


class Accelerator:
    """One accelerator on a device: a bitstream (.bit), a library of the generated C++ (.so), or any object with hash, start
    and wait, as Library has. batch samples are sent together, and those that follow are made ready meanwhile.

    before and after are nodes of the model that host.json cannot hold, in front of the accelerator and behind it. They are run
    with onnxruntime, or with onnx. With inside=True a program computes them itself: then predict takes and gives tensors inside
    of the model, of the names in host["inputs"] and host["outputs"]."""

    def __init__(self, path, host=None, batch=256, inside=False):
        here = os.path.dirname(os.path.abspath(__file__))
        host = host or os.path.join(here, "host", "host.json")
        self.host = _load(host)
        self.sent = [_Sent(s, self.host) for s in self.host["send"]]
        self.received = [_Packing(r) for r in self.host["receive"]]
        self.results = [_Result(r, t) for r, t in zip(self.host["results"], self.host["outputs"])]
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
        self.batch = batch
        self.device = path
        if hasattr(path, "startswith"):
            self.device = Library(path) if path.endswith(".so") else Pynq(path, self.host)
        if self.device.hash != self.host["hash"]:
            raise Unfit("%s is of design %s, host.json of %s: they do not belong together"
                        % (path, self.device.hash, self.host["hash"]))

    def _nodes(self, path, nodes, whole, tensors):
        names = [t["name"] for t in self.host[tensors]]
        if whole not in self.host:
            raise Unfit("the model computes %s outside of the accelerator, which pre.onnx and post.onnx do not say: it takes other "
                        "operators than those of ONNX, from version 11 on. Compute it in your program, and predict between the tensors %s: Accelerator(..., inside=True)"
                        % (", ".join(nodes[:3]), ", ".join(names)))
        return _Nodes(path, nodes, names)

    def predict(self, *arrays, lengths=None):
        """Results of samples, one array per output of the model, or the one array where it has one.

        An array holds samples side by side, or is one sample. Real numbers are rounded to the type of the input; integers
        are those that the accelerator was built for, by --input-type or the model itself. Sequences of different lengths are a list of arrays, or
        an array of the longest and the lengths: then zeros stand behind the ends of shorter ones.
        """
        arrays = list(arrays)
        if len(arrays) != len(self.takes):
            raise Unfit("%d arrays for %d inputs" % (len(arrays), len(self.takes)))
        if self.host.get("steps") is None:
            if lengths is not None:
                raise Unfit("lengths are given, but all sequences of the model have one length")
            return self._alike(arrays)
        listed = isinstance(arrays[0], (list, tuple))
        return self._sequences(arrays, lengths, listed)

    def _alike(self, arrays):
        rows = [self._rows(t, a) for t, a in zip(self.takes, arrays)]
        count = rows[0].shape[0]
        if any(r.shape[0] != count for r in rows):
            raise Unfit("inputs have %s samples" % ", ".join(str(r.shape[0]) for r in rows))

        def ready(first):
            some = slice(first, min(first + self.batch, count))
            if self.pre is None:
                codes = [s.codes(rows[s.at][some]) for s in self.sent]
            else:
                codes = self._before([r[some] for r in rows])
            sent = [list(s.packing.pack(c)) for s, c in zip(self.sent, codes)]
            return sent, [[p.words * p.bytes] * (some.stop - first) for p in self.received]

        received = self._run(ready, count)
        parts = [p.unpack(np.array(frames).reshape(count, -1)) for p, frames in zip(self.received, received)]
        if self.post is not None:
            return self._after(parts)
        codes, out = np.concatenate(parts, axis=1), []
        for r in self.results:
            shape = list(r.tensor["shape"])
            shape = [count] + (shape[1:] if r.tensor["batch"] and shape[:1] == [1] else shape)
            out.append(r.of(codes).reshape(shape))
        return out[0] if len(out) == 1 else out

    def _before(self, rows):
        """Codes per stream, by pre.onnx: rows of samples."""
        of = [self.pre.run([r[k].reshape(t["shape"]).astype(t["dtype"]) for t, r in zip(self.takes, rows)])
              for k in range(len(rows[0]))]
        return [np.concatenate(codes) for codes in zip(*of)]

    def _after(self, parts):
        """Outputs, by post.onnx, of codes per stream."""
        of = zip(*[self.post.run([p[k:k + 1] for p in parts]) for k in range(len(parts[0]))])
        out = [np.concatenate(values) if t["batch"] and t["shape"][:1] == [1] else np.stack(values)
               for t, values in zip(self.gives, of)]
        return out[0] if len(out) == 1 else out

    def _run(self, ready, count):
        """Runs batches: the next one is made ready while the device has one."""
        received = [[] for _ in self.received]
        started = None
        for first in range(0, count, self.batch):
            try:
                sent, sizes = ready(first)
            except Exception:
                self._take(started, received)  # nothing is left behind
                raise
            self._take(started, received)
            started = self.device.start(sent, sizes)
        self._take(started, received)
        return received

    def _take(self, started, received):
        if started is not None:
            for into, frames in zip(received, self.device.wait(started)):
                into.extend(frames)

    def throughput(self, samples=1000):
        """Samples per second of frames that are ready: the first kind of sample, over and over."""
        steps = (self.host.get("steps") or {}).get("max", 1)
        sent = [[np.zeros(s.packing.words * s.packing.bytes * (steps if self.host["inputs"][s.at]["time"] >= 0 else 1),
                          np.uint8)] * samples for s in self.sent]
        sizes = [[p.words * p.bytes * (steps if p.time else 1)] * samples for p in self.received]
        begin = time.perf_counter()
        self.device.wait(self.device.start(sent, sizes))
        return samples / (time.perf_counter() - begin)

    def _rows(self, tensor, array):
        """An array as rows of one sample each, of its own type where that holds the values."""
        array = self._checked(tensor, _array(tensor, array))
        shape = tensor["shape"][1:] if tensor["batch"] else tensor["shape"]
        one = list(array.shape) == shape
        if not one and list(array.shape[1:]) != shape:
            more = "; it is a tensor inside of the model, behind %s" % ", ".join(self.before[:3]) \
                if self.before and self.pre is None else ""
            raise Unfit("input %r has the shape %s, want %s, or that of one sample%s"
                        % (tensor["name"], list(array.shape), ["samples"] + shape, more))
        if array.size == 0:
            raise Unfit("input %r holds no sample: its shape is %s" % (tensor["name"], list(array.shape)))
        return array.reshape(1 if one else array.shape[0], -1)

    @staticmethod
    def _checked(tensor, array):
        if array.dtype.kind not in "fiub":
            raise Unfit("input %r has the type %s, want numbers" % (tensor["name"], array.dtype))
        if tensor["dtype"].startswith(("float", "bfloat")) and array.dtype.kind in "iub" and not tensor.get("integers"):
            raise Unfit("input %r is of type %s, the data are integers (%s): give the numbers that they stand for, or build "
                        "with --input-type" % (tensor["name"], tensor["dtype"], array.dtype))
        if array.dtype.kind == "f":
            to = array
            if tensor["dtype"].startswith(("float", "bfloat")):
                with np.errstate(over="ignore"):
                    to = _rounded(array, tensor["dtype"])
            if not np.isfinite(to).all():
                at = np.argwhere(~np.isfinite(to))[0]
                raise Unfit("input %r, element %s is %r, which is no %s"
                            % (tensor["name"], at.tolist(), array[tuple(at)].item(), tensor["dtype"]))
            return to
        return array

    def _sequences(self, arrays, lengths, listed):
        steps, inputs = self.host["steps"], self.host["inputs"]
        if not listed:
            arrays = self._cut(arrays, lengths)
        elif lengths is not None:
            raise Unfit("a list of sequences says their lengths")
        count = len(arrays[0])
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

        def ready(first):
            some = range(first, min(first + self.batch, count))
            sent = [[s.packing.pack(s.codes(rows[k][s.at])).reshape(-1) for k in some] for s in self.sent]
            sizes = [[p.words * p.bytes * (took[k] if p.time else 1) for k in some] for p in self.received]
            return sent, sizes

        received = self._run(ready, count)
        out = []
        for r in self.results:
            of = []
            streams = [k for k, p in enumerate(self.received) if p.time == r.time]
            for sample, n in enumerate(took):
                codes = [self.received[k].unpack(received[k][sample].reshape(n if r.time else 1, -1)) for k in streams]
                values = r.of(np.concatenate(codes, axis=1))
                shape = list(r.tensor["shape"])
                if r.time:
                    at = r.tensor["time"]
                    values = np.moveaxis(values.reshape([n] + shape[:at] + shape[at + 1:]), 0, at)
                else:
                    values = values.reshape(shape)
                of.append(values)
            out.append(of if listed else self._padded(of, r, max(took)))
        return out[0] if len(out) == 1 else out

    def _cut(self, arrays, lengths):
        """Arrays of sequences of one length, cut to lengths: lists of one sample each."""
        lists = []
        for tensor, array in zip(self.host["inputs"], arrays):
            array, shape, at = np.asarray(array), tensor["shape"], tensor["time"]
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
        array, shape, at = self._checked(tensor, np.asarray(array)), list(tensor["shape"]), tensor["time"]
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
    """accelerator.py DEVICE INPUT.npy OUTPUT.npy [LENGTHS.npy] [--save MEASURED.json]"""
    save = args[-1] if args[-2:-1] == ["--save"] else None
    args = args[:-2] if save else args
    if len(args) not in (3, 4):
        sys.exit("usage: " + main.__doc__)
    try:
        net = Accelerator(args[0])
        lengths = [int(n) for n in np.load(args[3])] if len(args) == 4 else None
        np.save(args[2], net.predict(np.load(args[1]), lengths=lengths))
        if save:  # for hlsgen collect
            with open(save, "w", encoding="utf-8") as file:
                json.dump({"hash": net.host["hash"], "samples_per_second": net.throughput()}, file)
    except Unfit as e:
        sys.exit("error: %s" % e)


if __name__ == "__main__":
    main(sys.argv[1:])
