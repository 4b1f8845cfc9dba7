"""Has a driver predict, and compares it with what hlsgen simulate wrote, byte for byte.

    predict.py DEPLOY LIBRARY X Y [LENGTHS]

What the integers of X stand for, as a float32 program computes it, is in X.reals.npy.
"""

import sys

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
from accelerator import Accelerator, DeviceError, Library, Unfit  # noqa: E402

net = Accelerator(sys.argv[2])
x, y = np.load(sys.argv[3]), np.load(sys.argv[4])
lengths = np.load(sys.argv[5]).astype(int).tolist() if len(sys.argv) > 5 else None
checks = 0


def same(what, got, want):
    global checks
    checks += 1
    if got.dtype != want.dtype or got.shape != want.shape or got.tobytes() != want.tobytes():
        sys.exit("FAIL %s: %s %s, want %s %s" % (what, got.dtype, got.shape, want.dtype, want.shape))


def refuses(what, *args, **kwargs):
    global checks
    checks += 1
    try:
        net.predict(*args, **kwargs)
    except Unfit as e:
        print("refused", what, ":", e)
        return
    sys.exit("FAIL %s is not refused" % what)


if lengths is None:
    for size in (1, 7, 128):
        parts = [net.predict(x[i:i + size]) for i in range(0, len(x), size)]
        same("batches of %d" % size, np.concatenate(parts), y)
    some = slice(0, min(len(x), 16))
    same("Fortran order", net.predict(np.asfortranarray(x)), y)
    same("every other sample", net.predict(x[::2]), y[::2])
    if x.dtype == np.float32:
        same("float64", net.predict(x[some].astype(np.float64)), y[some])
    one = net.predict(x[0])
    same("one sample", one.reshape(y[:1].shape), y[:1])
    bad = x[some].astype(np.float32)
    if x.dtype == np.uint8:
        x = np.load(sys.argv[3] + ".reals.npy")
        same("float32 of uint8", net.predict(x), y)
        refuses("a number between two", (x + np.roll(x, 1, axis=0)) / 2 + np.float32(0.0007))
    else:
        refuses("integers", x.astype(np.uint8))
    bad.flat[3] = np.nan
    refuses("what is not a number", bad)
    refuses("another shape", x.reshape(-1, 2))
    refuses("text", x.astype(str))
    refuses("no sample", x[:0])
    refuses("lists of different lengths", [[1, 2], [3]])
    refuses("lengths", x, lengths=[1] * len(x))
    refuses("two arrays", x, x)
else:
    same("lengths", net.predict(x, lengths=lengths), y)
    lists = net.predict([a[:n] for a, n in zip(x, lengths)])
    for k, (a, n) in enumerate(zip(lists, lengths)):
        same("sequence %d" % k, a, y[k][:n])
    refuses("a sequence too long", [np.concatenate([x[0], x[0]])])
    refuses("a sequence of no step", [x[0][:0]])
    refuses("a length of no step", x, lengths=[0] * len(x))
    refuses("too few lengths", x, lengths=lengths[1:])
    refuses("other features", [x[0][..., :-1]])

# the same through PYNQ's doors
import os  # noqa: E402
import time  # noqa: E402

import warnings  # noqa: E402

import pynq  # noqa: E402

warnings.simplefilter("error", UserWarning)
bit = os.path.join(sys.argv[1], "..", "net.bit")
open(bit, "w").close()
board = Accelerator(bit, batch=5)
same("PYNQ", board.predict(x) if lengths is None else board.predict(x, lengths=lengths), y)
batches = -(-len(x) // 5)
streams = len(net.host["send"]) + len(net.host["receive"])
tables = streams if lengths else 0
if pynq.counts["invalidate"] != batches * len(net.host["receive"]) \
        or len(pynq.memory) > 2 * (streams + tables) or lengths is None and pynq.counts["allocate"] > 2 * streams:
    sys.exit("FAIL %r, %d buffers are kept" % (pynq.counts, len(pynq.memory)))
before = pynq.counts["allocate"]
same("PYNQ, again", board.predict(x) if lengths is None else board.predict(x, lengths=lengths), y)
if lengths is None and pynq.counts["allocate"] != before:
    sys.exit("FAIL %d buffers are made again" % (pynq.counts["allocate"] - before))
if not net.throughput(3) > 0 or not board.throughput(2) > 0:
    sys.exit("FAIL no throughput")
board.close()
if pynq.memory:
    sys.exit("FAIL %d buffers are kept when it is closed" % len(pynq.memory))

# the clock that runs: another than that of the design is told, and can be set
for runs, told in ((187.4, False), (166.67, "slower than promised"), (250, "results may be wrong"), (None, False)):
    pynq.Clocks.fclk0_mhz = runs
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        board.close()
        board = Accelerator(bit, batch=5)
    said = [w for w in said if w.category is UserWarning]
    if [str(w.message) for w in said if not told or told not in str(w.message) or w.filename != __file__] or told and not said:
        sys.exit("FAIL the clock of %r: %r" % (runs, said))
    checks += 1
if board.device.set_clock() != 187.5 or pynq.Clocks.fclk0_mhz != 187.5 or board.device.set_clock(100) != 100:
    sys.exit("FAIL the clock is %r" % pynq.Clocks.fclk0_mhz)
for clock in (0, -5, "187.5"):
    try:
        board.device.set_clock(clock)
        sys.exit("FAIL a clock of %r is set" % (clock,))
    except Unfit as e:
        checks += 1
board.device.set_clock()

# what waits without interrupts sleeps
pynq.counts["asked"], pynq.late = 0, 0.3
board.throughput(1)
if pynq.counts["asked"] > 2000:
    sys.exit("FAIL the movers were asked %d times" % pynq.counts["asked"])
board.close()

# with interrupts: the mover of the first results is asked three times a batch and ten times a second, and what hangs ends
pynq.wired, pynq.late = True, 0.03
pynq.counts.update(asked=0, interrupts=0)
begin = time.monotonic()
board = Accelerator(bit, batch=-(-len(x) // 3))
same("interrupts", board.predict(x) if lengths is None else board.predict(x, lengths=lengths), y)
if list(board.device.interrupts) != [net.host["receive"][0]["port"]] or pynq.counts["interrupts"] != 3 \
        or pynq.counts["asked"] > 3 * (1 + 2 * streams) + 10 * (time.monotonic() - begin):
    sys.exit("FAIL interrupts: %r, %r" % (pynq.counts, board.device.interrupts))
if net.host["send"][0].get("integers"):  # what does not fit is noticed behind a batch that runs
    bad = x.copy()
    bad.flat[-1] += 0.001
    for net in (net, board):
        refuses("a number between two, in the last batch", bad)
        same("behind it", net.predict(x), y)

# errors of movers name stream and sizes, leave no memory behind, and are over with the next batch
board.close()
for stream in board.host["receive"] + board.host["send"]:
    for error, why in ((1, "a response of the memory"), (2, "a frame that is too short or too long"), (4, "cannot be")):
        pynq.errors[stream["port"]] = error
        try:
            board.throughput(2)
            sys.exit("FAIL error %d of %s is not told" % (error, stream["port"]))
        except DeviceError as e:
            if "stream %s ended with error %#x" % (stream["port"], error) not in str(e) or why not in str(e) \
                    or "2 frames, " not in str(e) or pynq.memory:
                sys.exit("FAIL error %d: %s, %d buffers are kept" % (error, e, len(pynq.memory)))
        pynq.errors.clear()
        checks += 1
same("behind errors", board.predict(x) if lengths is None else board.predict(x, lengths=lengths), y)
board.close()

pynq.hung = True
for pynq.wired in (True, False):
    board = Accelerator(bit)
    board.device.timeout = -0.7
    for why in ("is not through after 0.3 s", "load the bitstream again"):
        begin = time.monotonic()
        try:
            board.throughput(1)
            sys.exit("FAIL what hangs has an end")
        except DeviceError as e:
            if why not in str(e) or time.monotonic() - begin > 5:
                sys.exit("FAIL what hangs: %s" % e)
        checks += 1
    if not pynq.memory:
        sys.exit("FAIL memory of what hangs is free")
    board.close()
    if pynq.memory:
        sys.exit("FAIL %d buffers are kept when it is closed" % len(pynq.memory))

# the same from C++
import subprocess  # noqa: E402
import tempfile  # noqa: E402

with tempfile.TemporaryDirectory() as where:
    program, given, got = (os.path.join(where, name) for name in ("predict", "x", "y"))
    here = os.path.dirname(os.path.abspath(__file__))
    build = os.path.dirname(os.path.abspath(sys.argv[2]))
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-I", sys.argv[1], os.path.join(here, "predict.cpp"),
                    sys.argv[2], "-Wl,-rpath," + build, "-o", program], check=True)
    if lengths is None:
        x.astype("<f4").tofile(given)
        want = y
    else:
        np.concatenate([a[:n].reshape(-1) for a, n in zip(x, lengths)]).astype("<f4").tofile(given)
        want = np.concatenate([a[:n].reshape(-1) for a, n in zip(y, lengths)])
    said = subprocess.run([program, given, got] + [str(n) for n in lengths or []], stdout=subprocess.PIPE, universal_newlines=True)
    print(said.stdout)
    if said.returncode != 0 or "PASS " not in said.stdout:
        sys.exit("FAIL the C++ ends with %d" % said.returncode)
    same("C++", np.fromfile(got, "<f4"), want.reshape(-1))


# a board may have Python 3.8
import ast  # noqa: E402

for name in os.listdir(sys.argv[1]):
    if name.endswith(".py"):
        with open(os.path.join(sys.argv[1], name), encoding="utf-8") as text:
            ast.parse(text.read(), name, feature_version=(3, 8))
        checks += 1


class Foreign(Library):
    def __init__(self):
        self.hash = "0" * 16


try:
    Accelerator(Foreign())
    sys.exit("FAIL another design's library is taken")
except Unfit as e:
    print("refused another design :", e)

print("PASS %d checks" % checks)
