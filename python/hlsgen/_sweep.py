"""Sweeps: many designs of a model."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, List, Mapping

from . import _results
from ._record import frame, table_html
from ._results import PointResult

_COLUMNS = ("id", "board", "clock_mhz", "precision", "status", "fps", "interval_clocks", "latency_clocks", "LUT", "BRAM_18K",
            "DSP", "accuracy", "chosen")


class Sweep(_results.SweepResult):
    """The designs of a sweep: rows has all of them, chosen the fastest. path is the folder with tables and pictures."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        super().__init__(result)
        self.path = os.path.abspath(str(result["out"]))
        with open(os.path.join(self.path, "sweep.json"), encoding="utf-8") as file:
            self._sheet = json.load(file)
        self.rows: List[PointResult] = [PointResult(p) for p in self._sheet["points"]]

    def _flat(self) -> List[Dict[str, Any]]:
        """A row for each design, with the figures of records as columns of their own."""
        flat = []
        for p in self._sheet["points"]:
            row: Dict[str, Any] = {}  # JSON leaves out what is false
            for key, value in p.items():
                if key == "resources":
                    row.update(value)
                elif key == "accuracy":
                    row["accuracy"] = value["right"] / value["samples"] if value["samples"] else None
                elif key == "front":
                    row["front"] = ", ".join(value)
                elif not isinstance(value, (dict, list)):
                    row[key] = value
            row["chosen"] = row.get("chosen", False)
            flat.append(row)
        return flat

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each design."""
        return frame(self._flat())

    def _repr_html_(self) -> str:
        return table_html(self._flat(), _COLUMNS)

    def pictures(self) -> Iterator[str]:
        """The paths of the pictures in the folder."""
        return (os.path.join(self.path, f) for f in self.files if f.endswith(".svg"))

    def plot(self, x: str = "LUT", y: str = "fps") -> Any:
        """A figure of matplotlib: two columns of to_pandas against each other, a colour for each board."""
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(6, 4))
        rows = [r for r in self._flat() if r.get(x) is not None and r.get(y) is not None]
        for board in dict.fromkeys(r["board"] for r in rows):
            some = [r for r in rows if r["board"] == board]
            axes.scatter([r[x] for r in some], [r[y] for r in some], label=board)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        if rows:
            axes.legend()
        figure.tight_layout()
        pyplot.close(figure)  # a notebook shows what is returned
        return figure
