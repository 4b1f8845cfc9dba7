"""Designs: the folder of a build, and what can be done with it."""

from __future__ import annotations

import hashlib
import html
import json
import os
import warnings
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from ._drawing import Drawing, drawing_of, take_of
from ._errors import Error, UsageError
from ._options import Arrays, Option, split
from ._process import Part, array_of, ask, npy
from ._record import Record, table_html
from ._results import BuildResult, Layer, Manifest, Share
from ._version import __version__

# options of a build that shape the model, or the layers beside the folding: what simulate takes, too
_KEPT = ("dim", "shape", "input-type", "input-mean", "input-std", "input-quant", "initial-state", "state", "stateful",
         "interleave", "outputs", "io", "max-unroll", "acc-per-pe")
_RUNS_DESIGN = ("cycle", "csim", "circuit", "rtl", "netlist")


class Picture(str):
    """An SVG picture, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return "Picture(%d characters of SVG)" % len(self)


class Report:
    """The page of a build: path, and html, its text."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def html(self) -> str:
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def _repr_html_(self) -> str:
        return '<iframe srcdoc="%s" width="100%%" height="600"></iframe>' % html.escape(self.html, quote=True)

    def __repr__(self) -> str:
        return "Report(%r)" % self.path


class Design:
    """The folder of a build. It has the figures of summary, which is what hlsgen build --json prints, as attributes: fits, fps,
    interval_clocks, latency_clocks, layers and others."""

    fits: bool
    fps: float
    interval_clocks: float
    latency_clocks: int
    layers: List[Layer]
    board: str
    part: str

    def __init__(self, path: "str | os.PathLike[str]") -> None:
        self.path = os.path.abspath(os.fspath(path))
        self.manifest = Manifest(self._json("manifest.json"))
        self.summary: Any = Record({})
        self._model: Any = None
        if os.path.exists(self._at("report", "build.json")):
            self.summary = BuildResult(self._json("report", "build.json"))
        built = self.manifest.tool.partition(" ")[2]
        if built != _plain(__version__) and built != "dev":
            warnings.warn("%s was built by %s, this is hlsgen %s: it can be read, and is not run or changed" % (
                self.path, self.manifest.tool, __version__), stacklevel=3)

    def _at(self, *parts: str) -> str:
        return os.path.join(self.path, *parts)

    def _json(self, *parts: str) -> Any:
        try:
            with open(self._at(*parts), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as e:
            raise Error("%s is no folder of a build: %s" % (self.path, e), hint="give the folder that build has written") from e

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "summary":
            raise AttributeError(name)
        if not self.summary:
            raise Error("%s has no report/build.json" % self.path, hint="build it with Python, or with --with-model")
        return getattr(self.summary, name)

    @property
    def resources(self) -> Dict[str, Share]:
        """The use of each resource, the budget and the amount on the board, by the resource's name."""
        return {s.resource: s for s in self.__getattr__("resources")}

    @property
    def bottleneck(self) -> Any:
        """What the rate depends on."""
        return self.__getattr__("bottleneck")

    @property
    def files(self) -> List[str]:
        """The files of the folder, by their paths in it."""
        return [f.path for f in self.manifest.files]

    @property
    def read_only(self) -> bool:
        """Whether another version of hlsgen has built the folder."""
        built = str(self.manifest.tool.partition(" ")[2])
        return built not in ("dev", _plain(__version__))

    @property
    def model(self) -> Any:
        """The model that was built."""
        if self._model is None:
            from ._model import load

            path = self._at("model.onnx")
            if not os.path.exists(path):
                raise Error("%s has no model" % self.path, hint="build it with Python, or with --with-model")
            if self.read_only:
                raise Error("%s was built by %s" % (self.path, self.manifest.tool), hint="build it again to run it")
            given = self.manifest.options
            self._model = load(path, **{k.replace("-", "_"): _given(v) for k, v in given.items() if k in _KEPT})
        return self._model

    def _options(self, engine: Optional[str]) -> Dict[str, Any]:
        """The options with which simulate runs this design."""
        if engine not in _RUNS_DESIGN:
            return {} if engine is None else {"engine": engine}
        return {"engine": engine, "board": self.manifest.board, "clock": self.manifest.clock_mhz, "cost": self.manifest.cost,
                "folding": self._at("folding.json"), "over-budget": True}

    def predict(self, *x: Arrays, lengths: Arrays = None, codes: bool = False, engine: Optional[str] = None,
                **options: Option) -> Any:
        """Runs the design on samples, as Model.predict does. engine is one of hlsgen simulate: fast, eval, cycle, csim, rtl and
        others; without it, fast. Engines that run the design compare every stream with the layers."""
        given = {k: v for k, v in self._options(engine).items()}
        given.update({k.replace("_", "-"): v for k, v in options.items() if v is not None})
        return self.model._predict(x, lengths, codes, given)

    def report(self) -> Report:
        """The page of the build, for a browser or a notebook."""
        return Report(self._at("report", "report.html"))

    def vcd(self, x: Arrays, path: "str | os.PathLike[str]") -> str:
        """Simulates samples clock by clock, and writes every stream to a value change dump, for GTKWave."""
        to = os.path.abspath(os.fspath(path))
        self.model._ask("simulate", dict(self._options("cycle"), **{"trace-vcd": to}), x)
        return to

    def timeline(self, x: Arrays) -> Picture:
        """Simulates samples clock by clock, and draws when layers worked and waited."""
        answer = self.model._ask("simulate", self._options("cycle"), x, take={"timeline": "timeline.svg"})
        return Picture(bytes(answer.parts[0][2]).decode("utf-8"))

    def graph(self, form: Option = None, *, out: Option = None, force: Optional[bool] = None) -> Drawing:
        """Draws the layers with their folds, clocks and costs, and the FIFOs between them, as Model.graph draws a model."""
        options = {k: v for k, v in (("out", out), ("force", force)) if v is not None}
        plain, _ = split(options)
        return drawing_of(ask("graph", arguments=[self.path], options=plain, take=take_of(form, options)))

    def accelerator(self, device: Any = None, engine: Optional[str] = None, **options: Any) -> Any:
        """The driver of the design, an Accelerator of hlsgen.driver. device is a bitstream on a board, a library, or any device
        of the driver. Without it, the layers run in hlsgen: compiled in Go, or with engine="csim" as C++, which make compiles,
        or with engine="rtl", "cycle" or others as the design that simulate runs. options are those of Accelerator."""
        import hlsgen_driver

        driver: Any = hlsgen_driver

        if device is not None and engine is not None:
            raise UsageError("device and engine exclude each other", hint="engine says what stands in for a device")
        host = options.pop("host", self._at("deploy", "host", "host.json"))
        if device is None and engine == "csim":
            device = ask("library", arguments=[self.path]).result["library"]
        if device is not None:
            return driver.Accelerator(device, host=host, **options)
        with open(host, encoding="utf-8") as file:
            own = _Layers(self.model, json.load(file)["hash"], self._options(engine))
        own.net = driver.Accelerator(own, host=host, **options)
        return own.net

    def __repr__(self) -> str:
        return "hlsgen.open(%r)" % self.path

    def _repr_html_(self) -> str:
        if not self.summary:
            return html.escape(repr(self))
        figures = {k: self.summary[k] for k in ("board", "fits", "fps", "interval_clocks", "latency_clocks", "clock_mhz")}
        text = table_html([{"figure": k, "value": v} for k, v in figures.items()], ["figure", "value"])
        text += table_html([s.to_dict() for s in self.resources.values()], ["resource", "used", "budget", "board"])
        return text + "<p>%s</p>" % html.escape(str(self.bottleneck.reason))


def _plain(version: str) -> str:
    """The version as the program says it."""
    from ._version import __program__

    return __program__ or version


def _given(value: str) -> Any:
    return True if value == "true" else value


class _Layers:
    """A device of the driver: the layers of a model, in hlsgen."""

    def __init__(self, model: Any, design: str, options: Mapping[str, Any]) -> None:
        self.model, self.hash = model, design
        self.net: Any = None
        self.plain, _ = split(options)
        self._run([])  # says what is wrong with the options

    def start(self, sent: Any, sizes: Any) -> List[List[Any]]:
        """Runs a batch: per stream in, frames of bytes; the result: per stream out, the same."""
        into = [s.packing for s in self.net.sent]
        out: List[List[Any]] = [[None] * len(s) for s in sizes]
        alike: Dict[Tuple[int, ...], List[int]] = {}  # frames of the same sizes run together
        for i in range(len(sent[0])):
            alike.setdefault(tuple(len(s[i]) for s in sent), []).append(i)
        for some in alike.values():
            rows = [p.unpack(np.stack([np.asarray(s[i]) for i in some])).reshape(len(some), -1) for p, s in zip(into, sent)]
            for k, (packing, codes) in enumerate(zip(self.net.received, self._run(rows))):
                data = packing.pack(codes.reshape(len(some), -1))
                for i, row in zip(some, data):
                    out[k][i] = row
        return out

    def _run(self, rows: List[Any]) -> List[Any]:
        by, number = self.model._place()
        plain, _ = split(self.model._options)
        plain.update(self.plain)
        parts = [Part("frames", str(k), npy(r.astype(np.int64))) for k, r in enumerate(rows)]
        return [array_of(body) for _, _, body in ask("frames", by=by, model=number, options=plain, parts=parts).parts]

    def wait(self, started: Any) -> Any:
        """What came."""
        return started


def open_design(path: "str | os.PathLike[str]") -> Design:
    """Opens the folder of a build."""
    return Design(path)
