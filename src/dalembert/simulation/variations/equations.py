"""d/dt S = ∂f/∂x S + ∂f/∂p: the equations of motion with their derivatives along given directions, as one native function.

x = (q, u) and x' = f(x, t, p); a column of S = ∂x/∂p stands in the state after x. What f and its derivatives have in common is
computed once, and columns cost each about as much as f.

Source: HNW1 I.14 (14.14).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dalembert.algebra.folds import Derivative
from dalembert.algebra.tape import Tape
from dalembert.errors import NotApplicable
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.numerics.compiled import CompiledFunction
from dalembert.ode.constrained.rates import ConstrainedRates
from dalembert.once import MadeOnce
from dalembert.simulation.model import NativeModel

# the constants of the directions, None for one that only the start begins
Directions = tuple[int | None, ...]
_VARIED: Final = MadeOnce[NativeModel]()


def varied_model(kin: Kinematics, model: NativeModel, directions: Directions) -> NativeModel:
    """The model with state (x, S, t); what was compiled for the same model and directions is used again."""
    if isinstance(model.rates, ConstrainedRates):
        msg = "sensitivities with rows beside the equations are not carried yet; declare independent speeds (s.speeds)"
        raise NotApplicable(msg)
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
