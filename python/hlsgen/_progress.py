"""Progress of a long command, in a notebook."""

from __future__ import annotations

import html
from typing import Any, Optional

from ._options import ProgressOption
from ._process import Progress


def _notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell: Any = get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class _State:
    """What a bar shows: a phase and the share of it that is done. A notebook shows the bar, a terminal the text. Without a phase
    it shows nothing, so that a notebook keeps nothing of it."""

    def __init__(self, phase: str = "", share: Optional[float] = None) -> None:
        self.phase, self.share = phase, share

    def __repr__(self) -> str:
        return self.phase if self.share is None else "%s: %.0f %%" % (self.phase, 100 * self.share)

    def _repr_html_(self) -> str:
        if not self.phase:
            return ""
        value = "" if self.share is None else ' value="%.3f"' % self.share
        return '<progress max="1"%s style="width: 20em; vertical-align: middle"></progress> %s' % (value, html.escape(repr(self)))


class _Bar:
    """A bar below the cell of a notebook, which goes when the work is done."""

    def __init__(self) -> None:
        self.shown: Any = None

    def __call__(self, phase: str, share: Optional[float]) -> None:
        from IPython.display import display

        if self.shown is None:
            self.shown = display(_State(phase, share), display_id=True)
        else:
            self.shown.update(_State(phase, share))

    def close(self) -> None:
        if self.shown is not None:
            self.shown.update(_State())


class Watched:
    """What shows progress while it is entered: a bar in a notebook, a function of the caller, or nothing."""

    def __init__(self, wanted: ProgressOption) -> None:
        self.show: Optional[Progress] = None
        self.bar: Optional[_Bar] = None
        if callable(wanted):
            self.show = wanted
        elif wanted or wanted is None and _notebook():
            self.show = self.bar = _Bar()

    def __enter__(self) -> Optional[Progress]:
        return self.show

    def __exit__(self, *error: Any) -> None:
        if self.bar is not None:
            self.bar.close()
