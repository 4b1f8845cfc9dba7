"""Errors, and the diagnostics that they carry."""

from __future__ import annotations

import html
import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Type

from ._record import table_html
from ._results import Diag


class Diagnostics(List[Diag]):
    """Notes, warnings and errors of a command, as a table."""

    def __str__(self) -> str:
        return "\n".join(_text(d) for d in self)

    def _repr_html_(self) -> str:
        return table_html([d.to_dict() for d in self], ["severity", "code", "node", "message", "hint"])


def _text(d: Diag) -> str:
    node = "%s: " % d.node if d.node else ""
    hint = "\n   hint: %s" % d.hint if d.hint else ""
    return "%s[%s]: %s%s%s" % (d.severity, d.code, node, d.message, hint)


class Error(Exception):
    """The parent of all errors of hlsgen. code is a code of docs/diagnostics, node the ONNX node, hint what to do; each may be
    None. diagnostics has all that the command found."""

    def __init__(self, message: str, code: Optional[str] = None, node: Optional[str] = None, hint: Optional[str] = None,
                 diagnostics: Iterable[Diag] = ()) -> None:
        super().__init__(message)
        self.message, self.code, self.node, self.hint = message, code, node, hint
        self.diagnostics = Diagnostics(diagnostics)

    def __str__(self) -> str:
        text = self.message
        if self.node:
            text = "%s: %s" % (self.node, text)
        if self.code:
            text = "%s (%s)" % (text, self.code)
        return "%s\nhint: %s" % (text, self.hint) if self.hint else text

    def _repr_html_(self) -> str:
        return "<b>%s</b>%s" % (html.escape(str(self)), self.diagnostics._repr_html_() if self.diagnostics else "")


class UsageError(Error, TypeError):
    """An option that does not exist, a value that it does not take, or options that exclude each other."""


class DataError(Error, ValueError):
    """Samples, labels or files that cannot be read, or do not fit the model."""


class NotMapped(Error):
    """The model has a node that no layer computes."""


class DesignError(Error):
    """No design on this board is what is asked for: the budget, the rate, the clock, the back end."""


class Mismatch(Error, AssertionError):
    """Engines, or outputs and those to compare with, differ."""


class InternalError(Error):
    """A defect of hlsgen, which is worth a report."""


class Cancelled(Error):
    """The request was cancelled before it had a result: another thread has called close()."""


class ProcessError(Error):
    """The process of hlsgen cannot be started, or has ended."""


_DATA = ("file-unreadable", "data-invalid", "external-data", "model-malformed", "model-too-large")
_MAPPING = ("op-unsupported", "op-invalid", "shape-unknown", "quant-invalid", "rounding-undecided", "nothing-quantised",
            "not-mapped", "products-on-host", "weights-not-integer", "scale-per-input-channel", "padding-not-integer",
            "accumulator-too-wide", "range-too-wide", "lstm-cell-formats", "cell-formats", "not-convertible")
_DESIGN = ("board-unknown", "board-invalid", "budget-exceeded", "fps-unreachable", "clock-unreachable", "folding-invalid",
           "unroll-exceeded", "word-too-wide", "backend-unfit", "acc-bits-exceeded")

_BY_CODE: Dict[str, Type[Error]] = {}
for _codes, _kind in ((_DATA, DataError), (_MAPPING, NotMapped), (_DESIGN, DesignError)):
    for _code in _codes:
        _BY_CODE[_code] = _kind

_BY_EXIT: Dict[int, Type[Error]] = {2: UsageError, 3: Mismatch, 70: InternalError, 130: Cancelled}


def error_of(exit_code: int, result: Mapping[str, Any], message: Optional[str], hint: Optional[str]) -> Error:
    """The exception of an answer that has no result."""
    found = [Diag(d) for d in result.get("diagnostics", [])]
    first = next((d for d in found if d.severity == "error"), None)
    if exit_code == 1 and first is not None:
        kind = _BY_CODE.get(first.code, Error)
        return kind(first.message, first.code, first.node, first.hint, found)
    kind = _BY_EXIT.get(exit_code, Error)
    text = message or result.get("error") or ("outputs differ" if exit_code == 3 else "hlsgen ended with code %d" % exit_code)
    compared = result.get("compare") or {}
    if exit_code == 3 and compared.get("first_difference"):
        text = "%s: %s" % (text, compared["first_difference"])
    if kind is InternalError:
        hint = "this is a defect of hlsgen: please report it, with the model if you can"
    return kind(_in_python(text), None, None, hint, found)


def _in_python(text: str) -> str:
    """What the command line says of a flag that does not exist, in words of Python."""
    flag = re.match(r"unknown flag: --([\w-]+)(?:, did you mean --([\w-]+)\?)?$", text)
    if not flag:
        return text
    given, meant = (name and name.replace("-", "_") for name in flag.groups())
    return "there is no keyword %s%s" % (given, "; did you mean %s?" % meant if meant else "")
