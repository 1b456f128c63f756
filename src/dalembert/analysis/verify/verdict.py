"""S(y*) ≡ 0 and rank S_y = p: whether the rows of an answer are true, and whether they are all.

A row is true if and only if it vanishes where the true accelerations and multipliers y* are put in:
R being regular, that is the same as S = C R. So every row is judged on its own. The rank of S_y
says
whether the set is whole, C = S_y R_y⁻¹ which combination of the true rows it is.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from dalembert.analysis.verify.reading import Row
from dalembert.analysis.verify.truth import Truth
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.linear_algebra import (
    determinant_mod,
    nullspace_mod,
    rank_mod,
    solve_mod,
)
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.exact.zero_test import BadPoint
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient, symbols_of

_SEEDS: Final = range(1000, 1400)


class Kind(StrEnum):
    """The verdict on an answer."""

    EQUAL = "equal"
    COMBINED = "equal after combining rows"
    ADMISSIBLE = "equal on the motions that the constraints allow"
    CONDITIONAL = "true where a factor does not vanish"
    SUBSET = "true but not the whole set"
    SUBSTITUTED = "right physics, other coordinates or signs"
    ROUNDED = "equal up to rounding"
    AGREES = "agrees at every state tried"
    DIFFERS = "differs"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class RowVerdict:
    """Whether a row holds, what it is, and its share of the bound."""

    holds: bool | None
    # motion, identity (a quantity), constraint, or integral
    role: str = "motion"
    bound: float = 0.0
    why: str = ""


@dataclass(frozen=True)
class Judgement:
    """The verdict on a set of rows."""

    kind: Kind
    rows: tuple[RowVerdict, ...]
    rank: int = 0
    wanted: int = 0
    # C at one point, row by row of those that are equations of motion, and its prime
    combination: tuple[tuple[int, ...], ...] = ()
    prime: int = 0
    # which rows of the answer C has, and which true rows are missing
    places: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    # whether C, or its determinant alone, depends on the state
    varies: bool = False
    vanishes: bool = False
    solved: bool = False
    why: str = ""

    @property
    def wrong(self) -> list[int]:
        """The rows that do not hold."""
        return [k for k, row in enumerate(self.rows) if row.holds is False]

    @property
    def bound(self) -> float:
        """How likely it is at most that a row called true is not."""
        return min(1.0, sum(row.bound for row in self.rows))

    @property
    def is_right(self) -> bool:
        """Whether the answer is the whole truth."""
        return self.kind in (Kind.EQUAL, Kind.COMBINED, Kind.ADMISSIBLE)


def judge(truth: Truth, rows: list[Row]) -> Judgement:
    """The verdict on the rows of an answer."""
    verdicts = tuple(row_verdicts(truth, rows))
    if any(v.holds is False for v in verdicts):
        motion = any(v.role in ("motion", "integral") for v in verdicts)
        return Judgement(Kind.DIFFERS, verdicts, 0, len(truth.udot) if motion else 0)
    undecided = next((v.why for v in verdicts if v.holds is None), None)
    if undecided is not None:
        return Judgement(Kind.UNDECIDED, verdicts, why=undecided)
    return _whole(truth, rows, verdicts)


# ---- rows --------------------------------------------------------------------------------------


def row_verdicts(truth: Truth, rows: list[Row]) -> list[RowVerdict]:
    """Whether each row holds."""
    nodes = [row.value.i for row in rows]
    identities = [k for k, node in enumerate(nodes) if _names_quantity(truth, node)]
    verdicts: dict[int, RowVerdict] = {}
    if identities:
        decision = truth.zero([nodes[k] for k in identities], free=True)
        for place, (k, zero) in enumerate(zip(identities, decision.zero, strict=True)):
            if zero is not False:
                verdicts[k] = _row(zero, "identity", decision, place)
    rest = [k for k in range(len(rows)) if k not in verdicts]
    if rest:
        decision = truth.zero([nodes[k] for k in rest])
        for place, (k, zero) in enumerate(zip(rest, decision.zero, strict=True)):
            role = _role(truth, nodes[k], holds=zero is True)
            role = "identity" if k in identities and zero is not True else role
            verdicts[k] = _row(zero, role, decision, place)
    for k in range(len(rows)):
        if verdicts[k].holds is False and verdicts[k].role != "identity":
            verdicts[k] = _second_look(truth, nodes[k], verdicts[k])
    return [verdicts[k] for k in range(len(rows))]


def _row(zero: bool | None, role: str, decision: Any, place: int) -> RowVerdict:
    chances = decision.chances
    bound = chances[place] if zero and place < len(chances) else 0.0
    return RowVerdict(zero, role, bound, decision.why if zero is None else "")


def _names_quantity(truth: Truth, node: int) -> bool:
    inside = symbols_of(truth.tape, (node,))
    return any(x in truth.opaque for x in inside)


def _role(truth: Truth, node: int, *, holds: bool) -> str:
    inside = set(symbols_of(truth.tape, (truth.in_u(node),)))
    return "constraint" if holds and inside.isdisjoint(truth.unknowns) else "motion"


def _second_look(truth: Truth, node: int, verdict: RowVerdict) -> RowVerdict:
    """A row without accelerations may be an integral; one with positions may hold where these are
    consistent.
    """
    t, kin = truth.tape, truth.kin
    written = truth.in_u(node)
    inside = set(symbols_of(t, (written,)))
    if truth.positions:
        decision = truth.zero_on_positions([node])
        zero = None if decision is None else decision.zero[0]
        if zero:
            assert decision is not None
            return _row(True, _role(truth, node, holds=True), decision, 0)
    plain = inside.isdisjoint((*truth.unknowns, *t.inputs)) and not inside.isdisjoint(kin.u)
    if plain:
        decision = truth.zero([kin.rate(written)])
        if decision.zero[0]:
            return _row(True, "integral", decision, 0)
    return verdict


# ---- sets --------------------------------------------------------------------------------------


@dataclass
class Matrices:
    """S_y of the answer and R_y of the truth, as nodes; C is read up to `width` columns."""

    S: list[list[int]]
    R: list[list[int]]
    width: int

    def values(self, point: SamplePoint) -> tuple[list[list[int]], list[list[int]]]:
        """Both at a point."""
        S, R = ([[point.real_value(e) for e in row] for row in m] for m in (self.S, self.R))
        return S, R

    def combination(self, point: SamplePoint) -> list[list[int]]:
        """C = S_y R_y⁻¹ at a point."""
        S, R = self.values(point)
        transposed = [list(column) for column in zip(*R, strict=True)]
        solved = (solve_mod(transposed, row, point.prime) for row in S)
        return [[int(x) for x in row[: self.width]] for row in solved]  # type: ignore[arg-type]


def _whole(truth: Truth, rows: list[Row], verdicts: tuple[RowVerdict, ...]) -> Judgement:
    places = [k for k, v in enumerate(verdicts) if v.role in ("motion", "integral")]
    if not places or _is_about_multipliers(truth, rows, places):
        return _of_constraints(truth, rows, verdicts)
    matrices, used = _matrices(truth, rows, verdicts, places)
    outs = tuple(e for m in (matrices.S, matrices.R) for row in m for e in row)
    point = truth.sample(_SEEDS, None, (*outs, *truth.residuals))
    C = matrices.combination(point)
    wanted = len(truth.unknowns) if used else len(truth.udot)
    return _judged_set(truth, verdicts, (matrices, point, C), (tuple(places), wanted), rows)


def _is_about_multipliers(truth: Truth, rows: list[Row], places: list[int]) -> bool:
    """λ = …: rows that have multipliers and no accelerations."""
    inside = set(symbols_of(truth.tape, [truth.in_u(rows[k].value.i) for k in places]))
    return not inside.isdisjoint(truth.multipliers) and inside.isdisjoint(truth.udot)


def _matrices(
    truth: Truth, rows: list[Row], verdicts: tuple[RowVerdict, ...], places: list[int]
) -> tuple[Matrices, bool]:
    t, y = truth.tape, truth.unknowns
    written = [truth.in_u(rows[k].value.i) for k in places]
    written = [
        truth.kin.rate(e) if verdicts[k].role == "integral" else e
        for k, e in zip(places, written, strict=True)
    ]
    linear = LinearCoefficients(t, y)
    used = _has_multipliers(truth, written)
    R = [
        [linear(r)[1].get(j, t.zero) for j in range(len(y))]
        for r in truth.rows_for(multipliers=used)
    ]
    S = [gradient(t, {e: t.one}, y) if e != t.zero else [t.zero] * len(y) for e in written]
    return Matrices(S, R, len(y) if used else len(truth.udot)), used


def matrices_of(truth: Truth, rows: list[Row], judgement: Judgement) -> Matrices:
    """S_y and R_y of a judged answer."""
    return _matrices(truth, rows, judgement.rows, list(judgement.places))[0]


def _has_multipliers(truth: Truth, written: list[int]) -> bool:
    return not set(symbols_of(truth.tape, written)).isdisjoint(truth.multipliers)


def _judged_set(
    truth: Truth,
    verdicts: tuple[RowVerdict, ...],
    at: tuple[Matrices, SamplePoint, list[list[int]]],
    size: tuple[tuple[int, ...], int],
    rows: list[Row],
) -> Judgement:
    matrices, point, C = at
    places, wanted = size
    p = point.prime
    rank = rank_mod(C, p).rank
    missing = _missing(C, p, len(C[0])) if rank < wanted else ()
    moved = matrices.combination(_same_constants(truth, point))
    varies = moved != C
    vanishes = varies and (len(C) != wanted or determinant_mod(C, p) != determinant_mod(moved, p))
    single = all(sum(map(bool, row)) == 1 for row in C)
    solved = _is_solved(matrices, point)
    if rank < wanted:
        kind = Kind.SUBSET
    elif vanishes and not solved:
        kind = Kind.CONDITIONAL
    elif _uses_constraints(truth, rows, verdicts, places):
        kind = Kind.ADMISSIBLE
    else:
        kind = Kind.EQUAL if single or solved else Kind.COMBINED
    return Judgement(
        kind,
        verdicts,
        rank,
        wanted,
        tuple(map(tuple, C)),
        p,
        places,
        missing,
        varies,
        vanishes,
        solved,
    )


def _is_solved(matrices: Matrices, point: SamplePoint) -> bool:
    """Whether every answer is one acceleration, or minus one."""
    S, _ = matrices.values(point)
    units = {0, 1, point.prime - 1}
    return all(sum(map(bool, row)) == 1 and set(row) <= units for row in S)


def _missing(C: list[list[int]], p: int, width: int) -> tuple[int, ...]:
    """The true rows that no combination of the answer gives."""
    null = nullspace_mod(C, p)
    return tuple(j for j in range(width) if any(x[j] for x in null))


def _same_constants(truth: Truth, point: SamplePoint) -> SamplePoint:
    """Another state with the constants of a point."""
    t = truth.tape
    inside = (*truth.names().known.values(), *symbols_of(t, truth.residuals))
    constants = {
        x: point(x) for x in dict.fromkeys(inside) if x not in t.moving and x not in truth.unknowns
    }
    for seed in range(2000, 2400):
        try:
            return truth.solve_at(
                SamplePoint(
                    t, seed, given=constants, same_values_as=SamplePoint(t, seed, point.prime)
                )
            )
        except BadPoint:
            continue
    return point


def _uses_constraints(
    truth: Truth, rows: list[Row], verdicts: tuple[RowVerdict, ...], places: tuple[int, ...]
) -> bool:
    """Whether rows contain dependent rates, without constraint equations and multipliers."""
    kin, t = truth.kin, truth.tape
    inside = set(symbols_of(t, [rows[k].value.i for k in places]))
    stated = any(v.role == "constraint" for v in verdicts)
    if not kin.rows or stated or not inside.isdisjoint(truth.multipliers):
        return False
    independent = {*kin.u, *truth.udot}
    return any(
        x in inside and truth.in_u(x) != x and truth.in_u(x) not in independent
        for x in (*kin.qdot, *kin.qddot)
    )


def _of_constraints(truth: Truth, rows: list[Row], verdicts: tuple[RowVerdict, ...]) -> Judgement:
    """Quantities, and constraint equations alone: these are counted against the declared ones."""
    places = tuple(k for k, v in enumerate(verdicts) if v.role == "constraint")
    if not places or len(places) < len(rows):
        return Judgement(Kind.EQUAL, verdicts)
    t, kin = truth.tape, truth.kin
    rates = [
        kin.motion_in_rates.rate(rows[k].value.i)
        if _is_position(truth, rows[k])
        else rows[k].value.i
        for k in places
    ]
    slopes = [gradient(t, {e: t.one}, kin.qdot) for e in rates]
    point = SamplePoint(t, 77)
    rank = rank_mod([[point.real_value(e) for e in row] for row in slopes], point.prime).rank
    wanted = len(kin.rows)
    return Judgement(Kind.EQUAL if rank >= wanted else Kind.SUBSET, verdicts, rank, wanted)


def _is_position(truth: Truth, row: Row) -> bool:
    inside = set(symbols_of(truth.tape, (row.value.i,)))
    return inside.isdisjoint(truth.kin.qdot) and inside.isdisjoint(truth.kin.u)
