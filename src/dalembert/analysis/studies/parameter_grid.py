"""m = 0.1, 0.2, …; θ ~ N(0, 0.1): which values each member of a study has.
Keywords: parameter sweep.

Lists are axes of a grid, whose points are all combinations. Distributions are drawn n times, and
each point of the grid gets the same draws, so that neighbours on the grid differ by what the grid
says and by nothing else.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dalembert.errors import DalembertError, Unknown
from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.foundation.deferred_dataclass import dataclass

SAMPLINGS: Final = ("random", "latin", "sobol")
DRAW: Final = "draw"


class BadStudy(DalembertError):
    """A parameter sweep that is not well described: empty ranges, values that are no numbers,
    unknown outputs.
    """


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of the grid: the values of one name, or rows of values of several that vary
    together; or the axis of the draws.
    """

    names: tuple[str, ...]
    rows: FloatArray
    is_random: bool = False

    @property
    def dim(self) -> str:
        """What the axis is called."""
        return DRAW if self.is_random else ", ".join(self.names)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class ParameterGrid:
    """All combinations of the axes, the last one fastest; the draws, if there are any, are the
    last axis.
    """

    axes: tuple[Axis, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What varies."""
        return tuple(name for axis in self.axes for name in axis.names)

    @property
    def dims(self) -> dict[str, int]:
        """The axes by name, with their lengths."""
        return {axis.dim: len(axis) for axis in self.axes}

    def __len__(self) -> int:
        return math.prod(map(len, self.axes))

    def table(self, members: IndexArray) -> FloatArray:
        """A row of values for each of these members, a column for each name."""
        if not self.axes:
            return np.zeros((len(members), 0))
        places = np.unravel_index(members, [len(axis) for axis in self.axes])
        return np.hstack([axis.rows[place] for axis, place in zip(self.axes, places, strict=True)])


def parameter_grid(
    over: Mapping[Any, Any], n: int | None, sampling: str, seed: int
) -> ParameterGrid:
    """The members of a study; names are texts by now, values numbers, lists of numbers or
    distributions of scipy.stats.
    """
    if sampling not in SAMPLINGS:
        msg = f"sampling = {sampling!r} is unknown: choose one of {', '.join(SAMPLINGS)}"
        raise Unknown(msg)
    drawn = {name: values for name, values in over.items() if is_distribution(values)}
    axes = [_grid_axis(names, values) for names, values in over.items() if names not in drawn]
    names = [*(name for axis in axes for name in axis.names), *drawn]
    if twice := [name for name in names if names.count(name) > 1]:
        msg = f"over: {twice[0]!r} is varied twice; give it once"
        raise BadStudy(msg)
    if drawn:
        axes.append(_sample_axis(drawn, _sample_count(n), sampling, seed))
    elif n is not None:
        msg = (
            f"n = {n} is the number of draws, and nothing is drawn: give a distribution, such "
            f"as "
            f"scipy.stats.norm(0, 0.1), or leave n out"
        )
        raise BadStudy(msg)
    return ParameterGrid(tuple(axes))


def is_distribution(values: object) -> bool:
    """Whether it is a distribution of scipy.stats with fixed parameters, recognised by its
    methods.
    """
    return callable(getattr(values, "ppf", None)) and callable(getattr(values, "support", None))


def _grid_axis(names: str | tuple[str, ...], values: Any) -> Axis:
    """A list of numbers for one name, rows of numbers for a tuple of names."""
    together = (names,) if isinstance(names, str) else names
    shown = ", ".join(together)
    try:
        rows = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        msg = (
            f"over: {shown} = {values!r:.60} is neither a list of numbers nor a distribution "
            f"such as scipy.stats.norm(0, 0.1)"
        )
        raise BadStudy(msg) from problem
    rows = rows.reshape(1) if rows.ndim == 0 else rows
    if not rows.size:
        msg = f"over: {shown} has no values; give at least one"
        raise BadStudy(msg)
    if rows.ndim != (1 if isinstance(names, str) else 2) or (
        rows.ndim == 2 and rows.shape[1] != len(together)
    ):
        msg = f"over: {shown} has values of shape {rows.shape}; give " + (
            "a list of numbers"
            if isinstance(names, str)
            else f"a row of {len(together)} numbers for each member"
        )
        raise BadStudy(msg)
    if not np.isfinite(rows).all():
        msg = f"over: {shown} has a value that is not finite"
        raise BadStudy(msg)
    return Axis(together, rows.reshape(len(rows), -1))


def _sample_count(n: int | None) -> int:
    if n is None:
        msg = "a distribution needs the number of draws, such as n=1000"
        raise BadStudy(msg)
    if isinstance(n, bool) or int(n) != n or n < 1:
        msg = f"n = {n!r}: give a whole number of draws, at least 1"
        raise BadStudy(msg)
    return int(n)


def _sample_axis(drawn: Mapping[str, Any], n: int, sampling: str, seed: int) -> Axis:
    """x = F⁻¹(p) with p even in (0, 1): independent, one in each of n strips (Latin hypercube),
    or Sobol's scrambled sequence.
    """
    p = _unit_samples(n, len(drawn), sampling, seed)
    rows = np.empty((n, len(drawn)))
    for k, (name, distribution) in enumerate(drawn.items()):
        try:
            rows[:, k] = distribution.ppf(p[:, k])
        except (TypeError, ValueError) as problem:
            msg = f"over: {name} cannot be drawn from {distribution!r:.60}: {problem}"
            raise BadStudy(msg) from problem
        if not np.isfinite(rows[:, k]).all():
            msg = (
                f"over: {name} is drawn as {rows[~np.isfinite(rows[:, k]), k][0]}: the "
                f"distribution's numbers contradict one another"
            )
            raise BadStudy(msg)
    return Axis(tuple(drawn), rows, is_random=True)


def _unit_samples(n: int, d: int, sampling: str, seed: int) -> FloatArray:
    generator = np.random.default_rng(seed)
    if sampling == "random":
        # never 0, where the quantile of an unbounded distribution is infinite
        return 1.0 - generator.random((n, d))
    from scipy.stats import qmc

    if sampling == "latin":
        points: FloatArray = qmc.LatinHypercube(d, seed=generator).random(n)
        return points
    with warnings.catch_warnings():
        # a number of draws that is no power of two is allowed, and only a little less even
        warnings.simplefilter("ignore", UserWarning)
        points = qmc.Sobol(d, scramble=True, seed=generator).random(n)
    inside: FloatArray = np.clip(points, 2.0**-53, 1.0 - 2.0**-53)
    return inside
