"""g(x, t) = 0 along a run: a Poincaré section.

Crossings are bracketed on the dense output of the run and located on it to the last bits of the
time.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import NotApplicable, Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.simulation.events.event import SIGNS

if TYPE_CHECKING:
    from dalembert.runtime.simulation.plotting.plot import Plot
    from dalembert.runtime.simulation.trajectory import Trajectory

_PER_STEP: Final = 8
_HALVINGS: Final = 54
_SIZE: Final = (5.4, 5.4)


@dataclass(frozen=True, eq=False, repr=False)
class PoincareSection(Displayable):
    """The crossings of a section: their times, and any quantity there by name."""

    expression: str
    direction: str
    t: FloatArray
    # the run at the crossings
    motion: Trajectory | None = field(repr=False)

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, key: Any) -> FloatArray:
        """A quantity at every crossing."""
        return np.zeros(0) if self.motion is None else np.asarray(self.motion[key])

    def plot(self, x: Any, y: Any, path: Any = None) -> Plot:
        """The crossings as points in the plane of two quantities."""
        return _section_plot(self, x, y, path)

    def __str__(self) -> str:
        way = {"any": "", "up": ", upwards", "down": ", downwards"}[self.direction]
        span = f", t = {self.t[0]:.6g} … {self.t[-1]:.6g}" if len(self.t) else ""
        return f"{len(self.t)} crossings of {self.expression} = 0{way}{span}"

    __repr__ = __str__


def section(run: Trajectory, expression: Any, direction: str = "any") -> PoincareSection:
    """The moments at which an expression crosses zero, "up", "down" or in "any" direction."""
    if direction not in SIGNS:
        msg = f"section: direction={direction!r}; choose 'up', 'down' or 'any'"
        raise Unknown(msg)
    if not run.solution.has_full_dense_output:
        msg = "section: of this run only some times are kept; simulate without at="
        raise NotApplicable(msg)
    steps = np.unique(run.solution.t)
    parts = np.linspace(0.0, 1.0, _PER_STEP + 1)[:-1]
    times = np.append((steps[:-1, None] + np.diff(steps)[:, None] * parts).ravel(), steps[-1])
    g = np.asarray(run.at(times)[expression])
    up, down = (g[:-1] < 0.0) & (g[1:] >= 0.0), (g[:-1] > 0.0) & (g[1:] <= 0.0)
    crossing = {"up": up, "down": down, "any": up | down}[direction]
    k = np.flatnonzero(crossing)
    if not k.size:
        return PoincareSection(str(expression), direction, np.zeros(0), None)
    t = _bisect(run, expression, times[k], times[k + 1], g[k])
    return PoincareSection(str(expression), direction, t, run.at(t))


def _bisect(
    run: Trajectory, expression: Any, low: FloatArray, high: FloatArray, g_low: FloatArray
) -> FloatArray:
    """Bisection of all brackets at once."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if ((middle <= low) | (middle >= high)).all():
            break
        same = np.asarray(run.at(middle)[expression]) * g_low > 0.0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(high)


def _section_plot(crossings: PoincareSection, x: Any, y: Any, path: Any) -> Plot:
    """Points in a plane."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from dalembert.runtime.simulation.plotting.chart import COLOURS
    from dalembert.runtime.simulation.plotting.matplotlib_figure import STYLE
    from dalembert.runtime.simulation.plotting.plot import display

    if not len(crossings):
        msg = f"plot: the run does not cross {crossings.expression} = 0"
        raise NotApplicable(msg)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=_SIZE, facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.plot(crossings[x], crossings[y], "o", markersize=2.5, color=COLOURS[0])
        axes.set_xlabel(str(x))
        axes.set_ylabel(str(y))
        axes.margins(0.05)
        axes.set_title(f"{crossings.expression} = 0", loc="left", fontweight="bold")
    return display(figure, "section", path)
