"""λ(p): how eigenvalues move with a parameter, and where stability ends.
Keywords: root locus.

The parameter is a constant, or a coordinate, rate or speed of the point. All points are evaluated
in one pass over the tape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.linear.bracketed_zero import bracketed_zero
from dalembert.analysis.linear.equation_jacobians import BadLinearPoint, cached_jacobians
from dalembert.analysis.linear.least_assignment import LeastAssignment
from dalembert.analysis.linear.linear_model import LinearModel
from dalembert.analysis.linear.linearize import choose_independent, linear_model_at
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.model.system import System
from dalembert.runtime.simulation.plotting.chart import COLOURS, GREY, Chart, Curve, Panel
from dalembert.runtime.simulation.plotting.plot import Appearance, Plot, display
from dalembert.runtime.states.evaluator import Key
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.run_values import RunValues, operating_values
from dalembert.symbolic.units.quantities import label_with_unit

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    Complex = NDArray[np.complex128]

# growth below this part of the largest eigenvalue is no growth: a triple zero is blurred by the
# cube root of rounding
_GROWTH_TOLERANCE: Final = 1e-4
_BISECTIONS: Final = 14
# of a plot in characters
_ROWS: Final = 19
_REAL, _PAIR, _ZERO = "•", "◦", "─"


class ParametricLinearization:
    """A system about a point that a parameter moves: call it with numbers to get linear models."""

    def __init__(
        self,
        system: System,
        parameter: Key,
        about: Mapping[Any, Any] | None = None,
        *,
        values: Mapping[Any, Any] | None = None,
        inputs: Mapping[Any, Any] | None = None,
        t: float = 0.0,
    ) -> None:
        name = parameter if isinstance(parameter, str) else str(parameter)
        self.parameter, self.t, self._about = name, t, about or {}
        self._system, self._values, self._inputs = system, values or {}, inputs or {}
        symbol = system.symbols.get(name)
        self._constant = (
            symbol.scalar.i if symbol is not None and symbol.kind == "constant" else None
        )
        self._key = parameter

    def _values_at(self, p: float) -> RunValues:
        moved = {self.parameter: p} if self._constant is not None else {}
        return operating_values(self._system, {**self._values, **moved}, self._inputs)

    def __call__(self, parameters: Sequence[float] | FloatArray) -> list[LinearModel]:
        """The linear models for these values of the parameter."""
        at = [float(p) for p in parameters]
        starts = []
        for p in at:
            chosen = self._values_at(p)
            about = {**self._about, **({} if self._constant is not None else {self._key: p})}
            starts.append(
                solve_initial_conditions(chosen.kin, about, chosen.symbol_values_at(self.t), self.t)
            )
        field = cached_jacobians(chosen, self.t)
        numbers: dict[int, FloatArray | float] = dict(chosen.symbol_values_at(self.t))
        if self._constant is not None:
            numbers[self._constant] = np.array(at)
        slopes = field.at(
            np.array([s.q for s in starts]), np.array([s.u for s in starts]), self.t, numbers
        )
        free = choose_independent(slopes.phi_q[0])
        return [linear_model_at(field, s, slopes, k, free) for k, s in enumerate(starts)]

    def growth(self, p: float) -> tuple[float, float]:
        """max Re λ of the eigenvalues that are not zero by structure, and the largest |λ|."""
        modes = self([p])[0].modes()
        return modes.growth, float(np.max(modes.frequencies, initial=0.0))

    def stability_limit(self, low: float, high: float) -> float:
        """p between `low` and `high` at which max Re λ = 0.

        Where damping makes the stable side decay, Re λ crosses zero and is bisected. Where it stays
        zero on the stable side (conservative and gyroscopic systems), Re λ grows as a root or
        linearly; its power that is smooth is extrapolated to zero.
        """
        signs = [self._is_unstable(p) for p in (low, high)]
        if signs[0] == signs[1]:
            state = "unstable" if signs[0] else "stable"
            msg = (
                f"stability limit: {self.parameter} = {low:g} and {high:g} are both {state}; "
                f"give two values between which it changes"
            )
            raise BadLinearPoint(msg)
        stable, unstable = (high, low) if signs[0] else (low, high)
        if self._is_damped(stable, unstable):
            return bracketed_zero(lambda p: self.growth(p)[0], stable, unstable, 1e-14)
        for _ in range(_BISECTIONS):
            middle = (stable + unstable) / 2
            stable, unstable = (stable, middle) if self._is_unstable(middle) else (middle, unstable)
        return self._extrapolate_limit(stable, unstable, abs(high - low))

    def _is_unstable(self, p: float) -> bool:
        growth, size = self.growth(p)
        return growth > _GROWTH_TOLERANCE * size

    def _is_damped(self, stable: float, unstable: float) -> bool:
        """Whether max Re λ is negative on the whole stable side, judged by two points."""
        growth_rates = [self.growth(stable + k * (unstable - stable) * 1e-3) for k in (0, 1)]
        return all(growth < -_GROWTH_TOLERANCE * size for growth, size in growth_rates)

    def _extrapolate_limit(self, stable: float, unstable: float, width: float) -> float:
        """The zero of growth^(1/α), α = ½ or 1, by a polynomial through points on the unstable
        side.
        """
        edge, side = (stable + unstable) / 2, math.copysign(1.0, unstable - stable)
        step = max(width / 200, 8 * abs(unstable - stable))
        for _ in range(3):
            at = edge + side * step * np.arange(1, 8)
            growth = np.array([self.growth(p)[0] for p in at])
            alpha = 1.0 if np.log(growth[1] / growth[0]) > 0.75 * np.log(2.0) else 0.5
            fit = np.polynomial.Polynomial.fit(at, growth ** (1 / alpha), 6)
            roots = fit.roots()
            real = roots[np.abs(roots.imag) < 1e-3 * step].real
            if not real.size:
                msg = (
                    f"stability limit: growth does not vanish smoothly near {self.parameter} = "
                    f"{edge:.9g}"
                )
                raise BadLinearPoint(msg)
            edge = float(real[np.argmin(np.abs(real - edge))])
            step /= 8
        return edge


@dataclass(frozen=True, eq=False)
class RootLocus(Displayable):
    """Eigenvalues over a parameter: a row for each value, each column following one eigenvalue."""

    parameter: str
    values: FloatArray
    eigenvalues: Complex
    models: tuple[LinearModel, ...]
    # eigenvalues that are zero by structure at every value, which the columns leave out
    structural: int

    @property
    def growth(self) -> FloatArray:
        """max Re λ for each value."""
        return np.asarray(self.eigenvalues.real.max(axis=1, initial=-np.inf))

    @property
    def stability_changes(self) -> tuple[tuple[float, float], ...]:
        """Neighbouring values between which the number of growing eigenvalues changes."""
        size = np.maximum(np.abs(self.eigenvalues).max(axis=1, initial=0.0), np.finfo(float).tiny)
        growing = (self.eigenvalues.real > _GROWTH_TOLERANCE * size[:, None]).sum(axis=1)
        return tuple(
            (float(self.values[k]), float(self.values[k + 1]))
            for k in np.flatnonzero(np.diff(growing))
        )

    def text_plot(self, columns: int = 72) -> str:
        """Re λ over the parameter: • for a real eigenvalue, ◦ for a pair."""
        z = self.eigenvalues
        top, bottom = float(z.real.max(initial=0.0)), float(z.real.min(initial=0.0))
        low, high = self.values.min(), self.values.max()
        grid = [[" "] * columns for _ in range(_ROWS)]
        height = (top - bottom) or 1.0

        def row(x: float) -> int:
            return round((top - x) / height * (_ROWS - 1))

        if 0 <= row(0.0) < _ROWS:
            grid[row(0.0)] = [_ZERO] * columns
        for p, line in zip(self.values, z, strict=True):
            column = round((p - low) / ((high - low) or 1.0) * (columns - 1))
            for x in line:
                if 0 <= row(x.real) < _ROWS:
                    grid[row(x.real)][column] = (
                        _PAIR if abs(x.imag) > 1e-9 * (1 + abs(x)) else _REAL
                    )
        labels = {0: top, row(0.0): 0.0, _ROWS - 1: top - height}
        lines = [
            f"{labels[k]:>9.3g} │" + "".join(cells)
            if k in labels
            else " " * 10 + "│" + "".join(cells)
            for k, cells in enumerate(grid)
        ]
        foot = f"{low:.6g}".ljust(columns - 10) + f"{high:.6g}".rjust(10)
        return "\n".join(
            [f"Re λ over {self.parameter}   {_REAL} real   {_PAIR} pair", *lines, " " * 11 + foot]
        )

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
        style: Any = None,
    ) -> Plot:
        """Re λ and |Im λ| over the parameter.

        ax is two axes of matplotlib to draw on, figsize the size in inches, style a style of
        matplotlib.
        """
        unit = " [1/s]" if self.models[0].units else ""
        parts = (
            (f"Re λ{unit}", self.eigenvalues.real, COLOURS[0]),
            (f"|Im λ|{unit}", np.abs(self.eigenvalues.imag), COLOURS[1]),
        )
        panels = tuple(
            Panel(
                name,
                tuple(Curve("", self.values, column, colour) for column in part.T),
                zero_line=True,
                dotted=True,
            )
            for name, part, colour in parts
        )
        span = (float(self.values.min()), float(self.values.max()))
        across = label_with_unit(self.parameter, self.models[0].units.get(self.parameter, ""))
        title, facts = self.models[0].system, f"eigenvalues over {self.parameter}"
        chart = Chart(title, facts, GREY, span, panels, x_label=across)
        return display(chart, f"{title} root locus", path, Appearance(ax, figsize, style))

    def __str__(self) -> str:
        lines = [f"  {self.parameter:>12}  eigenvalues"]
        for p, row in zip(self.values, self.eigenvalues, strict=True):
            shown = [
                f"{z.real:.6g} ± {z.imag:.6g} i" if z.imag else f"{z.real:.6g}"
                for z in row
                if z.imag >= 0
            ]
            lines.append(f"  {p:>12.6g}  {',  '.join(shown)}")
        return "\n".join(
            [*lines, *([f"  and 0, {self.structural} times"] if self.structural else [])]
        )


def root_locus(
    system: System,
    parameter: Key,
    over: Sequence[float] | FloatArray,
    about: Mapping[Any, Any] | None = None,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> RootLocus:
    """λ(p) for every p in `over`: a constant of the system, or a coordinate, rate or speed of
    the point.
    """
    try:
        at = np.asarray(over, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        at = np.zeros(0)
    if at.ndim != 1 or at.size == 0 or not np.isfinite(at).all():
        msg = f"root locus: give a list of values for {parameter}"
        raise DalembertError(msg)
    models = ParametricLinearization(system, parameter, about, values=values, inputs=inputs, t=t)(
        at
    )
    all_modes = [m.modes() for m in models]
    zeros = min(sum(mode.structural for mode in ms.modes) for ms in all_modes)
    rows = [ms.eigenvalues[zeros:] for ms in all_modes]
    tracks = [rows[0]]
    for row in rows[1:]:
        tracks.append(_match_eigenvalues(tracks[-1], row))
    return RootLocus(str(parameter), at, np.array(tracks), tuple(models), zeros)


def _match_eigenvalues(before: Complex, now: Complex) -> Complex:
    """The eigenvalues in the order that moves them least."""
    if not len(now):
        # every eigenvalue is a zero of the structure, as in the snakeboard
        return now
    distance = np.abs(before[:, None] - now[None, :])
    nearest = distance.argmin(axis=1)
    if len(set(nearest.tolist())) == len(nearest):
        # each goes to its nearest one, and no order is shorter
        return np.asarray(now[nearest])
    return np.asarray(now[LeastAssignment(distance.tolist()).solve()])
