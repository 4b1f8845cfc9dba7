"""Has the driver predict on a card, through a stand-in of pyxrt, and compares it with what hlsgen simulate wrote, byte for byte.

    card.py DEPLOY LIBRARY X Y [LENGTHS]
"""

import gc
import os
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
from accelerator import Accelerator, DeviceError, Unfit  # noqa: E402

import pyxrt  # noqa: E402

x, y = np.load(sys.argv[3]), np.load(sys.argv[4])
more = {"lengths": np.load(sys.argv[5]).astype(int).tolist()} if len(sys.argv) > 5 else {}
name = os.path.join(sys.argv[1], "..", "net.xclbin")
with open(name, "w") as file:
    file.write("xclbin")
checks = 0


def check(what, holds):
    global checks
    checks += 1
    if not holds:
        sys.exit("FAIL %s: %r" % (what, pyxrt.counts))


def free(what):
    gc.collect()
    check("%s: buffers are kept" % what, pyxrt.counts["live"] == 0)


def same(what, net):
    got = net.predict(x, **more)
    check(what, got.dtype == y.dtype and got.shape == y.shape and got.tobytes() == y.tobytes())


def refuses(what, error, words, call):
    try:
        call()
    except error as e:
        print("refused", what, ":", e)
        check("%s: %s" % (what, e), all(w in str(e) for w in words))
        return
    check("%s is no error" % what, False)


def open_again(**options):
    pyxrt.load()
    return Accelerator(name, **options)


net = open_again(batch=5)
same("pyxrt", net)
before = dict(pyxrt.counts)
same("pyxrt, again", net)
check("buffers are made again", more or pyxrt.counts["bo"] == before["bo"])
batches, streams = -(-len(x) // 5), len(net.host["send"]) + len(net.host["receive"])
check("runs", pyxrt.counts["runs"] - before["runs"] == batches * (streams + len(net.host["receive"])))
before = dict(pyxrt.counts)
check("throughput", net.throughput(30) > 0)
check("throughput makes buffers", pyxrt.counts["bo"] - before["bo"] <= 2 * streams and pyxrt.counts["runs"] - before["runs"] >= streams)
got = []
threads = [threading.Thread(target=lambda: got.append(net.predict(x, **more).tobytes())) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
check("threads", got == [y.tobytes()] * 4)
refuses("a second program", Unfit, ["another program uses it", "busy"], lambda: Accelerator(name))
net.close()
free("closed")
same("behind close", net)
net.close()
net = None
with open_again(card="0000:65:00.1") as net:
    same("a card by its address", net)
free("a with")
net = None

# what is not a card, or not this design's
refuses("another card", Unfit, ["card 7 does not take", "Could not open device"], lambda: open_again(card=7))
refuses("no xclbin", Unfit, ["there is no no.xclbin"], lambda: Accelerator("no.xclbin"))
empty = os.path.join(sys.argv[1], "..", "empty.xclbin")
open(empty, "w").close()
refuses("an empty xclbin", Unfit, ["does not take", "xclbin is invalid"], lambda: Accelerator(empty))
pyxrt.other = 1 << 63
refuses("another design", Unfit, ["is of design", "they do not belong together"], open_again)
pyxrt.other, pyxrt.reports = 0, False
refuses("movers of old builds", Unfit, ["stream %s" % pyxrt.host["receive"][0]["port"], "does not report", "link again"], open_again)
pyxrt.reports = True
pyxrt.load()
unit = pyxrt.units.pop("read_" + pyxrt.host["send"][0]["port"])
refuses("no mover", Unfit, ["the xclbin has no hlsgen_read for stream " + unit.stream["port"]], lambda: Accelerator(name))
free("what is refused")

# errors of movers name stream and sizes, leave no memory behind, and are over with the next batch
net = open_again()
for stream in net.host["receive"]:
    for error, why in ((1, "a response of the memory"), (2, "a frame that is too short or too long"), (4, "cannot be"),
                       (3, "a response of the memory, a frame"), (0x80, "unknown")):
        pyxrt.errors[stream["port"]] = error
        for call in (lambda: net.throughput(2), lambda: net.predict(x[:2], **({"lengths": more["lengths"][:2]} if more else {}))):
            refuses("error %d" % error, DeviceError, ["stream %s ended with error %#x" % (stream["port"], error), why, "2 frames, "], call)
            free("an error")
        pyxrt.errors.clear()
    pyxrt.states[stream["port"]] = pyxrt.ert_cmd_state.ERT_CMD_STATE_ABORT
    refuses("a run that is aborted", DeviceError, ["stream %s ended in state 6 of XRT: 2 frames" % stream["port"]], lambda: net.throughput(2))
    pyxrt.states.clear()
    free("an abort")
same("behind errors", net)
net.close()

# a batch that hangs has an end, and keeps its memory until the driver is closed
pyxrt.hung = True
net.device.timeout = -0.7
for why in ("is not through after 0.3 s", "is busy with a batch before: load the xclbin again"):
    begin = time.monotonic()
    refuses("what hangs", DeviceError, ["stream ", why], lambda: net.throughput(1))
    check("what hangs took long", time.monotonic() - begin < 5)
gc.collect()
check("memory of what hangs is free", pyxrt.counts["live"] > 0)
net.close()
for u in pyxrt.units.values():
    u.run = None  # the xclbin is loaded again
net = None
free("what hangs, closed")
print("PASS %d checks" % checks)
