"""Records: what hlsgen says of something, with the names of its JSON."""

from __future__ import annotations

import html
from typing import Any, Callable, ClassVar, Dict, Iterator, List, Mapping, Optional, Sequence


class Record(Mapping[str, Any]):
    """A JSON object of hlsgen. Its keys are attributes; what is left out in the JSON is None there. Further keys, of a later
    version, are items."""

    _makers: ClassVar[Dict[str, Callable[[Any], Any]]] = {}
    _optional: ClassVar[Sequence[str]] = ()

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)
        self._made: Dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            if name in self._optional:
                return None
            raise AttributeError("%s has no %s: it has %s" % (type(self).__name__, name, ", ".join(self._data))) from None

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            value = self._data[name]
            maker = self._makers.get(name)
            self._made[name] = value if maker is None or value is None else maker(value)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | set(self._data) | set(self._optional))

    def __repr__(self) -> str:
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%s" % (k, _short(v)) for k, v in self._data.items()))

    def __hash__(self) -> int:
        return id(self)

    def to_dict(self) -> Dict[str, Any]:
        """The JSON object, of dicts, lists, texts and numbers."""
        return dict(self._data)

    def _repr_html_(self) -> str:
        return table_html([{"figure": k, "value": _short(v)} for k, v in self._data.items()], ["figure", "value"])


def _short(value: Any) -> str:
    if isinstance(value, list):
        return "[%d]" % len(value) if len(str(value)) > 60 else str(value)
    if isinstance(value, dict):
        return "{%s}" % ", ".join(value) if len(str(value)) > 60 else str(value)
    return repr(value)


def list_of(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A maker of lists of records."""
    return lambda values: [make(v) for v in values]


def dict_of(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A maker of dicts of records."""
    return lambda values: {k: make(v) for k, v in values.items()}


def table_html(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A table for a notebook. Texts from models are escaped."""
    used = [c for c in columns if any(r.get(c) not in (None, "") for r in rows)]
    head = "".join("<th>%s</th>" % html.escape(c) for c in used)
    body = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape(_cell(r.get(c))) for c in used) for r in rows)
    return "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>" % (head, body)


def _cell(value: Optional[Any]) -> str:
    if value is None:
        return ""
    return "%.6g" % value if isinstance(value, float) else str(value)


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A pandas.DataFrame of rows."""
    import pandas

    return pandas.DataFrame([dict(r) for r in rows])
