"""dI/dt ≡ 0 along every motion: decided exactly, with u̇ from the equations of motion.

An expression in (q, u, u̇, t) is evaluated at random points of random prime fields, where u̇ solves
M u̇ = f. One that vanishes at all of them vanishes identically (Schwartz–Zippel); one that does not
is not zero. Where an integral is not constant, the fewest coefficients that must vanish for it to
be so are tried the same way: Ω̇ = 0 and b = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from typing import Final

from dalembert.errors import BadExpression, DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import Equations
from dalembert.mechanics.kinematics.constraint_rows import VelocityRow
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.exact.constrained_points import solve_point
from dalembert.symbolic.algebra.exact.finite_field import Element
from dalembert.symbolic.algebra.exact.linear_algebra import solve_unknowns
from dalembert.symbolic.algebra.exact.verdict import TimeLimit, union_bound
from dalembert.symbolic.algebra.exact.zero_test import (
    BadPoint,
    RandomPoints,
    SamplePoint,
    StructurallySingular,
    ZeroTest,
)
from dalembert.symbolic.algebra.expression_graph import (
    Substitution,
    copy_expressions,
    nodes_depending_on,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

Table = list[list[Element]]


class MotionIdentityTest:
    """Which expressions of a tape vanish on every motion of the equations M u̇ = f.

    A motion also satisfies the rows that are not linear in the speeds; those that are were used up
    by the speeds.
    """

    def __init__(self, tape: Tape, equations: Equations, rows: Sequence[VelocityRow] = ()) -> None:
        self.tape, self.u, self.udot = tape, equations.u, equations.udot
        self.rows = rows
        self.residuals = copy_expressions(equations.tape, tape, equations.residuals)
        # one test for each set of residuals, with its points and the u̇ found there
        self._tests: dict[tuple[int, ...], ZeroTest] = {}
        # what was called zero, and how likely it is that it is not
        self._error_probabilities: dict[int, float] = {}
        # why something is undecided
        self.undecided_reason = ""
        # the time that is left for the verdict in work
        self.clock = TimeLimit()

    def restart_clock(self) -> None:
        """Another verdict, which has its own time for all that it asks."""
        self.clock = TimeLimit()

    def are_zero(
        self, outs: Sequence[Scalar], where: Mapping[int, int] | None = None
    ) -> list[bool | None]:
        """For each expression whether it is identically zero, with the symbols `where` replaced;
        None if that is undecided.
        """
        insert = Substitution(self.tape, where or {})
        rows = [insert(e.i) for e in outs]
        moving = nodes_depending_on(self.tape, rows, self.udot)
        residuals = (
            tuple(insert(r) for r in self.residuals) if any(e in moving for e in rows) else ()
        )
        test = self._tests.get(residuals)
        if test is None:
            start = self.point_on_rows if self.rows else None
            test = self._tests[residuals] = ZeroTest(
                self.tape, residuals, self.udot if residuals else (), start
            )
        test.clock = self.clock
        decision = test.decide(rows)
        self._error_probabilities |= {
            r: c for r, c in zip(rows, decision.chances, strict=False) if c
        }
        self.undecided_reason = self.undecided_reason or decision.why
        return list(decision.zero)

    def is_zero(self, e: Scalar, where: Mapping[int, int] | None = None) -> bool | None:
        """Whether one expression is identically zero."""
        return self.are_zero([e], where)[0]

    def error_bound(self, outs: Sequence[Scalar], where: Mapping[int, int] | None = None) -> float:
        """How likely it is at most that any of these, which were called zero, is not."""
        insert = Substitution(self.tape, where or {})
        # what is zero whatever the symbols are was not asked again with the symbols replaced
        return union_bound(
            [
                self._error_probabilities.get(insert(e.i), self._error_probabilities.get(e.i, 0.0))
                for e in dict.fromkeys(outs)
            ]
        )

    def keeps_mass_regular(self, where: Mapping[int, int]) -> bool:
        """Whether M stays regular where the symbols are replaced: no mass is lost with them."""
        try:
            insert = Substitution(self.tape, where)
            residuals = [insert(r) for r in self.residuals]
            RandomPoints(self.tape, 1).at(
                0, lambda point: solve_unknowns(point, residuals, self.udot)
            )
        except (BadExpression, StructurallySingular):
            return False
        return True

    def point_on_rows(self, point: SamplePoint) -> SamplePoint:
        """The point with one speed of each row that is not linear changed so that the row holds."""
        chosen: dict[int, int] = {}
        for row in self.rows:
            chosen[
                next(self.u[r] for r in sorted(row.A, reverse=True) if self.u[r] not in chosen)
            ] = row.e
        return solve_point(point, self.tape, chosen)


def sampled(
    tape: Tape,
    seeds: Iterable[int],
    at: Callable[[SamplePoint], Table],
    enough: int,
    outs: Sequence[int] | None = None,
) -> tuple[int, Table]:
    """A prime, and the rows that `at` gives at random points of its field, until there are
    enough; points without a value are left out.
    """
    prime: int | None = None
    rows: Table = []
    for seed in seeds:
        try:
            point = SamplePoint(tape, seed, prime, outs=outs)
            rows += at(point)
        except BadPoint:
            continue
        prime = point.prime
        if len(rows) >= enough:
            break
    return prime or 2, rows


# ---- under which condition ----------------------------------------------------------------------

_LARGEST_SET: Final = 3
_MAX_SETS: Final = 400


@dataclass(frozen=True)
class Coefficient:
    """A constant, an input or a rate of a prescribed motion that may vanish, and with it all
    higher rates.
    """

    symbol: str
    order: int
    display: str
    zeros: tuple[int, ...] = field(repr=False)

    def implies(self, other: Coefficient) -> bool:
        """x = 0 implies ẋ = 0."""
        return self.symbol == other.symbol and self.order <= other.order


VanishingCondition = tuple[Coefficient, ...]


def condition_text(condition: VanishingCondition) -> str:
    """Ω̇ = 0 and b = 0"""
    return " and ".join(f"{c.display} = 0" for c in condition)


def candidate_coefficients(
    kin: Kinematics, wanted: Sequence[Scalar], causes: Sequence[Scalar]
) -> list[Coefficient]:
    """What could vanish: rates of prescribed motions, the highest first, then the constants and
    inputs of the causes.
    """
    inside = set(symbols_of(kin.tape, (e.i for e in causes)))
    anywhere = inside.union(symbols_of(kin.tape, (e.i for e in wanted)))
    motions, constants = list[Coefficient](), list[Coefficient]()
    for s in kin.system.symbols.values():
        if s.kind == "specified":
            jets = symbol_derivatives(kin.tape, s.scalar.i)
            rates = [k for k in reversed(range(len(jets))) if anywhere.intersection(jets[k:])]
            motions += [
                Coefficient(s.name, k, str(Scalar(kin.tape, jets[k])), tuple(jets[k:]))
                for k in rates
            ]
        elif s.kind in ("constant", "input", "state") and s.scalar.i in inside:
            constants.append(Coefficient(s.name, 0, str(s.scalar), (s.scalar.i,)))
    return motions + constants


def symbol_derivatives(tape: Tape, x: int) -> list[int]:
    """x, ẋ, ẍ, … as far as the tape knows them."""
    derivatives = [x]
    while (rate := tape.rates.get(derivatives[-1])) is not None:
        derivatives.append(rate)
    return derivatives


def minimal_conditions(
    kin: Kinematics, motion: MotionIdentityTest, wanted: Sequence[Scalar], causes: Sequence[Scalar]
) -> tuple[VanishingCondition, ...]:
    """The smallest sets of coefficients whose vanishing makes all that is wanted vanish on the
    motion.

    The coefficients are those of the `causes`, powers that say the same without u̇. A set that
    costs the system its mass matrix is none; one that another implies is left out.
    """
    choice = candidate_coefficients(kin, wanted, causes)
    zero, clock = kin.tape.zero, motion.clock
    for size in range(1, _LARGEST_SET + 1):
        conditions: list[VanishingCondition] = []
        for tried, condition in enumerate(_coefficient_sets(choice, size)):
            if tried >= _MAX_SETS:
                break
            if clock.is_exceeded:
                motion.undecided_reason = (
                    motion.undecided_reason
                    or f"not all conditions could be tried within {clock.seconds:g} s"
                )
                return tuple(conditions)
            where = {i: zero for c in condition for i in c.zeros}
            if not _is_implied(condition, conditions) and _makes_constant(motion, wanted, where):
                conditions.append(condition)
        if conditions:
            return tuple(conditions)
    return ()


def _coefficient_sets(choice: Sequence[Coefficient], size: int) -> Iterator[VanishingCondition]:
    for condition in combinations(choice, size):
        if len({c.symbol for c in condition}) == size:
            yield condition


def _is_implied(
    condition: VanishingCondition, earlier_conditions: Sequence[VanishingCondition]
) -> bool:
    """Whether the condition contains one that was found before, or something stronger."""
    return any(
        all(any(c.implies(d) for c in condition) for d in earlier) for earlier in earlier_conditions
    )


def _makes_constant(
    motion: MotionIdentityTest, wanted: Sequence[Scalar], where: Mapping[int, int]
) -> bool:
    try:
        return all(motion.are_zero(wanted, where)) and motion.keeps_mass_regular(where)
    except DalembertError:
        return False
