"""da.bifurcation_diagram: what motions settle to over a parameter, by an ensemble of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.periodic.diagram import BifurcationDiagram, section_values
from dalembert.errors import Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.interface.api.ensemble import ensemble
from dalembert.runtime.numerics.symbol_values import BadValue
from dalembert.runtime.simulation.events.event import SIGNS

if TYPE_CHECKING:
    from dalembert.mechanics.model.system import System

_TIME: Final = "t"


def bifurcation_diagram(
    system: System,
    parameter: str,
    values: Sequence[float],
    *,
    keep: str,
    section: str,
    duration: float,
    transient: float,
    direction: str = "up",
    samples: int = 4000,
    start: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    constants: Mapping[Any, Any] | None = None,
    rtol: float = 1e-9,
    progress: bool | None = None,
) -> BifurcationDiagram:
    """A quantity at the crossings of a section, for many values of a constant.

    keep       the quantity, "x"
    section    an expression that crosses zero: "x.dot", or "sin(Omega*t)" for points once a period
               of the drive
    transient  the time until which crossings are not counted; `duration` is the whole time
    samples    how often the motion is sampled between the two; crossings lie on cubics through the
               samples
    """
    name = str(getattr(parameter, "name", None) or parameter)
    _check_section(direction, transient, duration, samples)
    times = np.linspace(transient, duration, samples)
    study = ensemble(
        system,
        duration,
        over={name: list(values)},
        keep=[keep, section],
        at=times,
        start=start,
        inputs=inputs,
        values=constants,
        rtol=rtol,
        atol=rtol,
        audit=False,
        progress=progress,
    )
    g, y = (np.asarray(study[each].transpose(name, _TIME).values) for each in (section, keep))
    is_finite = np.isfinite(g).all(axis=1).tolist()
    given = [float(value) for value in values]
    stopped = tuple((given[k], "the run stopped") for k, ok in enumerate(is_finite) if not ok)
    points = {
        k: section_values(times, g[k], y[k], direction) for k, ok in enumerate(is_finite) if ok
    }
    x, y = _joined([np.full(len(p), given[k]) for k, p in points.items()]), _joined(points.values())
    return BifurcationDiagram(name, keep, section, x, y, stopped)


def _joined(parts: Iterable[FloatArray]) -> FloatArray:
    """One array; nothing where every run stopped."""
    return np.concatenate([np.zeros(0), *parts])


def _check_section(direction: str, transient: float, duration: float, samples: int) -> None:
    """Refuse unknown directions and times at which nothing is sampled."""
    if direction not in SIGNS:
        msg = f"bifurcation_diagram: direction={direction!r}; choose 'up', 'down' or 'any'"
        raise Unknown(msg)
    if not 0.0 <= transient < duration or samples < 8:
        msg = (
            f"bifurcation_diagram: transient={transient!r}, duration={duration!r}, "
            f"samples={samples!r}; the transient ends before the run, and 8 samples are the least"
        )
        raise BadValue(msg)
