"""Drawings of networks, which hlsgen graph makes."""

from __future__ import annotations

import os
from typing import Any, Dict, Optional

from ._commands import FORMS
from ._errors import UsageError
from ._options import Option
from ._process import Answer


class Drawing(bytes):
    """The file of a drawing. Notebooks show it if its form is svg or png. nodes and streams count what is drawn."""

    form: str
    nodes: int
    streams: int

    def __new__(cls, data: bytes, form: str, nodes: int, streams: int) -> "Drawing":
        made = super().__new__(cls, data)
        made.form, made.nodes, made.streams = form, nodes, streams
        return made

    def __getnewargs__(self) -> Any:
        return bytes(self), self.form, self.nodes, self.streams

    @property
    def text(self) -> str:
        """The text of an svg, or of a dot."""
        return self.decode("utf-8")

    def save(self, path: "str | os.PathLike[str]") -> str:
        """Writes the drawing to a file, and returns its path."""
        with open(path, "wb") as file:
            file.write(self)
        return os.fspath(path)

    def _repr_svg_(self) -> Optional[str]:
        return self.text if self.form == "svg" else None

    def _repr_png_(self) -> Optional[bytes]:
        return bytes(self) if self.form == "png" else None

    def __repr__(self) -> str:
        return "Drawing(form=%r, nodes=%d, streams=%d, %d bytes)" % (self.form, self.nodes, self.streams, len(self))


def take_of(form: Option, options: Dict[str, Any]) -> Dict[str, str]:
    """The option whose file comes back, by what a caller of graph has given: a form, or a file to write."""
    out = options.get("out")
    if out is not None:
        if form is not None and not os.fspath(out).endswith(".%s" % form):
            raise UsageError("a drawing of the form %s does not go to %s" % (form, out), hint="leave out the form")
        return {}
    if form is not None and form not in FORMS:
        raise UsageError("there is no drawing of the form %s" % form, hint="the forms are %s" % ", ".join(FORMS))
    return {"out": "drawing.%s" % (form or FORMS[0])}


def drawing_of(answer: Answer) -> Drawing:
    """The drawing that an answer has, or that was written to the file which it names."""
    made = answer.result
    if answer.parts:
        data = bytes(answer.parts[0][2])
    else:
        with open(made["out"], "rb") as file:
            data = file.read()
    return Drawing(data, made["format"], made["nodes"], made["streams"])
