"""λ, the wrenches in the joints and the loads behind specified motions in a page: the nodes of `simulation.reactions` as functions.

Aᵀλ = d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q − Q is solved there for λ, with the u̇ of the module; every reaction is c + Σ k_j λ_j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from typing import Any, Final

from dalembert.algebra.folds import Linear, transplant
from dalembert.algebra.normal_form.normal import operation_count
from dalembert.algebra.tape import Tape
from dalembert.errors import DalembertError
from dalembert.kinetics.reactions import driving, reactions
from dalembert.kinetics.row_actions import held_rows
from dalembert.page.live.parts import ModulePart, expressions
from dalembert.simulation.reactions.finding import acts
from dalembert.simulation.reactions.loads import RunReactions
from dalembert.simulation.trajectory import Trajectory
from dalembert.states.evaluator import Evaluator

# operations beyond which reactions would make a page heavy, and bodies × coordinates beyond which there are as many without counting
_MOST: Final = 20_000
_MOST_PAIRS: Final = 300


@dataclass(frozen=True)
class LiveReactions:
    """The functions `balance` and `reactions` of (q, u, t, u̇), and what the engine must know; nothing where they cannot be had."""

    parts: tuple[ModulePart, ...] = ()
    data: dict[str, Any] | None = None


def live_reactions(run: Trajectory, evaluator: Evaluator) -> LiveReactions:
    """All reactions of a run, in the order of `reaction_places`."""
    if len(run.system.bodies) * evaluator.kin.n_q > _MOST_PAIRS:
        return LiveReactions()
    try:
        return _found(run, evaluator)
    except DalembertError:
        return LiveReactions()


def _found(run: Trajectory, evaluator: Evaluator) -> LiveReactions:
    kin = run.kinematics.fork()
    needs, found = driving(kin), reactions(kin)
    own = [k for k, row in enumerate(held_rows(kin)) if not row.is_norm]
    linear = Linear(found.tape, [row.multiplier.i for row in found.rows])
    forms: list[tuple[int, dict[int, int], Tape]] = []

    def add(nodes: Sequence[int]) -> None:
        for c, k in map(linear, nodes):
            forms.append((c, {own[r]: i for r, i in k.items()}, found.tape))

    N = run.system.N
    for joint in found.joints:
        add([c for v in (joint.force, joint.moment) for c in v.components(N)])
    for row in found.rows:
        add([c for v in (row.force, row.moment) if v is not None for c in v.components(N)])
        if row.force is None:
            add([row.multiplier.i])
    t = kin.tape
    forms += [(d.load, {j: t.neg(a) for j, a in enumerate(d.rows) if a != t.zero}, t) for d in needs.drives if acts(kin, d)]
    if not forms:
        return LiveReactions()
    outs: list[int] = []
    for tape, group in groupby(forms, lambda form: form[2]):
        outs += _reduced(evaluator, tape, [i for c, k, _ in group for i in (c, *k.values())])
    place = count()
    terms = [[next(place), [[j, next(place)] for j in k]] for _, k, _ in forms]
    balance = _reduced(evaluator, t, (*needs.along_q, *(a for row in needs.A for a in row)))
    if operation_count(evaluator.tape, (*outs, *balance)) > _MOST:
        return LiveReactions()
    state = (*evaluator.kin.state, evaluator.time, *evaluator.kin.udot)
    parts = (expressions("balance", evaluator.tape, balance, state), expressions("reactions", evaluator.tape, outs, state))
    return LiveReactions(parts, {"n": kin.n_q, "m": len(needs.A), "terms": terms})


def _reduced(evaluator: Evaluator, tape: Tape, nodes: Sequence[int]) -> list[int]:
    return [evaluator.reduced(i) for i in transplant(tape, evaluator.tape, nodes)]


def reaction_places(found: RunReactions) -> dict[tuple[str, str], int]:
    """{(name, "force", "moment", "lambda" or "load"): the place of its first number} among the reactions of a page."""
    sizes = list(_sizes(found))
    return {key: sum(size for _, size in sizes[:k]) for k, (key, _) in enumerate(sizes)}


def _sizes(found: RunReactions) -> Iterator[tuple[tuple[str, str], int]]:
    for joint in found.joints.values():
        yield (joint.name, "force"), 3
        yield (joint.name, "moment"), 3
    for row in found.rows.values():
        yield from (((row.name, what), 3) for what, x in (("force", row.force), ("moment", row.moment)) if x is not None)
        if row.force is None:
            yield (row.name, "lambda"), 1
    yield from (((drive.name, "load"), 1) for drive in found.drives.values())
