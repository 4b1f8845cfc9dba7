"""Traces: every tensor of a run; and profiles: what values tensors have."""

from __future__ import annotations

import io
import json
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional

import numpy as np

from ._record import frame, table_html
from ._results import TraceIndex, TraceIndexRow

Array = "np.ndarray[Any, Any]"


class _Arrays(Mapping[str, Any]):
    """Arrays of a trace by the name of a tensor or of a layer. They are read when they are asked for."""

    def __init__(self, file: Any, rows: Mapping[str, TraceIndexRow], key: str) -> None:
        self._file, self._rows, self._key = file, rows, key
        self._read: Dict[str, Any] = {}

    def __getitem__(self, name: str) -> "np.ndarray[Any, Any]":
        member = self._rows[name].to_dict().get(self._key)
        if member is None:
            raise KeyError("%s has no %s" % (name, self._key))
        if member not in self._read:
            self._read[member] = self._file[member]
        found: "np.ndarray[Any, Any]" = self._read[member]
        return found

    def __iter__(self) -> Iterator[str]:
        return (r.tensor for r in dict.fromkeys(self._rows.values()) if self._key in r.to_dict())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._rows and self._key in self._rows[str(name)].to_dict()

    def __repr__(self) -> str:
        return "{%s}" % ", ".join(self)


class Trace(_Arrays):
    """Every tensor of a run, with the samples along the first axis: values by ONNX name, or by the layer that computes them.
    integers has the integers of those that streams carry: values are scale*integers + bias."""

    def __init__(self, data: bytes) -> None:
        file = np.load(io.BytesIO(data))
        self.index = TraceIndex(json.loads(file["index.json"].tobytes().decode("utf-8")))
        rows: Dict[str, TraceIndexRow] = {}
        for r in self.index.tensors:
            rows[r.tensor] = r
        for r in self.index.tensors:
            if r.layer:
                rows.setdefault(r.layer, r)
        super().__init__(file, rows, "values")
        self.integers, self.scale, self.bias = (_Arrays(file, rows, k) for k in ("integers", "scale", "bias"))

    def layer(self, name: str) -> Optional[str]:
        """The layer that computes a tensor, if a stream carries it."""
        return self._rows[name].layer

    def _repr_html_(self) -> str:
        return table_html([{"tensor": r.tensor, "layer": r.layer, "shape": list(self[r.tensor].shape)}
                           for r in self.index.tensors], ["tensor", "layer", "shape"])


class ProfileRow(NamedTuple):
    """What values a tensor has. saturated is the share of integers that are the least or the greatest of their type; entropy is
    in bits an element. Both are None where there are no integers."""

    tensor: str
    layer: Optional[str]
    min: float
    max: float
    mean: float
    std: float
    zeros: float
    saturated: Optional[float]
    entropy: Optional[float]
    counts: "np.ndarray[Any, Any]"
    edges: "np.ndarray[Any, Any]"


_COLUMNS = ("tensor", "layer", "min", "max", "mean", "std", "zeros", "saturated", "entropy")


class Profile(List[ProfileRow]):
    """Profiles of tensors, in the order of the trace."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, without histograms."""
        return frame(self._rows())

    def _rows(self) -> List[Dict[str, Any]]:
        return [{c: getattr(r, c) for c in _COLUMNS} for r in self]

    def _repr_html_(self) -> str:
        return table_html(self._rows(), _COLUMNS)

    def plot(self) -> Any:
        """A figure of matplotlib with the histogram of every tensor."""
        from matplotlib import pyplot

        across = min(3, max(1, len(self)))
        down = max(1, -(-len(self) // across))
        figure, axes = pyplot.subplots(down, across, figsize=(4 * across, 2.5 * down), squeeze=False)
        for at, r in zip(axes.reshape(-1), self):
            at.stairs(r.counts, r.edges, fill=True)
            at.set_title(r.layer or r.tensor, fontsize=8)
        for at in axes.reshape(-1)[len(self):]:
            at.axis("off")
        figure.tight_layout()
        pyplot.close(figure)  # a notebook shows what is returned
        return figure


def profile_of(trace: Trace, limits: Mapping[str, Any], bins: int = 64) -> Profile:
    """The profile of a trace. limits has the least and the greatest integer of tensors."""
    rows = Profile()
    for name in trace:
        values = trace[name]
        saturated = entropy = None
        if name in trace.integers:
            codes = trace.integers[name]
            _, each = np.unique(codes, return_counts=True)
            share = each / codes.size
            entropy = float(-(share * np.log2(share)).sum()) + 0.0
            if name in limits:
                lo, hi = limits[name]
                saturated = float(((codes == lo) | (codes == hi)).mean())
        counts, edges = np.histogram(values, bins)
        rows.append(ProfileRow(name, trace.layer(name), float(values.min()), float(values.max()), float(values.mean()),
                               float(values.std()), float((values == 0).mean()), saturated, entropy, counts, edges))
    return rows
