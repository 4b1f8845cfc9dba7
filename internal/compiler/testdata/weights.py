"""Has a driver predict on one accelerator behind its movers, in Verilator, with several weights in turn, and compares each time
with what hlsgen simulate wrote of that model.

    weights.py DEPLOY LIBRARY X HOST Y [HOST Y]...
"""

import os
import shutil
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
from accelerator import Accelerator  # noqa: E402
from weights import Unfit  # noqa: E402

os.chdir("/")  # the library finds its tables from anywhere
x, pairs = np.load(sys.argv[3]), sys.argv[4:]
results = []
for host, want in zip(pairs[::2], pairs[1::2]):
    y = np.load(want)
    got = Accelerator(sys.argv[2], host=host, batch=5).predict(x)
    if got.dtype != y.dtype or got.shape != y.shape or got.tobytes() != y.tobytes():
        sys.exit("FAIL with %s: %d of %d values are others" % (host, (got != y).sum(), y.size))
    results.append(got.tobytes())
if results[0] == results[1]:
    sys.exit("FAIL both weights give the same results")


def refused(why, change):
    """What change makes of a copy of the first weights is refused."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("host.json", "weights.bin"):
            shutil.copy(os.path.join(os.path.dirname(pairs[0]), name), folder)
        change(folder)
        try:
            Accelerator(sys.argv[2], host=os.path.join(folder, "host.json"))
        except Unfit as e:
            if why not in str(e):
                sys.exit("FAIL %s, want %s" % (e, why))
            return
        sys.exit("FAIL nothing says: %s" % why)


def damage(folder):
    with open(os.path.join(folder, "weights.bin"), "r+b") as file:
        file.seek(100)
        file.write(b"\xaa\x55\xaa")


refused("not copied whole", damage)
refused("not copied whole", lambda f: os.truncate(os.path.join(f, "weights.bin"), 500))
refused("no file of weights", lambda f: os.truncate(os.path.join(f, "weights.bin"), 3))
refused("do not belong together", lambda f: shutil.copy(os.path.join(os.path.dirname(pairs[2]), "weights.bin"), f))
print("PASS %d samples" % len(x))
