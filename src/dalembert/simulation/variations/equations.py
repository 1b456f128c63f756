"""d/dt S = ∂f/∂x S + ∂f/∂p: the equations of motion with their derivatives along given directions, as one native function.

x = (q, u) and x' = f(x, t, p); a column of S = ∂x/∂p stands in the state after x. What f and its derivatives have in common is
computed once, and columns cost each about as much as f.

Source: HNW1 I.14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dalembert.algebra.columns import Column, contracted
from dalembert.algebra.folds import Derivative, Linear
from dalembert.algebra.tape import Tape
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.numerics.compiled import CompiledFunction
from dalembert.ode.constrained.rates import ConstrainedRates, Tangents
from dalembert.once import MadeOnce
from dalembert.simulation.model import NativeModel

# the constants of the directions, None for one that only the start begins
Directions = tuple[int | None, ...]
_VARIED: Final = MadeOnce[NativeModel]()
_TANGENTS: Final = MadeOnce[Tangents]()


def varied_model(kin: Kinematics, model: NativeModel, directions: Directions) -> NativeModel:
    """The model with state (x, S, t); what was compiled for the same model and directions is used again."""
    if isinstance(model.rates, ConstrainedRates):
        tangents = _TANGENTS(kin, (model.tape, directions), lambda: _constrained(kin, model, directions))
        return replace(model, rates=model.rates.with_tangents(tangents))
    return _VARIED(kin, (model, directions), lambda: _explicit(model, directions))


def columns_of(tape: Tape, state: Sequence[int], directions: Directions) -> list[list[int]]:
    """The symbols of S, column by column."""
    return [[tape.symbol(f"∂{k}/∂{j}") for k in range(len(state))] for j in range(len(directions))]


def along(tape: Tape, state: Sequence[int], column: Sequence[int], constant: int | None) -> Derivative:
    """de/dp = ∂e/∂x S + ∂e/∂p"""
    rates = dict(zip(state, column, strict=True))
    if constant is not None:
        rates[constant] = tape.one
    return Derivative(tape, rates.get)


def _explicit(model: NativeModel, directions: Directions) -> NativeModel:
    tape, (*x, t) = model.tape.fork(), model.state
    S = columns_of(tape, x, directions)
    rates, steps = list(model.nodes), list(model.steps[:-1])
    still = [tape.zero] * (len(x) - len(steps))
    moves = [*steps, *still]
    for column, constant in zip(S, directions, strict=True):
        d = along(tape, x, column, constant)
        rates += [d(e) for e in model.nodes]
        moves += [*(d(e) for e in steps), *still]
    state = (*x, *(s for column in S for s in column), t)
    compiled = CompiledFunction(tape, rates, state, model.parameters)
    back = CompiledFunction(tape, [*moves, model.steps[-1]], state, model.parameters) if model.steps else None
    return replace(model, rates=compiled, projection=back, tape=tape, nodes=tuple(rates), state=state)


def _constrained(kin: Kinematics, model: NativeModel, directions: Directions) -> Tangents:
    """The derivatives of M ż = f + Aᵀλ and A ż + γ = 0 with ż and λ held, those of φ and e, and E δz."""
    assert model.entries is not None
    tape, (*x, t), entries = model.tape.fork(), model.state, model.entries
    n, m = len(entries.f), len(entries.A)
    S = columns_of(tape, x, directions)
    zdot, lam = ([tape.symbol(f"∂{name}{k}") for k in range(count)] for name, count in (("ż", n), ("λ", m)))
    left = _mass_times(tape, entries.M, zdot)
    force = [contracted(tape, ((row[r], lam[j]) for j, row in enumerate(entries.A) if r in row), entries.f[r]) for r in range(n)]
    balance = Column(tape, force) - Column(tape, left)
    rows = [contracted(tape, ((a, zdot[s]) for s, a in row.items()), g) for row, g in zip(entries.A, entries.gamma, strict=True)]
    equations: list[int] = []
    held: list[int] = []
    for column, constant in zip(S, directions, strict=True):
        d = along(tape, x, column, constant)
        equations += [d(e) for e in (*entries.qdot, *balance, *rows)]
        held += [d(e) for e in (*entries.phi, *entries.e)]
    z = x[len(entries.qdot) :]
    linear = Linear(tape, z)
    shift = [contracted(tape, ((c, z[r]) for r, c in linear(e)[1].items())) for e in entries.qdot[: kin.n_q]]
    # nothing moves first-order states onto rows
    shift += [tape.zero] * (len(entries.qdot) - kin.n_q)
    state = (*x, *(s for column in S for s in column), t)
    p = model.parameters
    return Tangents(
        len(directions),
        CompiledFunction(tape, equations, (*state, *zdot, *lam), p),
        CompiledFunction(tape, held, state, p),
        CompiledFunction(tape, shift, model.state, p),
    )


def _mass_times(tape: Tape, M: Sequence[dict[int, int]], zdot: Sequence[int]) -> list[int]:
    """M ż with M from its upper half."""
    full: list[dict[int, int]] = [{} for _ in M]
    for r, row in enumerate(M):
        for s, i in row.items():
            if s >= r:
                full[r][s] = full[s][r] = i
    return [contracted(tape, ((i, zdot[s]) for s, i in row.items())) for row in full]
