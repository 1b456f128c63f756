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
        verdict = "agrees" if self.agrees else "DIFFERS"
        return f"native code, {self.route}: {verdict}, relative residual {self.worst:.1e} at {self.states} random states"


def check_compiled(dynamics: NativeDynamics, equations: Equations, states: int = STATES, seed: int = 1) -> CompiledCheck:
    """u̇ by native code inserted in the residuals of the equations."""
    if not equations.u:
        return CompiledCheck(dynamics.equations.route, states, 0.0)  # nothing is free to accelerate
    random = np.random.default_rng(seed)
    tape = equations.tape
    values = {i: random.uniform(0.5, 1.5, states) for i in (*dynamics.state, *dynamics.parameters)}
    X = np.column_stack([values[i] for i in dynamics.state])
    P = np.column_stack([values[i] for i in dynamics.parameters]) if dynamics.parameters else np.zeros(0)
    udot = dynamics.batch_of(X, P)
    values |= dict(zip(equations.udot, udot.T, strict=True))
    for i in symbols_of(tape, equations.residuals):
        values.setdefault(i, random.uniform(0.5, 1.5, states))
    outs = [*equations.residuals, *(k for row in equations.M for k in row.values()), *equations.f]
    found = [np.broadcast_to(v, states) for v in evaluate(tape, outs, values.__getitem__, Arrays())]
    n = len(equations.u)
    entries = iter(found[n:-n])
    sizes = [np.abs(f) + sum(np.abs(next(entries) * udot[:, s]) for s in row) for f, row in zip(found[-n:], equations.M, strict=True)]
    # against the largest row: one that is nothing but zeros has no size of its own
    scale = np.maximum(np.max(sizes, axis=0), _inertia(found[n:-n]))
    worst = float(np.max(np.abs(found[:n]) / scale))
    return CompiledCheck(dynamics.equations.route, states, worst if np.isfinite(worst) else np.inf)


def _inertia(entries: list[Any]) -> Any:
    """The largest entry of M: what an acceleration of one would take, where nothing accelerates."""
    return np.maximum(np.max(np.abs(entries), axis=0), np.finfo(float).tiny)
