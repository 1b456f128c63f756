"""[X, Y] = (∂Y/∂q) X − (∂X/∂q) Y: which positions the rows let a system reach, and so which rows
are on positions in disguise.
Keywords: integrability.

The rows θ_i = A_i dq + b_i dt allow the velocities D = {(q̇, 1)}: θ_i = 0. The derived flag I ⊃ I′
⊃ I″ … of the span I of the θ_i, I′ = {θ ∈ I : dθ ≡ 0 mod I}, ends with the largest integrable part
of I (Frobenius). It is computed from the other side: its annihilator is the smallest set of vector
fields that contains D and, with any two fields, their bracket. Ranks are decided at random points
of prime fields; `configurations.undecided` bounds the chance that one was lost.

Integrability is a matter of the set: a knife edge alone is nonholonomic, together with ψ̇ = 0 both
rows integrate. A row is holonomic after integration where its one-form lies in the largest
integrable part of the span of all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from dalembert.analysis.constraint_analysis.declared_rows import DeclaredRows
from dalembert.analysis.constraint_analysis.redundant_constraints import (
    RANK_TOLERANCE,
    EvaluationContext,
)
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.symbolic.algebra.elimination import Elimination
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints, provably_zero, rank_mod
from dalembert.symbolic.algebra.expression_graph import Derivative
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.analysis.constraint_analysis.pfaffian_integrals import HiddenPosition

# components along q_1, …, q_n and, where time enters, along t
Field = tuple[int, ...]
# the indices of the first fields that span all of them
Basis = Callable[[Sequence[Field]], list[int]]


@dataclass(frozen=True)
class InvolutiveClosure:
    """The fields whose brackets give nothing new, the number of directions, and how the span
    grew from bracket to bracket.
    """

    fields: tuple[Field, ...]
    dimension: int
    growth: tuple[int, ...]

    @property
    def n_integrals(self) -> int:
        """How many independent functions of position (and time) the rows keep constant."""
        return self.dimension - len(self.fields)

    def is_annihilator(self, rows: DeclaredRows, theta: Sequence[int]) -> bool:
        """Whether a one-form vanishes on everything that can be reached."""
        t = rows.tape
        return all(
            provably_zero(t, [sum_of_products(t, zip(X, theta, strict=True)) for X in self.fields])
        )


def admissible_fields(rows: DeclaredRows) -> tuple[list[Field], int]:
    """The velocities that the rows allow, as fields: one for each free rate, and the drift ∂_t +
    X where time enters.
    """
    t, n = rows.tape, rows.n
    timed = rows.is_rheonomic
    solved, _ = Elimination(
        t, [(r.b, dict(r.A)) for r in rows.linear], lambda k: -k, t.moving
    ).run()
    fields = []
    for j in range(n):
        if j not in solved:
            column = [
                t.neg(solved[k][1].get(j, t.zero)) if k in solved else t.zero for k in range(n)
            ]
            column[j] = t.one
            fields.append((*column, *([t.zero] if timed else [])))
    if timed:
        fields.append((*(t.neg(solved[k][0]) if k in solved else t.zero for k in range(n)), t.one))
    return fields, n + timed


def involutive_closure(rows: DeclaredRows, basis: Basis | None = None) -> InvolutiveClosure:
    """The fields that the allowed velocities generate; `basis` decides which fields are independent
    (by default: exactly, at random).
    """
    choose = basis or exact_basis(rows.tape)
    D, width = admissible_fields(rows)
    most = width - len(independent_position_rows(rows))
    fields = [D[k] for k in choose(D)]
    growth, fresh = [len(fields)], list(fields)
    t, derivative = rows.tape, cache(partial(lie_derivative, rows))

    def lie(X: Field, Y: Field) -> Field:
        """[X, Y]; prescribed motions move with time."""
        return tuple(t.sub(derivative(X)(y), derivative(Y)(x)) for x, y in zip(X, Y, strict=True))

    while fresh and len(fields) < most:
        # brackets with the first fields are enough: the others are brackets of brackets
        seen = [lie(X, Y) for k, Y in enumerate(fresh) for X in (D if len(growth) > 1 else D[:k])]
        kept = choose([*fields, *seen])
        fresh = [seen[k - len(fields)] for k in kept if k >= len(fields)]
        fields += fresh
        if fresh:
            growth.append(len(fields))
    return InvolutiveClosure(tuple(fields), width, tuple(growth))


def independent_position_rows(rows: DeclaredRows) -> list[int]:
    """The first position rows that are independent of one another: no bracket leads out of them."""
    held = [k for k, r in enumerate(rows.linear) if r.holonomic]
    if not held:
        return []
    rank = RandomPoints(rows.tape, 1).at(
        0, lambda point: rank_mod([rows.matrix(point)[k] for k in held], point.prime)
    )
    return [held[k] for k in rank.independent]


def exact_basis(tape: Tape) -> Basis:
    """Independence at one random point of a prime field, kept from question to question."""
    trials = RandomPoints(tape, 1)

    def choose(fields: Sequence[Field]) -> list[int]:
        return (
            trials.at(
                0,
                lambda point: rank_mod([point.values(X) for X in fields], point.prime).independent,
            )
            if fields
            else []
        )

    return choose


def lie_derivative(rows: DeclaredRows, X: Field) -> Derivative:
    """X(e) = Σ X_k ∂e/∂q_k + X_t ∂_t e, where ∂_t acts through prescribed motions too."""
    t = rows.tape
    place = dict(zip(rows.q, X, strict=False))
    time = X[rows.n] if len(X) > rows.n else t.zero

    def rate(x: int) -> int | None:
        if x in place:
            return place[x]
        own = t.rate(x) if time != t.zero and x in t.moving else None
        return None if own is None else t.mul(time, own)

    return Derivative(t, rate)


# ---- what each row is ---------------------------------------------------------------------------

HOLONOMIC, INTEGRATED, NONHOLONOMIC, UNDECIDED = (
    "holonomic",
    "holonomic after integration",
    "nonholonomic",
    "undecided",
)


@dataclass(frozen=True)
class RowClass(Displayable):
    """The classification of one constraint row; `integral` is φ(q, t) = constant where it
    was written out.
    """

    name: str
    kind: str
    # whether time enters, by itself or through a prescribed motion
    rheonomic: bool
    integral: str = ""

    @property
    def holonomic(self) -> bool | None:
        """As it stands or after integration; None where that is undecided."""
        return None if self.kind == UNDECIDED else self.kind != NONHOLONOMIC

    @property
    def is_integrated(self) -> bool:
        """On velocities as declared, on positions in truth."""
        return self.kind == INTEGRATED

    @property
    def description(self) -> str:
        """The class without the integral."""
        if self.kind == UNDECIDED:
            return "whether it integrates is undecided"
        return ("rheonomic, " if self.rheonomic else "") + self.kind

    def __str__(self) -> str:
        return self.description + (f": {self.integral}" if self.integral else "")


@dataclass(frozen=True)
class LocalClosure:
    """What can be reached where the rows hold, compared in numbers at some such positions."""

    rows: DeclaredRows
    reached: InvolutiveClosure
    situation: EvaluationContext
    positions: tuple[FloatArray, ...]

    def is_annihilator(self, k: int) -> bool:
        """Whether θ·X of one row is rounding at every position, for every field X."""
        n = self.reached.dimension
        theta = self.rows.one_form(k, n)
        for q in self.positions:
            numbers = self.situation.at(
                [*theta, *(x for X in self.reached.fields for x in X)], q
            ).reshape(-1, n)
            size = np.linalg.norm(numbers[0]) * np.linalg.norm(numbers[1:], axis=1)
            # not < rather than >=: what has no value there holds nothing
            if not np.all(
                np.abs(numbers[1:] @ numbers[0])
                <= RANK_TOLERANCE * np.maximum(size, np.finfo(float).tiny)
            ):
                return False
        return True


def row_classes(
    rows: DeclaredRows,
    reached: InvolutiveClosure,
    place: LocalClosure | None,
    hidden: Sequence[HiddenPosition],
    *,
    is_uncertain: bool,
) -> tuple[RowClass, ...]:
    """One for every row, the quaternions' norms left out, in order of declaration.

    `doubt`: a rank lost by chance makes the reach too small, and a row look integrable; it cannot
    make one look as if it were not.
    """
    alone = {h.rows[0]: str(h) for h in hidden if len(h.rows) == 1}
    classes = {r.name: RowClass(r.name, UNDECIDED, rheonomic=False) for r in rows.nonlinear}
    for k, row in enumerate(rows.linear):
        word = _classify_row(rows, k, reached, place, doubt=is_uncertain)
        integral = alone.get(row.name, "") if word == INTEGRATED else ""
        classes[row.name] = RowClass(
            row.name, word, replace(rows, linear=(row,)).is_rheonomic, integral
        )
    return tuple(classes[c.name] for c in rows.system.constraints if c.name in classes)


def _classify_row(
    rows: DeclaredRows,
    k: int,
    reached: InvolutiveClosure,
    place: LocalClosure | None,
    *,
    doubt: bool,
) -> str:
    if rows.linear[k].holonomic:
        return HOLONOMIC
    if not any(reached.fields):
        # only rows on positions are independent: this one repeats some of them
        return INTEGRATED
    if reached.is_annihilator(rows, rows.one_form(k, reached.dimension)) or (
        place is not None and place.is_annihilator(k)
    ):
        return UNDECIDED if doubt else INTEGRATED
    # together with rows that are not linear in the rates it might integrate after all
    return UNDECIDED if rows.nonlinear else NONHOLONOMIC
