"""SciPy: solve_ivp with DOP853 on a right-hand side that Python evaluates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp


def run(
    rates: Callable[[float, Any], Any], start: Sequence[float], duration: float, tolerance: float
) -> NDArray[Any]:
    """The state at the end."""
    return numpy.asarray(
        solve_ivp(rates, (0.0, duration), start, method="DOP853", rtol=tolerance, atol=tolerance).y[
            :, -1
        ]
    )
