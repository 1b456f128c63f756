"""δẋ = Σ ∂ẋ/∂v δv, v = (t, x, w, p): what an FMU gives changes by along a direction, in one function beside the rates."""

from __future__ import annotations

from dataclasses import replace

from dalembert.algebra.folds import Derivative
from dalembert.exports.model import DIRECTIONAL, ExportedFunction, Model, Result, Variable


def with_directions(model: Model) -> Model:
    """The model with the changes of rates, outputs and energies along a change of t, x, w and p.

    One pass over the operations: about three for each one, however many variables there are.
    """
    tape, named = model.tape.fork(), model.named
    known = [model.time, *(v.node for v in (*model.states, *model.inputs, *model.parameters))]
    seeds = {i: tape.private_symbol(f"seed_{k}") for k, i in enumerate(known)}
    change = Derivative(tape, seeds.get)
    wanted = [i for name in ("rates", "outputs", "energies") if name in named for i in named[name].nodes]
    result = Result("change", tuple(map(change, wanted)), (len(wanted),))
    says = "the change of (dx/dt, y, T, V) along a change `seed` of (t, x, w, constants)"
    functions = (*model.functions, ExportedFunction(DIRECTIONAL, says, (result,)))
    return replace(model, tape=tape, functions=functions, seeds=tuple(Variable(i, f"seed_{k}") for k, i in enumerate(seeds.values())))
