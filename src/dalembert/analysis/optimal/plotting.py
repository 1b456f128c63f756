"""States and inputs of an optimal motion with their bounds, and the replay over them; and the
motion as a page.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.atomic_write import slug, unused_path, write_text
from dalembert.foundation.late_imports import late_module
from dalembert.runtime.simulation.plotting.chart import (
    COLOURS,
    GREY,
    MOST_PANELS,
    Chart,
    Curve,
    Panel,
)
from dalembert.runtime.simulation.plotting.plot import Plot, display
from dalembert.symbolic.algebra.printing.symbol_names import unicode_name

if TYPE_CHECKING:
    from dalembert.analysis.optimal.optimum import OptimalPhase, Optimum

_MOST_STATES: Final = 8


def optimum_plot(optimum: Optimum, path: str | os.PathLike[str] | None) -> Plot:
    """One panel for each coordinate, state and input; phases follow one another."""
    return display(optimum_chart(optimum), _title(optimum), path)


def optimum_chart(optimum: Optimum) -> Chart:
    """The panels of an optimum."""
    names = list(dict.fromkeys(name for phase in optimum.phases for name in _names(phase)))[
        :MOST_PANELS
    ]
    panels = tuple(_panel(optimum, name) for name in names)
    verdict = (
        "audit passed" if optimum.audit.passed else f"AUDIT FAILED: {optimum.audit.failures[0]}"
    )
    facts = (
        f"cost {optimum.cost:.9g}  ·  "
        f"{sum(p.answer.layout.n_intervals for p in optimum.phases)} intervals  ·  {verdict}"
    )
    end = float(optimum.phases[-1].nodes[-1])
    return Chart(
        _title(optimum), facts, GREY if optimum.audit.passed else COLOURS[1], (0.0, end), panels
    )


def _title(optimum: Optimum) -> str:
    return str(optimum.phases[0].answer.functions.phase.system.name)


def _names(phase: OptimalPhase) -> list[str]:
    """Coordinates and first-order states, then inputs."""
    functions = phase.answer.functions
    states = [n for n in functions.names[: functions.n_states] if not n.endswith(".dot")][
        :_MOST_STATES
    ]
    return [*states, *(n for n in phase.inputs if n not in states)]


def _panel(optimum: Optimum, name: str) -> Panel:
    """The optimum, the replay, and the bounds as grey lines."""
    best: list[tuple[Any, Any]] = []
    replays: list[tuple[Any, Any]] = []
    bounds: list[Curve] = []
    for phase, audit in zip(optimum.phases, optimum.audit.phases, strict=True):
        try:
            best.append((phase.t, phase[name]))
        except DalembertError:
            continue
        if audit.replay is not None and name not in phase.inputs:
            replays.append((audit.replay.t, audit.replay[name]))
        functions = phase.answer.functions
        if name in functions.names:
            j, span = functions.names.index(name), phase.nodes[[0, -1]]
            limits = [x for x in (functions.lower[j], functions.upper[j]) if np.isfinite(x)]
            if limits:
                bounds.append(_bound_curve(span, limits))
    curves = [Curve("optimum", *_join_curves(best), COLOURS[0])]
    if replays:
        curves.append(Curve("replay", *_join_curves(replays), COLOURS[1]))
    title = unicode_name(name.replace(".dot", "'"))
    return Panel(title, (*curves, *bounds), is_symbol=True, coinciding=bool(replays))


def _bound_curve(span: FloatArray, limits: list[float]) -> Curve:
    """Level lines, joined by gaps."""
    t = np.concatenate([[*span, span[-1]] for _ in limits])[:-1]
    x = np.concatenate([[limit, limit, np.nan] for limit in limits])[:-1]
    return Curve("bound", t, x, GREY)


def _join_curves(pieces: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Curves of phases one after the other, with a gap between them."""
    t = np.concatenate([np.append(a, a[-1]) for a, _ in pieces])[:-1]
    x = np.concatenate([np.append(b, np.nan) for _, b in pieces])[:-1]
    return t, x


def write_page(optimum: Optimum, path: str | os.PathLike[str] | None = None) -> Path:
    """One HTML file: the motion in three dimensions, the plots with bounds and replay, and the
    audit.
    """
    page = late_module("optimum page")
    target = unused_path(f"{slug(_title(optimum))}-optimum.html") if path is None else path
    return write_text(target, page.optimum_document(optimum))
