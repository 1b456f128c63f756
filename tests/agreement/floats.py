"""u̇ in floats: a second opinion on what the prime fields say, at states whose symbols have the
same values on every tape.
"""

from __future__ import annotations

from random import Random

import numpy as np

import dalembert as da
from dalembert.mechanics.equations.equations_of_motion import Equations
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of

# how much of the 16 digits a disagreement must exceed
TOLERANCE = 1e-9


def value(name: str, state: int = 0) -> float:
    """What a symbol stands for: drawn from its name, so that every derivation sees the same
    state.
    """
    return Random(f"{name} {state}").uniform(0.5, 1.5)


def accelerations(equations: Equations, state: int = 0) -> np.ndarray:
    """u̇ from M u̇ = f at a random state."""
    t, n = equations.tape, len(equations.u)
    nodes = [
        row.get(s, t.zero) for row in equations.mass_nodes for s in range(n)
    ] + equations.forcing_nodes
    values = np.array(evaluate(t, nodes, lambda i: value(t.nodes[i][1], state), FloatArithmetic()))
    M, f = values[: n * n].reshape(n, n), values[n * n :]
    assert np.linalg.cond(M) < 1e8, "this state is singular: choose another"
    return np.linalg.solve(M, f)


def close(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two sets of accelerations are the same up to rounding."""
    return bool(np.max(np.abs(a - b), initial=0) <= TOLERANCE * (1 + np.max(np.abs(a), initial=0)))


def compiled_route_agrees(system: da.System, states: int = 3) -> bool:
    """Whether native code gives the u̇ of Kane's equations, to as many digits as the condition
    of M allows.
    """
    equations, native = da.kane(system).equations, da.compile(system)
    t, n = equations.tape, len(equations.u)
    nodes = [
        row.get(s, t.zero) for row in equations.mass_nodes for s in range(n)
    ] + equations.forcing_nodes
    for state in range(states):
        known = {
            i: value(native.equations.tape.nodes[i][1], state)
            for i in (*native.state, *native.parameters)
        }
        known |= {i: value(t.nodes[i][1], state) for i in symbols_of(t, nodes) if i not in known}
        X, P = ([[known[i] for i in part]] for part in (native.state, native.parameters))
        udot = native.evaluate_each(np.array(X), np.array(P) if native.parameters else np.zeros(0))[
            0
        ]
        values = np.array(evaluate(t, nodes, known.__getitem__, FloatArithmetic()))
        M, f = values[: n * n].reshape(n, n), values[n * n :]
        expected, condition = np.linalg.solve(M, f), np.linalg.cond(M)
        if condition < 1e6 and not np.max(np.abs(udot - expected)) <= 1e-13 * condition * (
            1 + np.max(np.abs(expected))
        ):
            return False
    return True
