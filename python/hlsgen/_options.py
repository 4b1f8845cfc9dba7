"""Options: from what Python has to what the command line takes."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._process import Part, npy

Option = Union[None, str, int, float, "os.PathLike[str]", Sequence[Any], Mapping[str, Any], "np.ndarray[Any, Any]"]
Arrays = Any  # an array of numpy or torch, a list, a dict of them, or the path of an .npy or .npz file
ProgressOption = Union[None, bool, Callable[[str, Optional[float]], None]]

_NOT_OPTIONS = ("self", "x", "labels", "lengths", "codes", "progress", "unknown", "boards", "for_", "to", "form")
_JSON_FILES = ("folding", "lstm-config", "cell-config", "latencies")


def flag(name: str) -> str:
    """The name of an option on the command line."""
    return name.rstrip("_").replace("_", "-")


def options(given: Mapping[str, Any]) -> Dict[str, Any]:
    """The options among the arguments of a method, by the names of the command line: those that are given. Unknown ones are
    among them: hlsgen knows what they may mean."""
    found = {flag(k): v for k, v in given.items() if k not in _NOT_OPTIONS}
    found.update({flag(k): v for k, v in given.get("unknown", {}).items()})
    return {k: v for k, v in found.items() if v is not None}


def split(values: Mapping[str, Any]) -> Tuple[Dict[str, Any], List[Part]]:
    """Options as JSON, and those that are files as parts."""
    plain: Dict[str, Any] = {}
    parts: List[Part] = []
    for name, value in values.items():
        if isinstance(value, (bytes, bytearray)):
            parts.append(Part(name, "", [value]))
        elif name in _JSON_FILES and isinstance(value, Mapping):
            parts.append(Part(name, "", [json.dumps(value).encode("utf-8")]))
        elif _is_array(value) or isinstance(value, Mapping) and value and all(map(_is_array, value.values())):
            parts.extend(arrays(name, value, ()))
        else:
            plain[name] = _text(value)
    return plain, parts


def _is_array(value: Any) -> bool:
    return hasattr(value, "detach") or isinstance(value, np.ndarray) and value.ndim > 0 or \
        isinstance(value, list) and bool(value) and isinstance(value[0], (list, np.ndarray))


def _text(value: Any) -> Any:
    """A value as a text, a number, a truth value, or a list for an option that is repeated."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item()
    if isinstance(value, (str, bool, int, float)):
        return value
    if hasattr(value, "__fspath__"):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return _joined(["%s=%s" % (k, _text(v)) for k, v in value.items()])
    if isinstance(value, (list, tuple, range)):
        return _joined([str(_text(v)) for v in value])
    return str(value)


def _joined(texts: List[str]) -> Any:
    """Several values as one, or a list where one of them has a comma of its own."""
    return texts if any("," in t for t in texts) else ",".join(texts)


def arrays(option: str, value: Any, names: Sequence[str]) -> List[Part]:
    """Arrays as parts of an option: one, a dict, or several for inputs of these names."""
    if isinstance(value, Mapping):
        return [Part(option, str(k), npy(v)) for k, v in value.items()]
    if isinstance(value, tuple):
        return [Part(option, n, npy(v)) for n, v in zip(names, value)]
    return [Part(option, "", npy(value))]
