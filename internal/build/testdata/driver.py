"""Tests the driver by itself: packing of every width against Python's integers, quantisers against a search, and devices that
misbehave, threads, and memory, with a host.json.

    driver.py DEPLOY LIBRARY X Y [BITS]

BITS is the width of the first input's integers.
"""

import hashlib
import json
import random
import sys
import tempfile
import threading
import time
import tracemalloc
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
import accelerator  # noqa: E402
from accelerator import Accelerator, DeviceError, Unfit, _Packing, _Quantiser, _Values  # noqa: E402

checks = 0


def check(what, holds):
    global checks
    checks += 1
    if not holds:
        sys.exit("FAIL %s" % (what,))


# packing: words as Python's integers
pick = random.Random(1)
for bits in range(1, 65):
    for kind in ["UINT%d" % bits, "INT%d" % bits] + (["BIPOLAR", "BINARY"] if bits == 1 else []):
        for per_word in [1, 2, 3, 5, 8, pick.randint(9, 40)]:
            size, words, rows = -(-bits * per_word // 8) + pick.choice([0, 0, 1, 3]), pick.randint(1, 4), pick.randint(1, 3)
            packing = _Packing({"port": "s", "type": kind, "bits": bits, "per_word": per_word, "bytes": size, "words": words})
            lo, hi = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.startswith("INT") else (0, (1 << bits) - 1)
            values = [-1, 1] if kind == "BIPOLAR" else [lo, hi, 0, pick.randint(lo, hi), pick.randint(lo, hi)]
            codes = [[pick.choice(values) for _ in range(words * per_word)] for _ in range(rows)]
            want = b""
            for row in codes:
                for w in range(0, len(row), per_word):
                    word = 0
                    for e, code in enumerate(row[w:w + per_word]):
                        code = (code + 1) // 2 if kind == "BIPOLAR" else code
                        word |= (code & ((1 << bits) - 1)) << (e * bits)
                    want += word.to_bytes(size, "little")
            given = np.array(codes, np.uint64 if hi >> 63 else np.int64)
            narrow = given.astype(accelerator._narrow(min(min(values), 0), max(values)))
            for of in (given, narrow, np.asfortranarray(given)):
                into = np.full((rows, words * size), 0xA5, np.uint8)
                check((kind, per_word, size), packing.pack(of, into).tobytes() == want and into.tobytes() == want)
            back = packing.unpack(np.frombuffer(want, np.uint8).reshape(rows, -1))
            check((kind, per_word, size, back.dtype), back.tolist() == codes and back.dtype.itemsize * 8 < 2 * max(bits, 5))

# quantisers: even, nearly even and uneven ones, at thresholds and at the numbers beside them
even = 0
for seed in range(200):
    of, n = np.random.RandomState(seed), 1 + seed * 3 % 300
    kind = np.dtype([np.float32, np.float64][seed % 2])
    jitter = [0, 0.2, 0.9][seed % 3] * of.rand(n)
    thresholds = np.unique(((np.arange(n) - of.randint(300) + jitter) * 10.0 ** of.randint(-12, 12) / 3).astype(kind))
    codes = of.randint(-300, 300, len(thresholds) + 1)
    quantiser = _Quantiser(thresholds.tolist(), codes.tolist(), kind)
    even += quantiser.scale is not None
    spread = thresholds[0] + (of.rand(1000) * 1.4 - 0.2) * (thresholds[-1] - thresholds[0])
    x = np.concatenate([thresholds, np.nextafter(thresholds, kind.type(-np.inf)), np.nextafter(thresholds, kind.type(np.inf)),
                        spread.astype(kind), np.array([0, -0.0, np.finfo(kind).max, np.finfo(kind).min], kind)])
    check(("quantiser", seed), (quantiser.of(x) == codes[np.searchsorted(thresholds, x, side="right")]).all())
check("%d quantisers are even" % even, 60 < even < 190)

# integers of numbers: the nearest within reach
for seed in range(60):
    of, n = np.random.RandomState(seed), 2 + seed * 5 % 255
    values = np.unique((np.arange(n) + [0, 0.3, 5][seed % 3] * of.rand(n)).astype(np.float32)).astype(np.float64)
    most = [0, 1e-3, 0.2, 0.7][seed // 3 % 4]  # of the last, two may be near
    x = np.concatenate([values, values + most, values - most, values + 1.1 * most + 1e-3, [1e30, -1e30]]).astype(np.float32)
    check(("values", seed), _Values(values, most).of(np.array([1.7e308, -1.7e308]))[1].all())
    at, wrong = _Values(values, most).of(x)
    away = abs(values[:, None] - x.astype(np.float64))
    check(("values", seed), (wrong == (away.min(axis=0) > most)).all())
    check(("values", seed), (away[at, np.arange(len(x))] == away.min(axis=0))[~wrong].all())
    for some in (x[~wrong], x[~wrong][:1], x[~wrong][1:2]):  # none of which is wrong
        at, bad = _Values(values, most).of(some)
        away = abs(values[:, None] - some.astype(np.float64))
        check(("values", seed), not bad.any() and (away[at, np.arange(len(some))] == away.min(axis=0)).all())

# integers of every type: in the range or refused, with the sample and the integer
for lo, hi in ((0, 15), (-8, 7), (0, 255), (-128, 127), (0, 1), (-1, 1), (-32768, 32767), (0, (1 << 32) - 1)):
    send = {"port": "s", "type": "INT8", "bits": 8, "per_word": 1, "bytes": 1, "words": 3, "input": 0, "index": [2, 0, 1],
            "integers": {"lo": lo, "hi": hi}}
    sent = accelerator._Sent(send, {"inputs": [{"name": "x", "dtype": "int64"}]})
    for kind in "?bBhHiIqQfd":
        kind = np.dtype(kind)
        most = 1 if kind == bool else 1 << 24 if kind.kind == "f" else np.iinfo(kind).max
        least = 0 if kind.kind in "bu" else -(1 << 24) if kind.kind == "f" else np.iinfo(kind).min
        given = np.array([[max(least, min(v, most)) for v in row] for row in ((0, 1, lo), (hi, lo, 1))], kind)
        fits = all(lo <= int(v) <= hi for v in given.reshape(-1))
        check((lo, hi, kind), not fits or sent.codes(given).tolist() == given[:, [2, 0, 1]].astype(object).tolist())
        for wrong in (lo - 1, hi + 1, 0.5) if fits else ():
            if isinstance(wrong, float) and kind.kind != "f" or not least <= wrong <= most:
                continue
            bad = given.copy()
            bad[1, 2] = wrong
            try:
                sent.codes(bad, 40)
                check((lo, hi, kind, wrong), False)
            except Unfit as e:
                check(str(e), "input 'x', sample 41: %r is no integer from %d to %d" % (bad[1, 2].item(), lo, hi) in str(e))

# memory, and what is sent, of images whose channels travel together
shape = (3, 200, 250)
size = int(np.prod(shape))
order = np.arange(size).reshape(shape).transpose(1, 2, 0).reshape(-1)
levels = (np.arange(255) / np.float32(128) - 1).astype(np.float32)
stream = {"port": "s", "bits": 8, "per_word": 3, "bytes": 3, "words": size // 3, "input": 0, "index": order.tolist()}
given = {"schema": "hlsgen-host", "version": accelerator.VERSION, "hash": "0" * 16,
         "inputs": [{"name": "x", "dtype": "float32", "shape": [1] + list(shape), "batch": True, "time": -1}],
         "outputs": [{"name": "y", "dtype": "float32", "shape": [1, 4], "batch": True, "time": -1}],
         "receive": [{"port": "r", "type": "INT14", "bits": 14, "per_word": 2, "bytes": 4, "words": 2, "time": False}],
         "results": [{"index": [3, 2, 1, 0], "mean": [{"lo": -8192, "scale": 0.5}], "time": False}]}
codes = {"UINT8": {"integers": {"lo": 0, "hi": 255, "values": (np.arange(256) / 255).tolist()}},
         "INT8": {"quantise": [{"thresholds": levels.tolist(), "codes": list(range(-128, 128))}]}}


def write(path, host):
    """Writes a host.json, with its checksum, as hlsgen does."""
    text = json.dumps(host)[:-1].encode()
    path.write_bytes(text + b',"checksum":"%s"}\n' % hashlib.sha256(text).hexdigest()[:16].encode())


class Images:
    """Takes no time, and sees that what was sent is what was to be."""

    hash = given["hash"]

    def __init__(self, want):
        self.want, self.at = want, 0

    def start(self, sent, sizes):
        for frame in sent[0]:
            check("image %d" % self.at, frame.tobytes() == self.want(self.at))
            self.at += 1
        return [[np.array([k, 0, 0, 0, 4, 0, 0, 0], np.uint8) for k in range(len(of))] for of in sizes]

    def wait(self, started):
        return started


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "host.json"
    for kind, images in (("UINT8", 130), ("INT8", 40)):
        write(path, dict(given, send=[dict(stream, type=kind, **codes[kind])]))
        x = np.random.RandomState(1).randint(0, 256, (images,) + shape, np.uint8)
        quantised = kind == "INT8"
        if quantised:
            x = (x / np.float32(128) - 1).astype(np.float32)
            device = Images(lambda k: (np.searchsorted(levels, x[k].reshape(-1)[order], side="right") - 128).astype("i1").tobytes())
        else:
            device = Images(lambda k: x[k].reshape(-1)[order].tobytes())
        net = Accelerator(device, host=path)
        tracemalloc.start()
        got = net.predict(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        check("%d bytes of memory" % peak, peak < 12e6 + 2.2 * min(images * size, accelerator.ROOM) and device.at == images)
        check(got[:3], got[1].tolist() == [0.0, 2.0, 0.0, 0.5])

# devices
x, y = np.load(sys.argv[3]), np.load(sys.argv[4])
host = accelerator._load(str(Path(sys.argv[1]) / "host" / "host.json"))
reference = Accelerator(sys.argv[2])
sizes = [s["words"] * s["bytes"] for s in host["receive"]]
check([s["bits"] for s in host["send"]], len(sys.argv) < 6 or host["send"][0]["bits"] == int(sys.argv[5]))
print([(s["bits"], s["per_word"], s["bytes"]) for s in host["send"] + host["receive"]])


class Device:
    """Gives what the library does, changed."""

    hash = host["hash"]

    def __init__(self, change=lambda given: given):
        self.change, self.starts, self.closed = change, [], 0

    def start(self, sent, sizes):
        self.starts.append(len(sent[0]))
        return reference.device.wait(reference.device.start(sent, sizes))

    def wait(self, started):
        return self.change([[np.array(frame) for frame in of] for of in started])

    def close(self):
        self.closed += 1


device = Device()
with Accelerator(device, batch=np.int64(5)) as net:
    check("a device", net.predict(x).tobytes() == y.tobytes())
    check(device.starts, max(device.starts) == 5 and sum(device.starts) == len(x))
check("closed", device.closed == 1)
check("after close", net.predict(x).tobytes() == y.tobytes())
accelerator.ROOM = 3 * net._frame()
device.starts.clear()
check("little room", Accelerator(device).predict(x).tobytes() == y.tobytes() and max(device.starts) == 3)
accelerator.ROOM = 1 << 24


class Late(Device):
    """Reads what is sent when it is waited for."""

    def start(self, sent, sizes):
        return sent, sizes

    def wait(self, started):
        return super().wait(super().start(*started))


block, accelerator.BLOCK = accelerator.BLOCK, 1  # each batch is made ready by itself
check("a device that reads late", Accelerator(Late(), batch=3).predict(x).tobytes() == y.tobytes())
accelerator.BLOCK = block
check("a path", Accelerator(Path(sys.argv[2]), host=Path(sys.argv[1]) / "host" / "host.json").predict(x).tobytes() == y.tobytes())

for what, change, says in (
        ("no list", lambda given: None, ["no list of streams", host["receive"][0]["port"]]),
        ("no stream", lambda given: given[1:], ["gave %d streams" % (len(sizes) - 1), "%d streams" % len(sizes)]),
        ("a stream more", lambda given: given + given[:1], ["gave %d streams" % (len(sizes) + 1)]),
        ("no frames", lambda given: [None] * len(given), ["no list of frames"]),
        ("a frame less", lambda given: [of[1:] for of in given], [host["receive"][0]["port"], "4 frames", "want 5 of"]),
        ("a frame more", lambda given: [of + of[:1] for of in given], ["6 frames"]),
        ("a short frame", lambda given: [of[:2] + [of[2][:-1]] + of[3:] for of in given],
         [host["receive"][0]["port"] + ", frame 2", "[%d] of uint8" % (sizes[0] - 1), "want %d bytes" % sizes[0]]),
        ("a byte from one frame in the next", lambda given: [[of[0][:-1], np.append(of[1], of[0][-1:])] + of[2:] for of in given],
         ["frame 0", "want %d bytes" % sizes[0]]),
        ("words", lambda given: [[f.astype(np.int64) for f in of] for of in given], ["int64"]),
        ("an array of other rows", lambda given: [np.array(of)[:, 1:] for of in given], ["frame 0", "want %d bytes" % sizes[0]])):
    for call in (lambda net: net.predict(x[:5]), lambda net: net.throughput(5)):
        try:
            call(Accelerator(Device(change), batch=5))
            check("%s is taken" % what, False)
        except DeviceError as e:
            check("%s: %s" % (what, e), all(part in str(e) for part in says))

# codes that never occur
result, packing = host["results"][0], reference.received[0]
mean, at = result["mean"][(result.get("which") or [0])[0]], result["index"][0]
least, most = (-(1 << packing.bits - 1), (1 << packing.bits - 1) - 1) if packing.signed else (0, (1 << packing.bits) - 1)
outside = [code for code in (mean["lo"] - 1, mean["hi"] + 1, least, most) if least <= code <= most and not mean["lo"] <= code <= mean["hi"]]


def spoilt(code):
    def change(given):
        frame = given[0][1] if len(given[0]) > 1 else given[0][0]
        codes = np.array(packing.unpack(frame.reshape(1, -1)), np.int64)
        codes[0, at] = code
        frame[:] = packing.pack(codes)[0]
        return given
    return change


for code in outside if not packing.bipolar else []:
    device = Device(spoilt(code))
    try:
        Accelerator(device, batch=len(x)).predict(x)
        check("code %d is taken" % code, False)
    except DeviceError as e:
        check(str(e), str(e) == "stream %s, frame 1: the device gave the code %d, want %d to %d" % (
            host["receive"][0]["port"], code, mean["lo"], mean["hi"]))
print("%d codes are refused" % len(outside))

for what, make in (
        ("batch 0", lambda: Accelerator(Device(), batch=0)), ("batch -1", lambda: Accelerator(Device(), batch=-1)),
        ("batch 1.5", lambda: Accelerator(Device(), batch=1.5)), ("batch None", lambda: Accelerator(Device(), batch=None)),
        ("a host of 5", lambda: Accelerator(Device(), host=5)), ("no library", lambda: Accelerator(sys.argv[3] + ".so")),
        ("a number", lambda: Accelerator(5)), ("None", lambda: Accelerator(None)), ("None", lambda: reference.predict(None)),
        ("text", lambda: reference.predict("x")), ("a dictionary", lambda: reference.predict({})),
        ("complex", lambda: reference.predict(x.astype(complex))), ("no samples", lambda: reference.throughput(0)),
        ("half a sample", lambda: reference.throughput(0.5))):
    try:
        make()
        check("%s is taken" % what, False)
    except Unfit as e:
        print("refused", what, ":", e)

# host.json: one that is of another version, or not what hlsgen wrote, is refused with what helps
whole = (Path(sys.argv[1]) / "host" / "host.json").read_bytes()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "host.json"
    other = dict(json.loads(whole.decode()))
    del other["checksum"]
    for what, text, says in (
            ("another line end", whole.strip() + b"\r\n", None),
            ("a newer version", dict(other, version=accelerator.VERSION + 1), "pip install --upgrade hlsgen-driver"),
            ("an older version", dict(other, version=accelerator.VERSION - 1), "build again"),
            ("no version", dict(other, version=None), "no host.json of hlsgen"), ("a list", b"[]", "no host.json of hlsgen"),
            ("another file", dict(other, schema="hlsgen-build"), "no host.json of hlsgen"),
            ("half of it", whole[:len(whole) // 2], "not copied whole"), ("nothing", b"", "not copied whole"),
            ("no text", b"\xff" + whole, "not copied whole"), ("a file of the first builds", json.dumps(other).encode(), None),
            ("another number", whole.replace(b'"words":', b'"words":1', 1), "its checksum is of another"),
            ("another checksum", whole[:-4] + bytes([whole[-4] ^ 1]) + whole[-3:], "its checksum is of"),
            ("no file", None, "copy the folder deploy")):
        if text is None:
            path.unlink()
        elif isinstance(text, bytes):
            path.write_bytes(text)
        else:
            write(path, text)
        try:
            Accelerator(Device(), host=path)
            check("%s is taken" % what, says is None)
        except Unfit as e:
            check("%s: %s" % (what, e), says is not None and says in str(e) and "host.json" in str(e))

# threads: equal results, one batch at a time
running, wrong = [], []


class Slow(Device):
    def start(self, sent, sizes):
        running.append(1)
        if len(running) > 1:
            wrong.append("two batches run")
        time.sleep(0.001)
        return super().start(sent, sizes)

    def wait(self, started):
        running.pop()
        return super().wait(started)


def predict(net, some):
    for _ in range(3):
        if net.predict(x[some]).tobytes() != y[some].tobytes():
            wrong.append("another result")


for net in (Accelerator(Slow(), batch=4), reference):
    threads = [threading.Thread(target=predict, args=(net, slice(k, k + 9 + k))) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(wrong, not wrong)


# throughput: as many frames a start as there is room for, start to wait alone
class Sleeper(Device):
    def start(self, sent, sizes):
        self.starts.append(len(sent[0]))
        if len(self.starts) == 1:
            self.frames = [np.zeros((len(of), of[0]), np.uint8) for of in sizes]
        return self.frames

    def wait(self, started):
        time.sleep(0.01)
        return started


accelerator.ROOM = 1000 * net._frame() + 5
device = Sleeper()
device.change = lambda given: given
net = Accelerator(device)
rate = net.throughput()
check(device.starts, len(device.starts) > 4 and set(device.starts) == {1000})
check(rate, 0 < rate <= 1000 / 0.01)
print("PASS %d checks" % checks)
