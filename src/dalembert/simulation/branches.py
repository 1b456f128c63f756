"""σ = sign g(q, u, t): rates with a symbol for the side of every branch that the state decides, smooth between two switchings.

sign g becomes σ + φ sign g, and |g| becomes (σ + φ sign g) g. While a run knows the side, σ = ±1 and φ = 0: a step may reach
beyond g = 0 and stays smooth, so that where it crosses is known to all its digits. With σ = 0 and φ = 1 the jump is the
error control's. One piece of machine code serves all sides, as it serves all modes of contacts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.algebra.folds import Rewrite, symbols_of, transplant
from dalembert.arrays import Numbers
from dalembert.numerics.compiled import CompiledFunction
from dalembert.once import MadeOnce
from dalembert.simulation.energy_audit import Audit, Watched
from dalembert.simulation.model import NativeModel
from dalembert.states.values import Values, parameters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dalembert.algebra.tape import Tape


class TwoSided(NamedTuple):
    """g, σ and φ as nodes."""

    argument: int
    side: int
    free: int


@dataclass(frozen=True)
class BranchedModel:
    """The rates, and the rates of what rides along, with the sides of their branches as parameters; g on the tape of the rates."""

    native: NativeModel
    audit: Audit | None
    branches: tuple[TwoSided, ...]

    @property
    def flags(self) -> dict[int, float]:
        """Every σ and φ, as long as no side is known."""
        return {i: x for b in self.branches for i, x in ((b.side, 0.0), (b.free, 1.0))}


class SidedModel(NamedTuple):
    """A model with sides, its parameters in one run, and what rides along."""

    model: BranchedModel
    p: Numbers
    watched: Watched | None


_BRANCHED: Final = MadeOnce[BranchedModel]()


def with_sides(setting: Values, model: NativeModel, watched: Watched | None, key: tuple[object, ...]) -> SidedModel:
    """The model of a run with sides; what was compiled for the same `key` and bindings is used again."""
    audit = None if watched is None else watched.audit
    whole = (key, setting.bound, None if audit is None else audit.names)
    sided = _BRANCHED(setting.kin, whole, lambda: _compiled(model, audit))
    known = replace(setting, numbers={**setting.numbers, **sided.flags})

    def numbers(symbols: tuple[int, ...]) -> Numbers:
        return np.array(parameters_of(known, symbols), dtype=float)

    rides = None if sided.audit is None else Watched(sided.audit, numbers(sided.audit.parameters))
    return SidedModel(sided, numbers(sided.native.parameters), rides)


def _compiled(model: NativeModel, audit: Audit | None) -> BranchedModel:
    tape = model.tape.fork()
    branches, insert = _sides(tape, model.switching)
    rates = tuple(map(insert, model.nodes))
    symbols = symbols_of(tape, (*rates, *model.steps))
    parameters = tuple(i for i in symbols if i not in model.state)
    native = replace(
        model,
        rates=CompiledFunction(tape, rates, model.state, parameters),
        projection=CompiledFunction(tape, model.steps, model.state, parameters) if model.steps else None,
        parameters=parameters,
        tape=tape,
        nodes=rates,
        autonomous=model.state[-1] not in symbols_of(tape, rates),
        implied=None,
    )
    # after the rates: whether something rides along must not show in their last bits
    return BranchedModel(native, None if audit is None else _audit(tape, insert, audit), branches)


def _sides(tape: Tape, arguments: Sequence[int]) -> tuple[tuple[TwoSided, ...], Rewrite]:
    """The branches with these arguments, and what puts their sides into expressions."""
    branches, replaced = [], dict[int, int]()
    # what stands inside an argument was made before it
    for k, a in enumerate(sorted(arguments)):
        g = Rewrite(tape, replaced)(a)
        b = TwoSided(g, tape.symbol(f"side of branch {k}"), tape.symbol(f"freedom of branch {k}"))
        side = tape.add(b.side, tape.mul(b.free, tape.call("sign", g)))
        for op, value in (("sign", side), ("abs", tape.mul(side, g))):
            if tape.nodes[i := tape.call(op, a)] == (op, a, None):
                replaced[i] = value
        branches.append(b)
    return tuple(branches), Rewrite(tape, replaced)


def _audit(tape: Tape, insert: Rewrite, audit: Audit) -> Audit:
    rates, energies = (tuple(map(insert, transplant(audit.tape, tape, nodes))) for nodes in (audit.nodes, audit.energies))
    parameters = tuple(i for i in symbols_of(tape, (*rates, *energies)) if i not in audit.state)
    compiled = CompiledFunction(tape, rates, audit.state, parameters) if rates else None
    return replace(audit, rates=compiled, parameters=parameters, tape=tape, nodes=rates, energies=energies)
