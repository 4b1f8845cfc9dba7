"""Functions that need no model of their own."""

from __future__ import annotations

import os
from typing import Any, List, Optional

from ._design import Design, open_design
from ._drawing import Drawing
from ._model import Model, load
from ._options import Arrays, Option, flag, split
from ._process import ask
from ._record import table_html
from ._results import Board, CollectResult, FormatsResult, LatenciesResult, StatsResult, WeightsResult


class Boards(List[Board]):
    """The boards that hlsgen knows."""

    def __getitem__(self, name: Any) -> Any:
        """A board by its name, or by its place."""
        if isinstance(name, str):
            for b in self:
                if name == b.name or name in (b.aliases or []):
                    return b
            raise KeyError(name)
        return super().__getitem__(name)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each board."""
        from ._record import frame

        return frame([b.to_dict() for b in self])

    def _repr_html_(self) -> str:
        return table_html([b.to_dict() for b in self], ["name", "part", "lut", "lutram", "ff", "bram36", "uram", "dsp",
                                                      "default_clock_mhz"])


def boards() -> Boards:
    """The boards that hlsgen knows."""
    answer = ask("boards")
    found: Any = answer.result
    return Boards(Board(b) for b in found)


def _model(model: Any) -> Model:
    return model if isinstance(model, Model) else load(model)


def stats(model: Any, x: Arrays = None, **options: Any) -> StatsResult:
    """Model.stats of a model, or of what load takes."""
    return _model(model).stats(x, **options)


def graph(model: Any, form: Option = None, **options: Any) -> Drawing:
    """Draws a model, a design, the folder of a build, or what load takes: Model.graph, or Design.graph."""
    if isinstance(model, (str, os.PathLike)) and os.path.isdir(model):
        model = open_design(model)
    drawn: Drawing = (model if isinstance(model, Design) else _model(model)).graph(form, **options)
    return drawn


def convert(model: Any, to: Option = None, **options: Any) -> Any:
    """Model.convert of a model, or of what load takes."""
    return _model(model).convert(to, **options)


def sweep(model: Any, boards: Option = None, x: Arrays = None, labels: Arrays = None, **options: Any) -> Any:
    """Model.sweep of a model, or of what load takes."""
    return _model(model).sweep(boards, x, labels, **options)


def weights(model: Any, for_: Any, **options: Any) -> WeightsResult:
    """Model.weights of a retrained model: what hardware that is built already loads."""
    return _model(model).weights(for_, **options)


def _folder(call: str, folder: Any, options: Any) -> Any:
    plain, parts = split({flag(k): v for k, v in options.items() if v is not None})
    path = getattr(folder, "path", None) or os.fspath(folder)
    return ask(call, arguments=[path], options=plain, parts=parts).result


def collect(design: Any, **options: Option) -> CollectResult:
    """Compares the estimate of a design, or of the folder of a build, with what tools and board say."""
    return CollectResult(_folder("collect", design, options))


def latencies(reports: Any, **options: Option) -> LatenciesResult:
    """Makes latencies of reports of synthesis, in the folder of a build or in others."""
    return LatenciesResult(_folder("latencies", reports, options))


def formats(**options: Option) -> FormatsResult:
    """Compares number formats."""
    plain, parts = split({flag(k): v for k, v in options.items() if v is not None})
    return FormatsResult(ask("formats", options=plain, parts=parts).result)
