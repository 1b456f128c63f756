"""A q̇ + b = 0: the constraint rows of a system, checked for independence; what one that
contradicts others is off by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

from dalembert.errors import IllPosed
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.model.elements import RollingContact
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    evaluate,
    gradient,
    is_monomial,
    symbols_of,
)
from dalembert.symbolic.algebra.sparse_matrix import drop_zero_entries
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.exact.finite_field import Element
    from dalembert.symbolic.algebra.exact.sample_point import SamplePoint

# states at which it must be the same number
_N_STATES = 3
_TOLERANCE = 1e-9


def constant_contradiction(
    tape: Tape,
    numbers: dict[int, float],
    row: tuple[int, dict[int, int]],
    others: Sequence[tuple[int, dict[int, int]]],
) -> float | None:
    """The number that remains, or None where it depends on the state or on constants without a
    value.

    A row is (φ, A); `numbers` gives the constants.
    """
    nodes = [x for value, A in (row, *others) for x in (value, *A.values())]
    inside = symbols_of(tape, nodes)
    if any(i not in numbers and i not in tape.moving for i in inside):
        return None
    from random import Random

    draw = Random(1)  # noqa: S311 - nothing is to be kept secret
    residuals = []
    for _ in range(_N_STATES):
        state = {i: numbers.get(i, draw.uniform(0.2, 0.9)) for i in inside}
        residuals.append(_residual_off_span(tape, state, row, others))
    first = residuals[0]
    same = all(abs(x - first) <= _TOLERANCE * (1 + abs(first)) for x in residuals)
    return first if same and abs(first) > _TOLERANCE else None


def _residual_off_span(
    tape: Tape,
    state: dict[int, float],
    row: tuple[int, dict[int, int]],
    others: Sequence[tuple[int, dict[int, int]]],
) -> float:
    import numpy as np

    def numbers(value: int, A: dict[int, int]) -> tuple[float, dict[int, float]]:
        x, *slopes = evaluate(tape, [value, *A.values()], state.__getitem__, FloatArithmetic())
        return float(x), dict(zip(A, map(float, slopes), strict=True))

    own, rest = numbers(*row), [numbers(*other) for other in others]
    columns = sorted({k for _, A in (own, *rest) for k in A})
    slopes = np.array([[A.get(k, 0.0) for k in columns] for _, A in rest]).reshape(
        len(rest), len(columns)
    )
    c, *_ = np.linalg.lstsq(slopes.T, np.array([own[1].get(k, 0.0) for k in columns]), rcond=None)
    return own[0] - float(c @ np.array([x for x, _ in rest]))


@dataclass(frozen=True)
class ConstraintRow:
    """One row Σ_k A_k q̇_k + b = 0, and where it comes from."""

    name: str
    holonomic: bool
    A: dict[int, int]
    b: int
    # φ for a holonomic row
    phi: int | None = None
    contact: RollingContact | None = None
    # the row e·ė = 0 of a quaternion: no body carries its multiplier
    is_norm: bool = False
    # declared to follow from the others wherever these hold
    redundant: bool = False
    # φ(q, q̇, t) of a row that is not linear in the rates; A = ∂φ/∂q̇ then depends on them, and b
    # is not used
    nonlinear: int | None = None


@dataclass(frozen=True)
class VelocityRow:
    """e(q, u, t) = 0 in augmented form, and ė = Σ_r A_r u̇_r + γ = 0.

    A = ∂e/∂u is also what the multiplier acts along: A u + b for a linear row, and Chetaev's rule
    for one that is not.
    """

    row: ConstraintRow
    e: int
    A: dict[int, int]
    gamma: int


def constraint_rows(
    system: System, tape: Tape, qdot: list[int], in_rates: Substitution
) -> tuple[ConstraintRow, ...]:
    """Every declared row with its A and b in q̇, then the norm rows of the quaternions, checked
    for independence.
    """
    rows = declared_rows(system, tape, qdot, in_rates)
    numbers = {s.scalar.i: float(s.value) for s in system.symbols.values() if s.value is not None}
    _check_independent(
        tape, [r for r in rows if not r.redundant and r.nonlinear is None], len(qdot), numbers
    )
    return tuple(rows)


def declared_rows(
    system: System, tape: Tape, qdot: list[int], in_rates: Substitution
) -> list[ConstraintRow]:
    """The same rows whether they are independent or not."""
    linear = LinearCoefficients(tape, qdot)
    rate = Derivative(tape, tape.rate)
    rows = []
    for c in system.constraints:
        phi = in_rates(c.expression.i)
        if c.nonlinear:
            slopes = gradient(tape, {phi: tape.one}, qdot)
            A = drop_zero_entries(tape, dict(enumerate(slopes)))
            row = ConstraintRow(c.name, False, A, tape.zero, redundant=c.redundant, nonlinear=phi)
        else:
            b, A = linear(in_rates(rate(phi)) if c.holonomic else phi)
            A = drop_zero_entries(tape, A)
            position = phi if c.holonomic else None
            row = ConstraintRow(
                c.name, c.holonomic, A, b, position, c.contact, redundant=c.redundant
            )
        rows.append(row)
    return rows + _quaternion_rows(system, tape, qdot)


def _quaternion_rows(system: System, tape: Tape, qdot: list[int]) -> list[ConstraintRow]:
    """e·e = 1 of every quaternion."""
    index = {x: k for k, x in enumerate(qdot)}
    rows = []
    for F in system.space.frames:
        if isinstance(F.rotation, Quaternion):
            A = {index[tape.rate(e)]: e for e in F.rotation.e}  # type: ignore[index]
            name, norm = f"norm of the quaternion of {F.name}", F.rotation.squared_norm(tape)
            rows.append(ConstraintRow(name, True, A, tape.zero, norm, is_norm=True))
    return rows


def position_residuals(tape: Tape, rows: Iterable[ConstraintRow]) -> list[int]:
    """φ of every position constraint; a quaternion keeps e·e − 1 = 0."""
    return [
        tape.sub(row.phi, tape.one) if row.is_norm else row.phi
        for row in rows
        if row.phi is not None
    ]


def _check_independent(
    tape: Tape, rows: list[ConstraintRow], n: int, numbers: dict[int, float]
) -> None:
    """Refuse rows that repeat or contradict others, by name."""
    if _is_triangular(tape, [r.A for r in rows]):
        return
    from dalembert.symbolic.algebra.exact.linear_algebra import rank_mod

    entries = [(r.b, r.A) for r in rows]
    A, b, p = RandomPoints(tape, 1).at(0, lambda point: _matrix_at_point(point, entries, n))
    rank, _, dependent = rank_mod(A, p)
    if rank == len(rows):
        return
    contradicts = _augmented_rank(A, b, p) > rank
    # x = 1 and x = 2 have the same rates; only their positions contradict each other
    positions = [(tape.zero if r.phi is None else r.phi, r.A) for r in rows]
    A, phi, p = RandomPoints(tape, 1).at(0, lambda point: _matrix_at_point(point, positions, n))
    i, others = next(iter(dependent.items()))
    unclear = _augmented_rank(A, phi, p) > rank and all(rows[j].holonomic for j in (i, *others))
    offset = None
    if contradicts or unclear:
        compared = entries if contradicts else positions
        offset = constant_contradiction(tape, numbers, compared[i], [compared[j] for j in others])
    relation = "repeats or contradicts" if unclear else "repeats"
    _refuse_dependent_row(
        [rows[k].name for k in (i, *others)],
        "contradicts" if contradicts or offset is not None else relation,
        offset,
    )


def _augmented_rank(A: list[list[Element]], b: list[Element], p: int) -> int:
    """The rank of (A b) modulo p."""
    from dalembert.symbolic.algebra.exact.linear_algebra import rank_mod

    return rank_mod([[*a, x] for a, x in zip(A, b, strict=True)], p).rank


def _refuse_dependent_row(names: list[str], relation: str, offset: float | None) -> NoReturn:
    """Refuse the first row, which the others imply or contradict."""
    first, *others = names
    implied_by = " and ".join(map(repr, others)) or "nothing else"
    impose = "imposes" if len(others) < 2 else "impose"
    much = "" if offset is None else f" (where that holds, it is off by {offset:.6g})"
    keep = ", or declare it with redundant=True to keep it with the others"
    if relation == "contradicts":
        keep = ""
    msg = f"{first!r} {relation} what {implied_by} already {impose}{much}; remove one of them{keep}"
    raise IllPosed(msg, names)


def _is_triangular(tape: Tape, rows: list[dict[int, int]]) -> bool:
    """Whether rows can be set aside, one with a rate that no other has left after the other,
    until none is left: these are independent.
    """
    while rows:
        rate_count = Counter(k for A in rows for k in A)
        left = [
            A
            for A in rows
            if not any(rate_count[k] == 1 and is_monomial(tape, a) for k, a in A.items())
        ]
        if len(left) == len(rows):
            return False
        rows = left
    return True


def _matrix_at_point(
    point: SamplePoint, entries: list[tuple[int, dict[int, int]]], n: int
) -> tuple[list[list[Element]], list[Element], int]:
    A: list[list[Element]] = [[point(a[k]) if k in a else 0 for k in range(n)] for _, a in entries]
    return A, [point(b) for b, _ in entries], point.prime
