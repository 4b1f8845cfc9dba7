"""Models: what is loaded, checked, run and built."""

from __future__ import annotations

import io
import json
import os
import threading
import weakref
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _results
from ._commands import FLAGS, Commands
from ._drawing import Drawing, drawing_of, take_of
from ._errors import DataError, Diagnostics, Error, UsageError
from ._options import Arrays, Option, ProgressOption, arrays, flag, split
from ._process import Answer, Part, Progress, _Running, array_of, ask, npy, running
from ._progress import Watched
from ._record import Record, table_html
from ._results import ConvertResult, ParetoResult, SimulationResult, StatsResult, WeightsResult
from ._trace import Profile, Trace, profile_of


class Check(_results.CheckResult):
    """What becomes of every node of a model. ok says whether it can be built."""

    def __bool__(self) -> bool:
        return bool(self.ok)

    @property
    def found(self) -> Diagnostics:
        """The diagnostics, as a table."""
        return Diagnostics(self.diagnostics)

    def __str__(self) -> str:
        rows = [(n.node, n.op, n.becomes) for n in self.nodes]
        wide = [max([len(r[k]) for r in rows] + [4]) for k in range(2)]
        lines = ["%-*s  %-*s  %s" % (wide[0], r[0], wide[1], r[1], r[2]) for r in rows]
        return "\n".join(lines + [str(self.found)] * bool(self.diagnostics))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each node."""
        from ._record import frame

        return frame([n.to_dict() for n in self.nodes])

    def _repr_html_(self) -> str:
        layers = [{"layer": x.name, "nodes": ", ".join(x.onnx_nodes), "in": ", ".join(s.type for s in x["in"]),
                   "out": ", ".join(s.type for s in x.out), "accumulator": x.accumulator.type if x.accumulator else None}
                  for x in self.layers]
        text = table_html([n.to_dict() for n in self.nodes], ["node", "op", "becomes"])
        text += table_html(layers, ["layer", "nodes", "in", "out", "accumulator"]) if layers else ""
        return text + (self.found._repr_html_() if self.diagnostics else "")


class Accuracy(_results.Accuracy):
    """The share of labelled samples that a model gets right."""

    @property
    def value(self) -> float:
        """The share, from 0 to 1."""
        return self.right / self.samples if self.samples else float("nan")

    @property
    def n(self) -> int:
        """The number of labelled samples."""
        return self.samples

    @property
    def interval(self) -> Tuple[float, float]:
        """The 95 % interval of the share among all samples of this kind."""
        return self.low, self.high

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return "%.1f %% (%d/%d; 95 %% interval %.1f to %.1f %%)" % (100 * self.value, self.right, self.samples,
                                                                  100 * self.low, 100 * self.high)

    def _repr_html_(self) -> str:
        return str(self)


class Converted(ConvertResult):
    """A converted model: onnx has its bytes."""

    onnx: bytes

    def __init__(self, data: Mapping[str, Any], onnx: bytes) -> None:
        super().__init__(data)
        self.onnx = onnx

    def load(self, **options: Option) -> "Model":
        """The converted model as a Model."""
        return load(self.onnx, **options)


# options that quantise a model: load does that once
_QUANTISING = ("calibrate", "quantize", "scales", "equalize", "correct-bias", "lookup")
# options that say what arrives
_ARRIVING = ("input-type", "input-mean", "input-std", "input-quant")
# what the quantised file has already
_IN_QUANTISED = _QUANTISING + ("lstm-config", "cell-config", "initial-state", "save-model")


class Model(Commands):
    """A model in a process of hlsgen. Threads may share it. load makes one."""

    def __init__(self, source: Any, name: str, options: Mapping[str, Any]) -> None:
        self._source, self._file, self._options = source, name, dict(options)
        self._lock = threading.Lock()
        self._by: Optional[_Running] = None
        self._loaded: Any = Record({})
        self._place()

    def _place(self) -> Tuple[_Running, int]:
        """The process that has the model, and the number of the model there. A new process loads it again."""
        by = running()
        with self._lock:
            if self._by is not by:
                others = set().union(*FLAGS.values()) - FLAGS["simulate"]
                plain, _ = split({k: v for k, v in self._options.items() if k not in others})
                if self._source is None:
                    found: Dict[str, Any] = {"model": 0, "name": "example", "sha256": "", "inputs": [], "outputs": []}
                elif isinstance(self._source, bytes):
                    found = ask("load", by=by, parts=[Part("model", self._file, [self._source])], options=plain).result
                else:
                    found = ask("load", by=by, arguments=[self._source], options=plain).result
                if self._by is not None and found["sha256"] != self._loaded.sha256:
                    raise Error("%s is another model now" % self._file, hint="load it again")
                self._loaded, self._by = Record(found), by
                if found["model"]:
                    weakref.finalize(self, _unload, by, found["model"])
            return by, int(self._loaded.model)

    @property
    def name(self) -> str:
        """The name of the file, without its folder and extension."""
        return str(self._loaded.name)

    @property
    def sha256(self) -> str:
        """The hash of the file, with tensors that it keeps in other files."""
        return str(self._loaded.sha256)

    @property
    def inputs(self) -> List[str]:
        """The names of the model's inputs, in their order."""
        return list(self._loaded.inputs)

    @property
    def outputs(self) -> List[str]:
        """The names of the model's outputs, in their order."""
        return list(self._loaded.outputs)

    def __repr__(self) -> str:
        given = "".join(", %s=%r" % (k.replace("-", "_"), v) for k, v in self._options.items())
        return "hlsgen.load(%r%s)" % (self._file, given)

    def _ask(self, call: str, options: Mapping[str, Any], x: Any = None, labels: Any = None, lengths: Any = None,
             take: Optional[Mapping[str, str]] = None, allow: Sequence[int] = (0,),
             progress: Optional[Progress] = None) -> Answer:
        """Runs a command on the model, with the options of load where it has them."""
        every = {k: v for k, v in self._options.items() if k in FLAGS[call]}
        every.update(options)
        every = {k: v for k, v in every.items() if v is not None}
        data = "data" if call == "stats" else "input"
        for name, value in ((data, self._samples(x)), ("labels", labels), ("lengths", lengths)):
            if isinstance(value, (str, os.PathLike)):
                every[name] = value
        plain, parts = split(every)
        for name, value in ((data, self._samples(x)), ("labels", labels), ("lengths", lengths)):
            if value is not None and not isinstance(value, (str, os.PathLike)):
                parts += arrays(name, value, self.inputs)
        by, number = self._place()
        return ask(call, by=by, model=number, options=plain, parts=parts, take=dict(take or {}), allow=allow,
                   progress=progress)

    def _samples(self, x: Any) -> Any:
        """Samples as an array, a dict or a tuple with one for each input."""
        if isinstance(x, tuple):
            if len(x) == 0:
                return None
            if len(x) == 1:
                return x[0]
            if len(x) != len(self.inputs):
                raise UsageError("%d arrays are given, the model has %d inputs: %s" % (
                    len(x), len(self.inputs), ", ".join(self.inputs)))
        return x

    def _check(self, x: Arrays, options: Dict[str, Any]) -> Check:
        answer = self._ask("check", options, x, allow=(0, 1))
        if "ok" not in answer.result:  # the file, or the samples, cannot be read
            return Check(dict({"ok": False, "nodes": [], "layers": [], "model": self.name}, **answer.result))
        return Check(answer.result)

    def _stats(self, x: Arrays, options: Dict[str, Any]) -> StatsResult:
        return StatsResult(self._ask("stats", options, x).result)

    def _predict(self, x: Arrays, lengths: Arrays, codes: bool, options: Dict[str, Any]) -> Any:
        if codes:
            answer = self._ask("simulate", options, x, lengths=lengths, take={"codes": "codes.npz"})
            return _one_or_all(_codes(Trace(bytes(answer.parts[0][2]))))
        answer = self._ask("simulate", options, x, lengths=lengths, take={"output": "y"})
        return _one_or_all({name: array_of(body) for _, name, body in answer.parts})

    def simulate(self, *x: Arrays, labels: Arrays = None, lengths: Arrays = None, **options: Any) -> SimulationResult:
        """Runs the model on samples, and returns what the command simulate says of it, with the options of predict."""
        return SimulationResult(self._ask("simulate", {flag(k): v for k, v in options.items() if v is not None}, x, labels,
                                          lengths).result)

    def _accuracy(self, x: Arrays, labels: Arrays, lengths: Arrays, options: Dict[str, Any]) -> Accuracy:
        result = self._ask("simulate", options, x, labels, lengths).result
        if "accuracy" not in result:
            raise DataError("an accuracy needs labels", hint="give the right class of each sample: accuracy(x, labels)")
        return Accuracy(result["accuracy"])

    def _trace(self, x: Arrays, lengths: Arrays, options: Dict[str, Any]) -> Trace:
        answer = self._ask("simulate", options, x, lengths=lengths, take={"trace": "trace.npz"})
        return Trace(bytes(answer.parts[0][2]))

    def _profile(self, x: Arrays, lengths: Arrays, options: Dict[str, Any]) -> Profile:
        limits: Dict[str, Any] = {}
        for layer in self._check(None, {k: v for k, v in options.items() if k in FLAGS["check"]}).layers:
            for s in layer.out:
                values = s.to_dict()
                if "min" in values:
                    limits[str(values.get("tensor"))] = values["min"], values["max"]
        return profile_of(self._trace(x, lengths, options), limits)

    def _build(self, board: Option, x: Arrays, labels: Arrays, progress: ProgressOption,
               options: Dict[str, Any]) -> "Design":
        from ._design import Design

        if board is not None:
            options = dict(options, board=board)
        options["with-model"] = True
        with Watched(progress) as show:
            answer = self._ask("build", options, x, labels, progress=show)
        return Design(answer.result["out"])

    def _pareto(self, board: Option, progress: ProgressOption, options: Dict[str, Any]) -> ParetoResult:
        if board is not None:
            options = dict(options, board=board)
        with Watched(progress) as show:
            return ParetoResult(self._ask("build", dict(options, pareto=True), progress=show).result)

    def _sweep(self, boards: Option, x: Arrays, labels: Arrays, progress: ProgressOption,
               options: Dict[str, Any]) -> "Sweep":
        from ._sweep import Sweep

        if boards is not None:
            options = dict(options, board=boards)
        if options.get("requantize") is not None:  # the quantisers that integers arrive at are replaced
            options = dict({k: None for k in _ARRIVING if k in self._options}, **options)
        with Watched(progress) as show:
            answer = self._ask("sweep", options, x, labels, progress=show)
        return Sweep(answer.result)

    def _convert(self, to: Option, options: Dict[str, Any]) -> Converted:
        if to is not None:
            options = dict(options, to=to)
        if options.get("out") is not None:
            answer = self._ask("convert", options)
            with open(answer.result["out"], "rb") as file:
                return Converted(answer.result, file.read())
        answer = self._ask("convert", options, take={"out": "%s-converted.onnx" % (self.name or "model")})
        result = {k: v for k, v in answer.result.items() if k != "out"}
        return Converted(result, bytes(answer.parts[0][2]))

    def _graph(self, form: Option, options: Dict[str, Any]) -> Drawing:
        return drawing_of(self._ask("graph", options, take=take_of(form, options)))

    def _weights(self, for_: Option, options: Dict[str, Any]) -> WeightsResult:
        if for_ is not None:
            options = dict(options, **{"for": getattr(for_, "path", for_)})
        return WeightsResult(self._ask("weights", options).result)


def _unload(by: _Running, number: int) -> None:
    try:
        if not by.ended and by.pid == os.getpid():
            by.sending.put([json.dumps({"id": 0, "call": "unload", "model": number}).encode("ascii") + b"\n"])
    except Exception:  # the interpreter ends
        pass


def _codes(trace: Trace) -> Dict[str, Any]:
    """The integers of each stream, once: tensors that differ in their values alone have the same. An axis that counts one
    sample in the file is left out, as in outputs."""
    found: Dict[str, Any] = {}
    seen: Dict[Any, str] = {}
    for r in trace.index.tensors:
        codes = trace.integers[r.tensor]
        if codes.ndim > 1 and codes.shape[1] == 1:
            codes = codes[:, 0]
        key = r.layer or r.tensor, codes.shape, codes.tobytes()
        if key not in seen:
            seen[key] = r.tensor
            found[r.tensor] = codes
    return found


def _one_or_all(found: Dict[str, Any]) -> Any:
    return next(iter(found.values())) if len(found) == 1 else found


def load(model: Any = None, **options: Option) -> Model:
    """Loads a model: a path, bytes, or an onnx.ModelProto; without one, the example of hlsgen. options are those of the command
    line that describe the model, such as input_type="UINT8:1/255": they hold for all that is done with it. With calibrate, an
    array of samples, the model is quantised now."""
    values = {flag(k): v for k, v in options.items() if v is not None}
    source: Any = model
    name = "model.onnx"
    if hasattr(model, "SerializeToString"):
        source = model.SerializeToString()
    elif isinstance(model, (bytearray, memoryview)):
        source = bytes(model)
    elif model is not None and not isinstance(model, bytes):
        source = os.path.abspath(os.fspath(model))
        name = os.path.basename(source)
    if "calibrate" not in values:
        return Model(source, name, values)
    plain = Model(source, name, {k: v for k, v in values.items() if k not in _QUANTISING})
    answer = plain._ask("check", {k: v for k, v in values.items() if k in _QUANTISING},
                        take={"save-model": name}, allow=(0, 1))
    if not answer.parts:
        from ._errors import error_of

        raise error_of(answer.exit, answer.result, answer.error, answer.hint)
    return Model(bytes(answer.parts[0][2]), name, {k: v for k, v in values.items() if k not in _IN_QUANTISED})


from ._design import Design  # noqa: E402
from ._sweep import Sweep  # noqa: E402

__all__ = ["Accuracy", "Check", "Converted", "Design", "Model", "Sweep", "load"]
