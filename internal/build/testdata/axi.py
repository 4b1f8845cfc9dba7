"""Has a driver predict on an accelerator behind its movers, in Verilator, and compares it with what hlsgen simulate wrote.

    axi.py DEPLOY LIBRARY X Y [LENGTHS]
"""

import os
import sys

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
from accelerator import Accelerator  # noqa: E402

os.chdir("/")  # the library finds its tables from anywhere
net = Accelerator(sys.argv[2], batch=5)
x, y = np.load(sys.argv[3]), np.load(sys.argv[4])
lengths = np.load(sys.argv[5]).astype(int).tolist() if len(sys.argv) > 5 else None
got = net.predict(x) if lengths is None else net.predict(x, lengths=lengths)
if got.dtype != y.dtype or got.shape != y.shape or got.tobytes() != y.tobytes():
    sys.exit("FAIL %s %s, want %s %s" % (got.dtype, got.shape, y.dtype, y.shape))
print("PASS %d samples" % len(x))
