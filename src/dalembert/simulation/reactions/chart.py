"""Reactions over time: a panel for each joint, row and specified motion, and below them the power fed in."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dalembert.simulation.plotting.chart import COLOURS, GREY, MOST_PANELS, Chart, Curve, Panel
from dalembert.simulation.plotting.plot import Plot, shown
from dalembert.simulation.reactions.loads import sizes
from dalembert.units.quantity import labelled

if TYPE_CHECKING:
    from dalembert.simulation.reactions.loads import DriveLoad, JointLoad, RowLoad, RunReactions


def plot_reactions(found: RunReactions, chosen: Sequence[JointLoad | RowLoad | DriveLoad], path: str | os.PathLike[str] | None) -> Plot:
    """Those chosen over time: shown or saved."""
    return shown(chart(found, chosen), f"{found.system}-reactions", path)


def chart(found: RunReactions, chosen: Sequence[JointLoad | RowLoad | DriveLoad]) -> Chart:
    """One panel for each quantity, such as the size of a force."""
    t = found.t
    times = (float(t[0]), float(t[-1])) if len(t) else (0.0, 1.0)
    curves = [(label, x) for load in chosen for label, x in sizes(load).items()]
    panels = tuple(
        Panel(labelled(label, found.units.get(label, "")), (Curve(label, t, x, colour),))
        for (label, x), colour in zip(curves[:MOST_PANELS], itertools.cycle(COLOURS), strict=False)
    )
    left_out = len(curves) - len(panels)
    facts = "reactions" + (f"  ·  {left_out} more not shown" if left_out else "")
    below = Panel(
        labelled("power fed in", found.units.get("power fed in", "")), (Curve("power", t, found.power_in, COLOURS[1]),), zero_line=True
    )
    return Chart(found.system, facts, GREY, times, panels, below)
