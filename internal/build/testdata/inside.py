"""Has a driver predict between tensors inside of a model, and the model itself, with onnxruntime, with onnx, and with neither.

    inside.py DEPLOY LIBRARY X Y WHOLE
"""

import sys

sys.path.insert(0, sys.argv[1])

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
from accelerator import Accelerator, Unfit  # noqa: E402

x, y, whole = (np.load(name) for name in sys.argv[3:])


def same(what, got, want):
    if got.dtype != want.dtype or got.shape != want.shape or got.tobytes() != want.tobytes():
        sys.exit("FAIL %s: %s %s, want %s %s: %d are others" % (what, got.dtype, got.shape, want.dtype, want.shape, (got != want).sum()))


def refuses(why, call):
    try:
        call()
    except Unfit as e:
        if why in str(e):
            return
        sys.exit("FAIL %s, want %s" % (e, why))
    sys.exit("FAIL nothing says: %s" % why)


net = Accelerator(sys.argv[2], inside=True)
same("inside", net.predict(x), y)
names = [t["name"] for t in net.host["inputs"] + net.host["outputs"]]
if names != ["mixed.out", "top.out"] or net.before != ["mixed"] or net.after != ["softmax"]:
    sys.exit("FAIL %s, behind %s, in front of %s" % (names, net.before, net.after))
refuses("behind mixed", lambda: net.predict(x[:, :5]))

net = Accelerator(sys.argv[2], batch=7)  # with onnxruntime
same("the model", net.predict(x), whole)
same("one sample", net.predict(x[0]), whole[:1])
refuses("input 'x' has the shape [50, 5], want ['samples', 6]", lambda: net.predict(x[:, :5]))
sys.modules["onnxruntime"], sys.modules["onnx.reference"] = None, onnxruntime
same("the model, with onnx", Accelerator(sys.argv[2]).predict(x), whole)
sys.modules["onnx.reference"] = None
refuses("computes mixed outside of the accelerator, which takes onnxruntime, or onnx 1.13", lambda: Accelerator(sys.argv[2]))
print("PASS %d samples" % len(x))
