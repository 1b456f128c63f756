"""y ← y − J⁺ F: a root by the steps that assemble positions, each row scaled by its slope.

What F does not determine (an ignorable coordinate) stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.states.assembly import gauss_newton

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# the first step is no longer than this
_LONGEST: Final = 1.0
_SHORTEST: Final = 4e-16
_ACCEPTED: Final = 1e-9
# below this rounding hides nothing
_LARGE: Final = 1e6


class Root(NamedTuple):
    """Where the search ended, what remains there, and whether that is a root."""

    y: Numbers
    residual: float
    found: bool
    steps: int


def newton(f: Callable[[Numbers], tuple[Numbers, Numbers]], y: Numbers) -> Root:
    """A root of F near y; every row is scaled by its slope where the search begins. `f` gives F and J."""
    F, J = f(y)
    if not (np.isfinite(F).all() and np.isfinite(J).all()):
        return Root(y, np.inf, found=False, steps=0)
    slope = np.linalg.norm(J, axis=1)
    scale = np.where(slope > 0, slope, 1.0)

    known = [(F, J)]

    def scaled(y: Numbers) -> tuple[Numbers, Numbers]:
        F, J = known.pop() if known else f(y)
        return F / scale, J / scale[:, None]

    steps = 0
    if y.size:
        whole = np.ones(len(F), dtype=bool), np.ones(len(y), dtype=bool)
        y, steps, F, J = gauss_newton(scaled, y, *whole, radius=_LONGEST, shortest=_SHORTEST, unit=1.0)
        F, J = F * scale, J * scale[:, None]
    size = np.linalg.norm(J, axis=1) * max(1.0, float(np.abs(y).max(initial=0.0)))
    good = bool((np.abs(F) <= _ACCEPTED * np.maximum(size, np.max(size, initial=0.0) * 1e-3)).all()) if y.size else not F.any()
    return Root(y, float(np.abs(F).max(initial=0.0)), good and _is_resolved(f, y, F, J), steps)


def _is_resolved(f: Callable[[Numbers], tuple[Numbers, Numbers]], y: Numbers, F: Numbers, J: Numbers) -> bool:
    """F(y + δ) ≈ F + J δ over δ = a thousand roundings: an angle of 1e16 rad, whose neighbour is a turn away, tells nothing of its sine."""
    if np.abs(y).max(initial=0.0) < _LARGE:
        return True
    delta = 1024 * np.spacing(np.abs(y))
    change = f(y + delta)[0] - F
    return bool((np.abs(change - J @ delta) <= 0.1 * (np.abs(J) @ delta)).all())
