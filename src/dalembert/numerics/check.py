"""Kane's residual at the u̇ that native code gives: the compiled route, held against exact values at random dyadic states.

Elimination on the tape doubles formal degrees joint by joint, so it is not certified in a prime field. States and constants are dyadic
numbers, which floats and balls both hold exactly; native u̇ is inserted in the residuals and these are evaluated in balls of thirty
digits, relative to the sum of the sizes of their terms. What floats of the same tape would hide shows: 10¹⁷ + x − 10¹⁷ y for y = 1.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dalembert.algebra.exact.balls import evaluate_balls
from dalembert.algebra.folds import symbols_of
from dalembert.equations.form import Equations
from dalembert.errors import DalembertWarning
from dalembert.numerics.native import NativeDynamics

STATES: Final = 20
TOLERANCE: Final = 1e-8
# more digits lost than this are worth a warning
MOST_DIGITS_LOST: Final = 6.0
_DIGITS: Final = 30
# how far from zero states are drawn, one after the other until enough of them are such that the equations have values
REACHES: Final = (1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1)
# random numbers keep so many bits after the point
_BITS: Final = 30


@dataclass(frozen=True)
class CompiledCheck:
    """The route compiled, at how many states it was held against exact values, and the largest relative residual."""

    route: str
    states: int
    worst: float

    @property
    def agrees(self) -> bool:
        """Whether rounding alone explains the residual."""
        return bool(self.worst <= TOLERANCE)

    @property
    def digits_lost(self) -> float:
        """How many of the sixteen digits of a double do not count any more at the worst state."""
        unit = 2.0**-53
        return math.log10(min(max(self.worst, unit), 1.0) / unit) if not math.isnan(self.worst) else math.log10(1 / unit)

    def __str__(self) -> str:
        if not self.states:
            return f"native code, {self.route}: not compared, at no random state drawn do the equations have real values"
        verdict = "agrees" if self.agrees else "DIFFERS"
        lost = f"{self.digits_lost:.1f} of 16 digits lost"
        return f"native code, {self.route}: {verdict}, relative residual {self.worst:.1e} at {self.states} random states, {lost}"


def check_compiled(dynamics: NativeDynamics, equations: Equations) -> CompiledCheck:
    """u̇ by native code inserted in the residuals of the equations, which are evaluated exactly."""
    if not equations.u:
        return CompiledCheck(dynamics.equations.route, STATES, 0.0)  # nothing is free to accelerate
    random = np.random.default_rng(1)
    kept: list[float] = []
    for reach in REACHES:
        kept += _residuals(dynamics, equations, STATES - len(kept), random, reach)
        if len(kept) == STATES:
            break
    worst = max(kept, default=0.0)
    found = CompiledCheck(dynamics.equations.route, len(kept), worst if math.isfinite(worst) else math.inf)
    if found.agrees and found.digits_lost > MOST_DIGITS_LOST:
        lost = f"native code of {equations.system!r} loses {found.digits_lost:.0f} of 16 digits at a random state"
        warnings.warn(f"{lost}: large terms nearly cancel; scale the units or rewrite the load", DalembertWarning, stacklevel=2)
    return found


def _dyadic(random: np.random.Generator, reach: float, states: int) -> Any:
    return np.round(reach * random.uniform(0.5, 1.5, states) * 2.0**_BITS) / 2.0**_BITS


def _residuals(dynamics: NativeDynamics, equations: Equations, states: int, random: np.random.Generator, reach: float) -> list[float]:
    """The relative residual at those of so many random states at which the equations have values: √(l² − x²) may have none."""
    values = {i: _dyadic(random, reach, states) for i in dynamics.state}
    values |= {i: _dyadic(random, 1.0, states) for i in dynamics.parameters}
    X = np.column_stack([values[i] for i in dynamics.state])
    P = np.column_stack([values[i] for i in dynamics.parameters]) if dynamics.parameters else np.zeros(0)
    udot = dynamics.one_by_one(X, P)
    for i in symbols_of(equations.tape, equations.residuals):
        values.setdefault(i, _dyadic(random, 1.0, states))
    found = (_relative(equations, {i: Fraction(float(x[k])) for i, x in values.items()}, udot[k]) for k in range(states))
    return [x for x in found if x is not None]


def _relative(equations: Equations, state: dict[int, Any], udot: Any) -> float | None:
    """max |M u̇ − f| over the largest sum of sizes; None where M or f has no value, infinity where only native code has none."""
    n, has_values = len(equations.u), bool(np.isfinite(udot).all())
    entries = [(r, s, e) for r, row in enumerate(equations.M) for s, e in row.items()]
    # M and f contain no u̇, so that all may be evaluated at once
    exact = {**state, **{i: Fraction(float(x)) if has_values else 0 for i, x in zip(equations.udot, udot, strict=True)}}
    balls = evaluate_balls(equations.tape, [*(e for _, _, e in entries), *equations.f, *equations.residuals], exact, _DIGITS)
    balls, residuals = balls[:-n], balls[-n:]
    if not all(x.is_finite() for x in balls):
        return None
    if not has_values:
        return math.inf
    M, f = [abs(float(x.mid())) for x in balls[:-n]], [abs(float(x.mid())) for x in balls[-n:]]
    sizes = list(f)
    for (r, s, _), m in zip(entries, M, strict=True):
        sizes[r] += m * abs(float(udot[s]))
    # against the largest row, and what an acceleration of one would take: a row of zeros has no size of its own
    scale = max(*sizes, *M, np.finfo(float).tiny)
    left = max((float(x.abs_upper()) for x in residuals), default=0.0)
    return left / scale
