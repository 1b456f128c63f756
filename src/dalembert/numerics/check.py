"""Kane's residual at the u̇ that native code gives: the compiled route, held against the equations at random states.

Elimination on the tape doubles formal degrees joint by joint, so it is not certified in a prime field; it is compared in
floats instead, relative to the sum of the sizes of the terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.algebra.arithmetic import Arrays
from dalembert.algebra.folds import evaluate, symbols_of
from dalembert.equations.form import Equations
from dalembert.numerics.native import NativeDynamics

STATES = 20
TOLERANCE = 1e-8
# how far from zero states are drawn, one after the other until enough of them are such that the equations have values
REACHES = (1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1)


@dataclass(frozen=True)
class CompiledCheck:
    """The route compiled, at how many states it was held against the equations, and the largest relative residual."""

    route: str
    states: int
    worst: float

    @property
    def agrees(self) -> bool:
        """Whether rounding alone explains the residual."""
        return bool(self.worst <= TOLERANCE)

    def __str__(self) -> str:
        if not self.states:
            return f"native code, {self.route}: not compared, at no random state drawn do the equations have real values"
        verdict = "agrees" if self.agrees else "DIFFERS"
        return f"native code, {self.route}: {verdict}, relative residual {self.worst:.1e} at {self.states} random states"


def check_compiled(dynamics: NativeDynamics, equations: Equations, states: int = STATES, seed: int = 1) -> CompiledCheck:
    """u̇ by native code inserted in the residuals of the equations."""
    if not equations.u:
        return CompiledCheck(dynamics.equations.route, states, 0.0)  # nothing is free to accelerate
    random = np.random.default_rng(seed)
    kept = np.zeros(0)
    for reach in REACHES:
        kept = np.append(kept, _residuals(dynamics, equations, states, random, reach))[:states]
        if len(kept) == states:
            break
    worst = float(np.max(kept, initial=0.0))
    return CompiledCheck(dynamics.equations.route, len(kept), worst if np.isfinite(worst) else np.inf)


def _residuals(dynamics: NativeDynamics, equations: Equations, states: int, random: np.random.Generator, reach: float) -> Any:
    """The relative residual at those of so many random states at which the equations have values: √(l² − x²) may have none."""
    values = {i: reach * random.uniform(0.5, 1.5, states) for i in dynamics.state}
    values |= {i: random.uniform(0.5, 1.5, states) for i in dynamics.parameters}
    X = np.column_stack([values[i] for i in dynamics.state])
    P = np.column_stack([values[i] for i in dynamics.parameters]) if dynamics.parameters else np.zeros(0)
    udot = dynamics.batch_of(X, P)
    values |= dict(zip(equations.udot, udot.T, strict=True))
    for i in symbols_of(equations.tape, equations.residuals):
        values.setdefault(i, random.uniform(0.5, 1.5, states))
    outs = [*equations.residuals, *(k for row in equations.M for k in row.values()), *equations.f]
    n = len(equations.u)
    with np.errstate(all="ignore"):
        found = [np.broadcast_to(v, states) for v in evaluate(equations.tape, outs, values.__getitem__, Arrays())]
        entries = iter(found[n:-n])
        sizes = [np.abs(f) + sum(np.abs(next(entries) * udot[:, s]) for s in row) for f, row in zip(found[-n:], equations.M, strict=True)]
        # against the largest row: one that is nothing but zeros has no size of its own
        scale = np.maximum(np.max(sizes, axis=0), _inertia(found[n:-n]))
        worst = np.max(np.abs(found[:n]) / scale, axis=0)
    # where M and f have values, native code must have them too
    return np.where(np.isfinite(worst), worst, np.inf)[np.all(np.isfinite(found[n:]), axis=0)]


def _inertia(entries: list[Any]) -> Any:
    """The largest entry of M: what an acceleration of one would take, where nothing accelerates."""
    return np.maximum(np.max(np.abs(entries), axis=0), np.finfo(float).tiny)
