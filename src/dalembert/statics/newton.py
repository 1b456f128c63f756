"""y ← y − J⁺ F: Newton's method with steps of least norm, shortened until the residual falls.

What F does not determine (an ignorable coordinate) stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_MOST_STEPS: Final = 80
_RANK: Final = 1e-11
_LONGEST: Final = 1.0
_SHORTEST: Final = 2.0**-30
_ACCEPTED: Final = 1e-9
# below this rounding hides nothing
_LARGE: Final = 1e6


class Root(NamedTuple):
    """Where the search ended, what remains there, and whether that is a root."""

    y: Numbers
    residual: float
    found: bool
    steps: int


def newton(f: Callable[[Numbers], tuple[Numbers, Numbers]], y: Numbers, alone: Callable[[Numbers], Numbers] | None = None) -> Root:
    """A root of F near y; every row is scaled by its slope where the search begins. `f` gives F and J, `alone` only F, for less."""
    F, J = f(y)
    if not (np.isfinite(F).all() and np.isfinite(J).all()):
        return Root(y, np.inf, found=False, steps=0)
    steps = 0
    while steps < _MOST_STEPS:
        size = np.linalg.norm(J, axis=1)
        scale = np.where(size > 0, size, 1.0)
        step = np.asarray(-np.linalg.lstsq(J / scale[:, None], F / scale, rcond=_RANK)[0] if y.size else y, dtype=np.float64)
        length = float(np.linalg.norm(step))
        if length <= 4e-16 * max(1.0, float(np.abs(y).max(initial=0.0))):
            break
        moved = _shortened(f, alone, y, F, scale, step * min(1.0, _LONGEST / length))
        if moved is None:
            break
        y, F, J = moved
        steps += 1
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


def _shortened(
    f: Callable[[Numbers], tuple[Numbers, Numbers]],
    alone: Callable[[Numbers], Numbers] | None,
    y: Numbers,
    F: Numbers,
    scale: Numbers,
    step: Numbers,
) -> tuple[Numbers, Numbers, Numbers] | None:
    """The longest of step, step/2, … that makes the residual smaller; None if none does."""
    now, part = float(np.linalg.norm(F / scale)), 1.0

    def falls(F_new: Numbers) -> bool:
        return bool(np.isfinite(F_new).all()) and float(np.linalg.norm(F_new / scale)) < now * (1 - 1e-4 * part)

    while part >= _SHORTEST:
        ahead = y + part * step
        # a whole step is mostly taken, a shorter one mostly not: slopes there would be found for nothing
        if part == 1.0 or alone is None or falls(alone(ahead)):
            F_new, J_new = f(ahead)
            if falls(F_new) and np.isfinite(J_new).all():
                return ahead, F_new, J_new
        part /= 2
    return None
