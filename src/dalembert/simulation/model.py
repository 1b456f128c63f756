"""(q̇, u̇) and δq as native code with one common list of parameters."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.folds import Rewrite, symbols_of, transplant
from dalembert.equations.explicit import ExplicitEquations
from dalembert.equations.projection import projection
from dalembert.numerics.compiled import CompiledFunction
from dalembert.simulation.setting import Setting


@dataclass(frozen=True)
class NativeModel:
    """What the integrator calls, and the symbols that are its parameters."""

    rates: CompiledFunction
    projection: CompiledFunction | None
    parameters: tuple[int, ...]


def native_model(setting: Setting, equations: ExplicitEquations) -> NativeModel:
    """Compile the equations as set; what was compiled for the same description and bindings is used again."""
    kin = setting.kin
    key = ("native model", equations.route, tuple(setting.bindings.items()))
    found = kin.derived.get(key)
    if isinstance(found, NativeModel):
        return found
    tape = kin.tape
    insert = Rewrite(tape, setting.bindings)
    rates = [insert(i) for i in transplant(equations.tape, tape, (*equations.qdot, *equations.udot))]
    back = projection(kin)
    steps = [] if back is None else [insert(i) for i in transplant(back.tape, tape, (*back.step, back.residual))]
    state = (*kin.q, *kin.u, kin.system.t.i)
    parameters = tuple(i for i in symbols_of(tape, (*rates, *steps)) if i not in state)
    model = NativeModel(
        CompiledFunction(tape, rates, state, parameters),
        CompiledFunction(tape, steps, state, parameters) if steps else None,
        parameters,
    )
    kin.derived[key] = model
    return model
