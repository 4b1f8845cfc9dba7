"""For tests of other programs: whether a model gives what it is expected to give, to the bit."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple

import numpy as np

from ._errors import Mismatch
from ._process import as_array

__all__ = ["assert_bit_exact"]


def _first(a: Any, b: Any) -> Optional[Tuple[int, ...]]:
    """The place of the first element that differs."""
    wrong = np.argwhere(~((a == b) | (np.isnan(a) & np.isnan(b)) if a.dtype.kind == "f" else a == b))
    return tuple(int(i) for i in wrong[0]) if len(wrong) else None


def assert_bit_exact(model: Any, x: Any, y: Any, lengths: Any = None, other: Any = None, **options: Any) -> None:
    """Raises hlsgen.Mismatch, an AssertionError, if the model, or a design, does not give y for the samples x, to the last bit.
    y is an array, a dict of outputs by name, or a model or a design that should give the same. Then the message names the
    first layer that differs, the element, and both codes. other is such a model beside an array y."""
    if hasattr(y, "predict"):
        other, y = y, y.predict(x, lengths=lengths)
    got = model.predict(x, lengths=lengths, **options)
    names = list(y) if isinstance(y, Mapping) else [None]
    for name in names:
        want = as_array(y if name is None else y[name])
        given = got if name is None else got[name]
        if isinstance(given, Mapping):
            raise Mismatch("the model has the outputs %s" % ", ".join(given), hint="give a dict of arrays by name")
        if given.shape != want.shape:
            raise Mismatch("the output%s has the shape %s, want %s" % (_named(name), list(given.shape), list(want.shape)))
        want = want.astype(given.dtype, copy=False)
        at = _first(given, want)
        if at is None:
            continue
        count = int((given != want).sum())
        text = "output%s: %d of %d elements differ; the first is %s: %r, want %r" % (
            _named(name), count, given.size, list(at), given[at].item(), want[at].item())
        raise Mismatch(text + "\n" + _layer(model, other, x, lengths, at[0] if len(at) > 1 else 0, given, want))


def _named(name: Optional[str]) -> str:
    return "" if name is None else " %r" % name


def _layer(model: Any, other: Any, x: Any, lengths: Any, sample: int, given: Any, want: Any) -> str:
    """What the layers gave for the sample: the first difference from another model, or the codes in front of the output."""
    one = getattr(model, "model", model)
    mine = one.trace(x, lengths=lengths)
    if other is not None:
        theirs = getattr(other, "model", other).trace(x, lengths=lengths)
        for row in mine.index.tensors:
            name = row.tensor
            if name not in mine.integers or name not in theirs.integers:
                continue
            a, b = mine.integers[name], theirs.integers[name]
            at = _first(a, b) if a.shape == b.shape else (0,)
            if at is not None:
                both = (a[at], b[at]) if a.shape == b.shape else (list(a.shape), list(b.shape))
                return "layer %s, tensor %r, element %s: code %s, want %s" % (row.layer, name, list(at), both[0], both[1])
        return "no layer differs: the difference is behind the last one"
    last = [r for r in mine.index.tensors if r.layer]
    if not last:
        return "no layer's stream has a tensor of the model"
    row = _output_row(one, mine, last)
    text = "layer %s, tensor %r" % (row.layer, row.tensor)
    codes, scale, found = mine.integers[row.tensor], mine.scale[row.tensor], mine[row.tensor]
    if found.ndim == given.ndim + 1 and found.shape[1] == 1:
        codes, scale, found = codes[:, 0], scale[0], found[:, 0]
    if found.shape == given.shape and np.all(scale != 0):
        behind = given.astype(np.float64) - found  # what the host adds: the same for all samples, or more than a sum
        if np.allclose(behind, behind[:1], rtol=1e-5, atol=1e-5 * (1 + float(np.abs(given).max()))):
            at = _first(given, want)
            meant = codes + (want.astype(np.float64) - given) / scale
            return "%s, element %s: code %s, want %s" % (text, list(at or ()), codes[at], _code(meant[at]))
    return "%s has the codes %s for sample %d" % (text, codes[sample].reshape(-1)[:16].tolist(), sample)


def _code(value: Any) -> str:
    whole = round(float(value))
    return str(whole) if abs(whole - value) < 1e-3 else "%.6g, which is none" % value


def _output_row(model: Any, trace: Any, rows: Any) -> Any:
    """The tensor in front of the output: an output of the model, or the last one of a layer in the order of layers."""
    for r in rows:
        if r.tensor in model.outputs:
            return r
    order = {layer.name: k for k, layer in enumerate(model.check().layers)}
    return max(rows, key=lambda r: order.get(r.layer, -1))
