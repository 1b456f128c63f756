"""λ(p) of a steady motion over its speed p: Re λ and |Im λ| as curves, the stable range shaded,
and where it ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.linear.root_locus import ParametricLinearization, RootLocus, root_locus
from dalembert.errors import DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.html_elements import shown_name
from dalembert.interface.page.plot_area import PlotArea
from dalembert.interface.page.time_plots import WIDTH, axis_limits, tick_label
from dalembert.runtime.simulation.plotting.chart import ticks, ticks_inside
from dalembert.symbolic.units.quantities import label_with_unit

if TYPE_CHECKING:
    from dalembert.foundation.array_types import FloatArray
    from dalembert.mechanics.model.system import System
    from dalembert.runtime.simulation.run_options import RunOptions

_POINTS: Final = 101
_REACH: Final = 2.2
_HEIGHT: Final = 3_000
# a real part below this part of the largest eigenvalue does not grow
_GROWTH: Final = 1e-6


@dataclass(frozen=True, eq=False)
class SpeedLocus:
    """Eigenvalues over a speed, the speed of the motion itself, and the ends of stability."""

    system: System
    locus: RootLocus
    speed: float
    limits: tuple[float, ...]

    @property
    def stable_ranges(self) -> list[tuple[float, float]]:
        """Intervals of the speed in which no eigenvalue grows."""
        values = self.locus.values
        edges = [float(values[0]), *self.limits, float(values[-1])]
        size = max(float(np.abs(self.locus.eigenvalues).max(initial=0.0)), 1e-300)
        ranges = []
        for low, high in pairwise(edges):
            inside = self.locus.growth[(values > low) & (values < high)]
            if inside.size and inside.max() <= _GROWTH * size:
                ranges.append((low, high))
        return ranges

    def names(self, given: Sequence[str]) -> list[str]:
        """A name for each column: those that were given, by increasing |λ| at the speed of the
        motion, or the states that move most.
        """
        row = int(np.argmin(np.abs(self.locus.values - self.speed)))
        sizes = np.abs(self.locus.eigenvalues[row])
        # both eigenvalues of a pair have one name
        distinct = sorted({round(float(x), 6) for x in sizes})
        if len(given) == len(distinct):
            return [given[distinct.index(round(float(x), 6))] for x in sizes]
        return [f"λ{k + 1}" for k in range(len(sizes))]


def speed_locus(
    system: System, name: str, speed: float, point: Mapping[str, float], options: RunOptions
) -> SpeedLocus | None:
    """The eigenvalues of a steady motion for speeds from zero to about twice its own; None where
    the motion does not exist for all of them.
    """
    coordinates = {s.name for s in system.symbols.values() if s.kind == "coordinate"}
    about = {key: x for key, x in point.items() if key in coordinates}
    loads: dict[str, Any] = {"values": options.values, "inputs": options.inputs}
    try:
        locus = root_locus(system, name, np.linspace(0, _REACH * speed, _POINTS), about, **loads)
        if not locus.eigenvalues.size:
            return None
        along = ParametricLinearization(system, name, about, **loads)
        limits = tuple(along.stability_limit(*ends) for ends in locus.stability_changes)
    except DalembertError:
        return None
    return SpeedLocus(system, locus, speed, limits)


def locus_figure(locus: SpeedLocus, mode_names: Sequence[str]) -> str:
    """Two plots with one legend, and a sentence on the stable range."""
    unit = locus.system.unit(locus.locus.parameter)
    name = shown_name(locus.system, locus.locus.parameter)
    ranges = [f"{low:.6g} < {name} < {high:.6g}" for low, high in locus.stable_ranges]
    span = f"{name} = {locus.locus.values[0]:.3g} … {locus.locus.values[-1]:.3g}"
    words = f"Stable for {' and '.join(ranges)}" if ranges else "Unstable for all speeds shown"
    ends = ", ".join(f"{x:.6g}" for x in locus.limits)
    more = f" Stability changes at {name} = {ends}." if locus.limits else ""
    names = locus.names(mode_names)
    per = "1/s" if locus.system.has_units else ""
    z = locus.locus.eigenvalues
    plots = "".join(
        _plot(locus, label_with_unit(title, per), part, names, label_with_unit(name, unit))
        for title, part in (("Re λ", z.real), ("|Im λ|", np.abs(z.imag)))
    )
    return (
        f"<h4>Eigenvalues over {escape(name)}</h4>"
        f"<p>{escape(f'{words} ({span}).{more}')}</p>"
        f'<div class="plots locus">{plots}</div>'
    )


def _plot(locus: SpeedLocus, title: str, part: FloatArray, names: list[str], across: str) -> str:
    x = locus.locus.values
    low, high, _ = axis_limits(list(part.T))
    area = PlotArea((float(x[0]), float(x[-1])), (low, high), 0, 0, WIDTH, _HEIGHT, unit=1)
    kinds = list(dict.fromkeys(names))
    keys = "".join(
        f'<span class="key c{k % 6}">{escape(kind)}</span>' for k, kind in enumerate(kinds)
    )
    shaded = "".join(
        f'<path class="stable" d="M{area.x_pixel(a):.0f} 0V{_HEIGHT}H{area.x_pixel(b):.0f}V0Z"/>'
        for a, b in locus.stable_ranges
    )
    curves = "".join(
        f'<path class="curve c{kinds.index(kind) % 6}" d="{area.path(x, column)}"/>'
        for kind, column in zip(names, part.T, strict=True)
    )
    xs, ys = ticks_inside(*area.x, 6), ticks(*area.y, 4)
    # the axis Re λ = 0 is the border of stability
    zero = f'<path class="zero" d="{area.grid([locus.speed], [0.0] if low < 0 < high else [])}"/>'
    numbers = "".join(
        f'<span class="y" style="top:{100 * area.y_pixel(y) / _HEIGHT:.2f}%">{tick_label(y)}</span>'
        for y in ys
    ) + "".join(
        f'<span class="x" style="left:{100 * area.x_pixel(v) / WIDTH:.2f}%">{tick_label(v)}</span>'
        for v in xs
    )
    return (
        f'<figure class="plot"><figcaption><span class="title">{title}</span>{keys}</figcaption>'
        f'<div class="area"><div class="field">{numbers}<svg viewBox="0 0 {WIDTH} {_HEIGHT}" '
        f'preserveAspectRatio="none" aria-hidden="true">{shaded}'
        f'<path class="grid" d="{area.grid(xs, ys)}"/>{zero}{curves}</svg>'
        f'<span class="axis"><i>{across}</i></span></div></div></figure>'
    )
