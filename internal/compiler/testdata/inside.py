"""Has a driver predict between quantised tensors inside of a model.

    inside.py DEPLOY LIBRARY X Y
"""

import sys

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
from accelerator import Accelerator, Unfit  # noqa: E402

net = Accelerator(sys.argv[2])
x, y = np.load(sys.argv[3]), np.load(sys.argv[4])
got = net.predict(x)
if got.dtype != y.dtype or got.shape != y.shape or got.tobytes() != y.tobytes():
    sys.exit("FAIL %s %s, want %s %s: %d are others" % (got.dtype, got.shape, y.dtype, y.shape, (got != y).sum()))
names = [t["name"] for t in net.host["inputs"] + net.host["outputs"]]
if names != ["in.out", "top.out"] or "mixed" not in net.before or "softmax" not in net.after:
    sys.exit("FAIL %s, behind %s, in front of %s" % (names, net.before, net.after))
try:
    net.predict(x[:, :5])
    sys.exit("FAIL another shape is taken")
except Unfit as e:
    if "mixed" not in str(e):
        sys.exit("FAIL %s" % e)
print("PASS %d samples" % len(x))
