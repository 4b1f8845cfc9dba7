"""Quantised neural networks as FPGA accelerators, checked bit for bit.

    import hlsgen
    m = hlsgen.load("net.onnx")
    m.check()
    y = m.predict(x)
    d = m.build("pynq-z1", fps=10_000)

docs/python.md describes all of it.
"""

from __future__ import annotations

import sys as _sys

import hlsgen_driver as driver

from . import testing
from ._design import Design, Picture, Report
from ._design import open_design as open
from ._drawing import Drawing
from ._errors import (Cancelled, DataError, DesignError, Diagnostics, Error, InternalError, Mismatch, NotMapped, ProcessError,
                      UsageError)
from ._functions import Boards, boards, collect, convert, formats, graph, latencies, stats, sweep, weights
from ._model import Accuracy, Check, Converted, Model, load
from ._process import close
from ._record import Record
from ._sweep import Sweep
from ._torch import from_brevitas, from_torch
from ._trace import Profile, ProfileRow, Trace
from ._version import __version__

_sys.modules["hlsgen.driver"] = driver

__all__ = ["Accuracy", "Boards", "Cancelled", "Check", "Converted", "DataError", "Design", "DesignError", "Diagnostics",
           "Drawing", "Error", "InternalError", "Mismatch", "Model", "NotMapped", "Picture", "ProcessError", "Profile",
           "ProfileRow", "Record", "Report", "Sweep", "Trace", "UsageError", "__version__", "boards", "close", "collect",
           "convert", "driver", "formats", "from_brevitas", "from_torch", "graph", "latencies", "load", "open", "stats",
           "sweep", "testing", "weights"]
