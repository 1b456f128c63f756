"""x → x(t), ẋ → dx/dt, …: specified motions and inputs replaced by what they are bound to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dalembert.algebra.folds import Derivative, Rewrite
from dalembert.algebra.scalar import Scalar, on
from dalembert.algebra.tape import Tape
from dalembert.equations.explicit import ExplicitEquations


def jets(tape: Tape, bindings: Mapping[int, Scalar]) -> dict[int, int]:
    """{x: x(t), x': dx/dt, …} for every rate of a bound symbol that the tape knows."""
    rate = Derivative(tape, tape.rate)
    found: dict[int, int] = {}
    for x, motion in bindings.items():
        symbol: int | None = x
        value = on(tape, motion)
        while symbol is not None:
            found[symbol] = value
            symbol = tape.rates.get(symbol)
            value = rate(value) if symbol is not None else value
    return found


def bound(equations: ExplicitEquations, bindings: Mapping[int, Scalar]) -> ExplicitEquations:
    """The equations with specified motions and inputs given as expressions."""
    if not bindings:
        return equations
    t = equations.tape.fork()
    insert = Rewrite(t, jets(t, bindings))
    return replace(equations, tape=t, qdot=tuple(insert(e) for e in equations.qdot), udot=tuple(insert(e) for e in equations.udot))
