"""Measures predictions of a model, whose path is the first argument, in the folder that is the second.

Prints JSON: milliseconds of a prediction of one sample (the median), CPU seconds of 10,000 samples here and by the
command line, and the nanoseconds a float that the package adds.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

import hlsgen
from hlsgen import _process


def spent(pid):
    """The CPU seconds of a process."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


model, folder = sys.argv[1:]
os.chdir(folder)
m = hlsgen.load(model)
shape = tuple(np.load(os.path.join(os.path.dirname(model), "x0.npy")).shape[1:])
one = np.random.default_rng(1).random((1,) + shape, dtype=np.float32)
m.predict(one)
times = []
for _ in range(200):
    begin = time.perf_counter()
    m.predict(one)
    times.append(time.perf_counter() - begin)

many = np.random.default_rng(2).random((10_000,) + shape, dtype=np.float32)
server = _process.running().process.pid
before = time.process_time() + spent(server)
for _ in range(10):
    y = m.predict(many)
here = (time.process_time() + spent(server) - before) / 10

np.save("x.npy", many)
before = resource.getrusage(resource.RUSAGE_CHILDREN)
for _ in range(10):
    subprocess.run([_process.program(), "simulate", model, "--input", "x.npy", "--output", "y.npy", "--quiet"], check=True)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
there = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 10
assert (np.load("y.npy").ravel() == y.ravel()).all()

print(json.dumps({
    "ms/sample": 1e3 * statistics.median(times),
    "CPU-s/10k": here,
    "CPU-s/10k-command": there,
    "ns-added/float": 1e9 * max(0, here - there) / many.size,
}))
