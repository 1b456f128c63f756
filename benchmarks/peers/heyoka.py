"""heyoka: Taylor's method with code compiled for each system, by `propagate_until` on an
integrator made before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import heyoka
import numpy
from numpy.typing import NDArray
from reference import pendulum_accelerations, rolling_disk_accelerations
from systems import GRAVITY

# a run that needs more steps than this in ten seconds has lost its way
MOST_STEPS = 20_000


def pendulum(n: int) -> list[tuple[Any, Any]]:
    """n point masses on rods, angles from the vertical, solved for the accelerations by
    elimination.
    """
    x = heyoka.make_vars(*(f"theta{i}" for i in range(n)), *(f"w{i}" for i in range(n)))
    theta, w = x[:n], x[n:]
    accelerations = pendulum_accelerations(theta, w, GRAVITY, heyoka.sin, heyoka.cos)
    return list(zip(x, [*w, *accelerations], strict=True))


def rolling_disk() -> list[tuple[Any, Any]]:
    """Gre03 (4.54)–(4.60) solved for the accelerations."""
    names = ("x", "y", "phi", "theta", "psi", "a", "b", "c")
    x = heyoka.make_vars(*names)
    return list(
        zip(x, rolling_disk_accelerations(x, 0.5, GRAVITY, heyoka.sin, heyoka.cos), strict=True)
    )


def pleiades() -> list[tuple[Any, Any]]:
    """x'' = Σ_j m_j (x_j − x) r⁻³ for masses 1, …, 7."""
    v = heyoka.make_vars(*(f"{name}{i}" for name in ("x", "y", "u", "v") for i in range(7)))
    x, y = v[:7], v[7:14]

    def acceleration(z: list[Any], i: int) -> Any:
        return heyoka.sum(
            [
                (j + 1.0) * (z[j] - z[i]) * ((x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2) ** -1.5
                for j in range(7)
                if j != i
            ]
        )

    return list(
        zip(v, [*v[14:], *(acceleration(z, i) for z in (x, y) for i in range(7))], strict=True)
    )


class Integrator:
    """An integrator of one system for one tolerance."""

    def __init__(
        self, system: Sequence[tuple[Any, Any]], start: Sequence[float], tolerance: float
    ) -> None:
        heyoka.set_nthreads(1)
        self._start = numpy.array(start)
        self._integrator = heyoka.taylor_adaptive(list(system), list(start), tol=tolerance)

    def run(self, duration: float) -> tuple[NDArray[numpy.float64], int, bool]:
        """The last state, the number of steps, and whether the tool itself calls it a success."""
        ta = self._integrator
        ta.time = 0.0
        ta.state[:] = self._start
        outcome = ta.propagate_until(duration, max_steps=MOST_STEPS)
        return ta.state.copy(), outcome[3], outcome[0] == heyoka.taylor_outcome.time_limit
