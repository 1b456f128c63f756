"""Reactions over time: a panel for each joint, row and specified motion, and below them the power fed in."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from dalembert.simulation.plotting import COLOURS, Chart, Curve, Panel, Plot, file_name, in_notebook
from dalembert.simulation.reactions import sizes

if TYPE_CHECKING:
    from dalembert.simulation.reactions import DriveLoad, JointLoad, RowLoad, RunReactions

_GREY: Final = "#666666"
_MOST_PANELS: Final = 24


def plot_reactions(found: RunReactions, chosen: Sequence[JointLoad | RowLoad | DriveLoad], path: str | os.PathLike[str] | None) -> Plot:
    """Inline in a notebook; elsewhere a file, its name printed unless it was given."""
    made = Plot(chart(found, chosen))
    if path is not None:
        return made.save(path)
    if in_notebook():
        return made
    made = made.save(f"{file_name(found.system)}-reactions.svg")
    print(f"saved {made.path}")  # noqa: T201 - in a terminal this is the only sign of the plot
    return made


def chart(found: RunReactions, chosen: Sequence[JointLoad | RowLoad | DriveLoad]) -> Chart:
    """One panel for each quantity, such as the size of a force."""
    t = found.t
    times = (float(t[0]), float(t[-1])) if len(t) else (0.0, 1.0)
    curves = [(label, x) for load in chosen for label, x in sizes(load).items()]
    panels = tuple(
        Panel(label, (Curve(label, t, x, colour),))
        for (label, x), colour in zip(curves[:_MOST_PANELS], itertools.cycle(COLOURS), strict=False)
    )
    left_out = len(curves) - len(panels)
    facts = "reactions" + (f"  ·  {left_out} more not shown" if left_out else "")
    below = Panel("power fed in", (Curve("power", t, found.power_in, COLOURS[1]),), zero_line=True)
    return Chart(found.system, facts, _GREY, times, panels, below)
