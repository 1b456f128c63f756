"""(q̇, u̇) and δq as native code with one common list of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dalembert.algebra.folds import Rewrite, needed, symbols_of, transplant
from dalembert.algebra.tape import Tape
from dalembert.equations.explicit import ExplicitEquations
from dalembert.equations.projection import projection
from dalembert.numerics.compiled import CompiledFunction
from dalembert.simulation.setting import Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class NativeModel:
    """What the integrator calls, and the symbols that are its parameters."""

    rates: CompiledFunction
    projection: CompiledFunction | None
    parameters: tuple[int, ...]
    # the same rates as expressions, for integrators that want them so
    tape: Tape
    nodes: tuple[int, ...]
    state: tuple[int, ...]


def native_model(setting: Setting, equations: ExplicitEquations) -> NativeModel:
    """Compile the equations as set; what was compiled for the same description and bindings is used again."""
    kin = setting.kin
    # beyond the mark an index means something else on every fork, so the nodes themselves are part of the key
    own = tuple((i, kin.tape.nodes[i]) for i in needed(kin.tape, setting.bindings.values()) if i >= kin.mark)
    key = ("native model", equations.route, tuple(setting.bindings.items()), own)
    found = kin.derived.get(key)
    if isinstance(found, NativeModel):
        return found
    tape = kin.tape
    insert = Rewrite(tape, setting.bindings)

    def here(source: Tape, nodes: Sequence[int]) -> list[int]:
        return [insert(i) for i in transplant(source, tape, nodes)]

    rates = here(equations.tape, (*equations.qdot, *equations.udot))
    back = projection(kin)
    steps = [] if back is None else here(back.tape, (*back.step, back.residual))
    state = (*kin.q, *kin.u, kin.system.t.i)
    parameters = tuple(i for i in symbols_of(tape, (*rates, *steps)) if i not in state)
    compiled = CompiledFunction(tape, rates, state, parameters)
    back_native = CompiledFunction(tape, steps, state, parameters) if steps else None
    model = NativeModel(compiled, back_native, parameters, tape, tuple(rates), state)
    kin.derived[key] = model
    return model


@dataclass(frozen=True)
class Accelerations:
    """u̇ of states in rows, each at its time."""

    rates: CompiledFunction
    parameters: Numbers
    n_u: int

    def __call__(self, q: Numbers, u: Numbers, t: Numbers, /) -> Numbers:
        """u̇ at (q, u, t), row by row."""
        states = np.column_stack([q, u, t])
        n_q = q.shape[1]
        found: Numbers = self.rates.batch(states, self.parameters)[:, n_q : n_q + self.n_u]
        return found
