"""Has the drivers predict, in Python and in C++, and compares both with what hlsgen simulate wrote, byte for byte.

    thresholds.py DEPLOY LIBRARY X Y
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
from accelerator import Accelerator  # noqa: E402

x, y = np.load(sys.argv[3]), np.load(sys.argv[4])
got = Accelerator(sys.argv[2]).predict(x)
if got.dtype != y.dtype or got.tobytes() != y.tobytes():
    sys.exit("FAIL Python: %s %s, %d of %d differ" % (got.dtype, y.dtype, (got != y).sum(), y.size))

with tempfile.TemporaryDirectory() as where:
    program, given, gave = (os.path.join(where, name) for name in ("predict", "x", "y"))
    here = os.path.dirname(os.path.abspath(__file__))
    build = os.path.dirname(os.path.abspath(sys.argv[2]))
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-I", sys.argv[1], os.path.join(here, "thresholds.cpp"),
                    sys.argv[2], "-Wl,-rpath," + build, "-o", program], check=True)
    x.astype("<f8").tofile(given)
    subprocess.run([program, given, gave], check=True)
    got = np.fromfile(gave, "<f8")
    if got.tobytes() != y.astype("<f8").tobytes():
        sys.exit("FAIL C++: %d of %d differ" % ((got != y.reshape(-1)).sum(), y.size))
print("PASS %d values" % y.size)
